"""The regressor, and derivatives of kinematics, momentum and gravity, against Pinocchio's own on one thread.

    python benchmarks/regressor.py [--robot panda] [--states N] [--rounds R] [--output FOLDER]

Ours are calls of a method on a batch, with a new array for the result, and of the ufunc into an array that exists.
Pinocchio's are calls of one state from Python whose results stay in its workspace, on states of the same batch. Both
take turns; the best of several rounds counts. Results are compared.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.peers import urdf
from chainrule.cli.benchmark.timing import NANOSECONDS, BenchmarkStates

TURN_SECONDS = 2e-3
"""How long each side is called before it is the other's turn."""

LINEAR_LAST = [3, 4, 5, 0, 1, 2]
ENTRIES = [0, 1, 2, 3, 4, 6, 9, 5, 7, 8]
"""Where Pinocchio, whose inertia is (xx, xy, yy, xz, yz, zz), has our ten numbers of a link."""


def peers(robot: cr.Robot) -> dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]]:
    """For each function, Pinocchio's call of one state, and its result in our order."""
    model = pin.buildModelFromXML(urdf(robot))
    model.gravity.linear = robot.gravity
    data, n, joint = model.createData(), model.nv, model.njoints - 1

    def hessian(q: Any) -> Any:
        pin.computeJointKinematicHessians(model, data, q)
        return pin.getJointKinematicHessian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)

    def gravity(q: Any) -> Any:
        return pin.computeGeneralizedGravityDerivatives(model, data, q)

    def centroidal(q: Any, qd: Any) -> Any:
        return pin.computeCentroidalDynamicsDerivatives(model, data, q, qd, np.zeros(n))[0]

    return {
        "parameters.regressor": (
            lambda q, qd, qdd: pin.computeJointTorqueRegressor(model, data, q, qd, qdd),
            lambda Y: Y.reshape(n, -1, 10)[:, :, ENTRIES].reshape(n, -1),
        ),
        "jacobian_dq": (hessian, lambda H: np.ravel(H).reshape(6, n, n, order="F")[LINEAR_LAST]),
        "derivatives.gravity_torque_dq": (gravity, np.asarray),
        "derivatives.centroidal_momentum_derivatives": (centroidal, lambda h: h[LINEAR_LAST]),
        "centroidal.com_jacobian": (lambda q: pin.jacobianCenterOfMass(model, data, q), np.asarray),
    }


def seconds(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Seconds of each call, the best of several rounds; calls take turns, so that other load slows all of them."""
    timers = [timeit.Timer(call) for call in calls]
    counts = [max(1, int(TURN_SECONDS / timer.timeit(1))) for timer in timers]
    turns = [[timer.timeit(n) / n for timer, n in zip(timers, counts, strict=True)] for _ in range(rounds)]
    return [min(times) for times in zip(*turns, strict=True)]


def main(name: str, states: int, rounds: int, output: str | None) -> None:
    robot = cr.load(name).merge_fixed()
    many = BenchmarkStates(robot, states)
    cr.set_threads(1)
    figures = {}
    print(f"{robot.name}: {states:,} states, one thread, ns a state, best of {rounds}")
    print(f"{'':34}{'method':>9}{'into':>9}{'Pinocchio':>11}{'ratio':>8}{'into':>7}{'apart by':>10}")
    for function, (call, ordered) in peers(robot).items():
        options: dict[str, Any] = {"parts": ("links",)} if function == "parameters.regressor" else {}
        if function == "jacobian_dq":
            options = {"link": robot.model.moving[-1].child}
        arguments, kernel = many.arguments(function), robot.compiled.kernel(function, **options)
        method, out = attrgetter(function)(robot), kernel(*arguments)
        some = [array[: min(states, 200)] for array in arguments]
        rows = list(zip(*some, strict=True))

        def loop(call: Callable[..., Any] = call, rows: list[Any] = rows) -> None:
            for row in rows:
                call(*row)

        calls: list[Callable[[], Any]] = [
            lambda f=method, a=arguments, o=options: f(*a, **o),  # type: ignore[misc]
            lambda f=kernel.ufunc, a=arguments, o=out: f(*a, out=o),  # type: ignore[misc]
            loop,
        ]
        method(*arguments, **options)
        spent = np.divide(seconds(calls, rounds), [states, states, len(rows)]) * NANOSECONDS
        first = out[0, 0] if function.startswith("derivatives.centroidal") else out[0]
        apart = float(np.abs(first - ordered(call(*rows[0]))).max())
        ratios = spent[2] / spent[:2]
        print(
            f"{function:34}{spent[0]:9.0f}{spent[1]:9.0f}{spent[2]:11.0f}{ratios[0]:7.1f}x{ratios[1]:6.1f}x{apart:10.0e}"
        )
        figures[function] = dict(zip(("method", "into", "pinocchio"), spent.tolist(), strict=True)) | {"apart": apart}
    cr.set_threads(None)
    if output:
        write_figures(output, "regressor", {"robot": name, "states": states, "functions": figures})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--states", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    given = parser.parse_args()
    main(given.robot, given.states, given.rounds, given.output)
