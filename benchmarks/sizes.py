"""Every function at every size: robots of 2 to 200 joints, 1 to 100,000 states, beside the bare ufunc and Pinocchio.

    python benchmarks/sizes.py [--quick] [--robots NAME ..] [--functions NAME ..] [--states N ..] [--seconds S]
                               [--output FOLDER]

One table for each robot. For each function: the way it is evaluated (compiled, or the reference path), seconds to
compile, microseconds of Pinocchio's call where it has the function, and for each number of states

    us      microseconds of one call through the robot, as a user writes it
    /ufunc  that time over the time of the bare ufunc on the same arrays
    /pin    Pinocchio's call over our time a state: how many times faster we are

Threads are as they are set by default; the ufunc runs on one. Results are compared with the reference path at every
size, in rows from all over the batch. Batches whose result would take more than a fixed amount of memory are cut.
Recorded figures of robots that are not measured stay.
"""

from __future__ import annotations

import argparse
import json
import math
import timeit
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import NOT_RUN, write_figures
from chainrule.cli.benchmark.kernels import snake, without_cache
from chainrule.cli.benchmark.peers import urdf
from chainrule.cli.benchmark.timing import RUNS, best
from chainrule.compile.backend import Call, is_worth_compiling
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import evaluate, options_of
from chainrule.functions import reference
from chainrule.functions.table import FUNCTIONS, Argument, Function
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

STATES = (1, 2, 8, 64, 1_000, 100_000)
MAX_RATIO = 2.5
"""Time through the robot over time of the bare ufunc that small batches are to keep."""

MAX_RESULT_BYTES = 1 << 28
COMPARED_ROWS = 9
TOLERANCE = 1e-8
"""Largest difference from the reference path, relative to the largest number of the result."""

MICROSECONDS = 1e6
DRAWN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "torque_terms", "pose", "jacobian")


def star(n: int) -> cr.Robot:
    """n revolute joints, all on the base."""
    body = (0.1, Vector(0.02, 0.0, 0.05), Symmetric(1e-4, 1e-4, 1e-5))
    links = [Link("base"), *(Link(f"link{i}", *body) for i in range(n))]
    joints = []
    for i in range(n):
        angle = 2 * math.pi * i / n
        place = Transform(Rotation.identity(), Vector(math.cos(angle), math.sin(angle), 0.0))
        kind = Screw.revolute(Vector(-math.sin(angle), math.cos(angle), 0.0), name="continuous")
        joints.append(Joint(f"joint{i}", "base", f"link{i}", kind, place))
    return cr.Robot(Model.build(f"star{n}", links, joints, end_effector="link0"))


def talos() -> cr.Robot:
    """A floating humanoid of 38 degrees of freedom, from the files that come with Pinocchio."""
    robot = cr.Robot.from_urdf(_talos_file(), floating_base=True, check=False).without_friction()
    return robot.with_end_effector("gripper_left_base_link")


def _talos_file() -> Path:
    import pinocchio as pin

    prefix = next(parent for parent in Path(pin.__file__).parents if parent.name == "cmeel.prefix")
    return prefix / "share" / "example-robot-data" / "robots" / "talos_data" / "robots" / "talos_reduced.urdf"


ROBOTS: dict[str, Callable[[], cr.Robot]] = {
    "planar_2r": lambda: cr.load("planar_2r"),
    "panda": lambda: cr.load("panda").without_friction(),
    "talos": talos,
    "chain100": lambda: snake(100),
    "chain200": lambda: snake(200),
    "star100": lambda: star(100),
}


@dataclass
class Subject:
    """A function of the table as the method calls it and as its kernel does, on states of one robot."""

    robot: cr.Robot
    name: str
    entry: Function = field(init=False)
    options: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.entry = FUNCTIONS[self.name]
        self.options = options_of(self.robot, self.name, {})

    @property
    def shape(self) -> tuple[int, ...]:
        model = self.robot.model if self.entry.whole else merged_model(self.robot)
        return self.entry.shape(model, self.options)

    @property
    def is_compiled(self) -> bool:
        model = self.robot.model if self.entry.whole else merged_model(self.robot)
        return is_worth_compiling(Call.of(model, self.name, self.options))

    @property
    def takes_wrench(self) -> bool:
        """Whether it always takes a wrench, as static_torque does."""
        return bool(self.options.get("loads"))

    def arguments(self, states: int) -> list[np.ndarray]:
        """Random arguments, a row for each state."""
        rng = np.random.default_rng(0)
        arrays = [self._random(argument, rng, states) for argument in self.entry.takes]
        return [*arrays, rng.normal(size=(states, 6))] if self.takes_wrench else arrays

    def _random(self, argument: Argument, rng: np.random.Generator, states: int) -> np.ndarray:
        if argument.is_configuration:
            return self.robot.random_state(rng, (states,))
        return rng.normal(size=(states, argument.length(self.robot.model)))

    def call(self, arrays: list[np.ndarray]) -> Callable[[], Any]:
        """The method on arrays, looked up in every call, as users do; not the one whose table holds more."""
        robot, method = self.robot, self.entry.variant_of or self.name
        if method.endswith("_table"):
            named = dict(zip(self.entry.arguments, arrays, strict=True))
            return lambda: evaluate(robot, self.name, **named)
        options = {"stick": True} if self.name == "sticking_dynamics" else {}
        return lambda: attrgetter(method)(robot)(*arrays, **options)

    def error(self, result: np.ndarray, arrays: list[np.ndarray]) -> float:
        """The largest difference from the reference path, relative to the largest number, or to 1."""
        model = self.robot.model if self.entry.whole else merged_model(self.robot)
        expected = reference.evaluate(model, self.name, arrays, **self.options)
        apart = result - expected
        if self.name == "textbook.pose_vector":  # angles of a half turn have either sign
            apart[..., 3:] = np.remainder(apart[..., 3:] + np.pi, 2 * np.pi) - np.pi
        return float(np.abs(apart).max() / max(np.abs(expected).max(), 1.0))


def peer_calls(name: str, robot: cr.Robot) -> dict[str, Callable[[], Any]]:
    """Pinocchio's calls on one state, by our names of the functions."""
    if find_spec("pinocchio") is None:
        return {}
    import pinocchio as pin

    if name == "talos":
        model = pin.buildModelFromUrdf(str(_talos_file()), pin.JointModelFreeFlyer())
    else:
        model = pin.buildModelFromXML(urdf(robot))
    data, rng = model.createData(), np.random.default_rng(0)
    q, q1 = (pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)) for _ in range(2))
    v, a = rng.normal(size=(2, model.nv))
    tip = model.njoints - 1

    def derivatives_of_jacobian() -> Any:
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        return pin.getJointJacobianTimeVariation(model, data, tip, pin.LOCAL_WORLD_ALIGNED)

    def momentum_matrix() -> Any:
        return pin.computeCentroidalMap(model, data, q)

    return {
        "pose": lambda: pin.forwardKinematics(model, data, q),
        "poses": lambda: pin.forwardKinematics(model, data, q),
        "velocities": lambda: pin.forwardKinematics(model, data, q, v),
        "accelerations": lambda: pin.forwardKinematics(model, data, q, v, a),
        "acceleration": lambda: pin.forwardKinematics(model, data, q, v, a),
        "jacobian": lambda: pin.computeJointJacobian(model, data, q, tip),
        "jacobian_dot": derivatives_of_jacobian,
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "forward_dynamics": lambda: pin.aba(model, data, q, v, a),
        "bias": lambda: pin.nonLinearEffects(model, data, q, v),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "analysis.apply_inverse_mass": lambda: pin.computeMinverse(model, data, q) @ v,
        "coriolis_matrix": lambda: pin.computeCoriolisMatrix(model, data, q, v),
        "gravity_torque": lambda: pin.computeGeneralizedGravity(model, data, q),
        "kinetic_energy": lambda: pin.computeKineticEnergy(model, data, q, v),
        "potential_energy": lambda: pin.computePotentialEnergy(model, data, q),
        "center_of_mass": lambda: pin.centerOfMass(model, data, q),
        "centroidal.com_jacobian": lambda: pin.jacobianCenterOfMass(model, data, q),
        "centroidal.momentum": lambda: pin.computeCentroidalMomentum(model, data, q, v),
        "centroidal.matrix": momentum_matrix,
        "integrate": lambda: pin.integrate(model, q, v),
        "difference": lambda: pin.difference(model, q, q1),
        "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        "forward_dynamics_derivatives": lambda: pin.computeABADerivatives(model, data, q, v, a),
        "parameters.regressor": lambda: pin.computeJointTorqueRegressor(model, data, q, v, a),
    }


def side_by_side(calls: list[Callable[[], Any]], seconds: float) -> list[float]:
    """Seconds of one call of each: the best of several runs, taken in turn; fewer where one call takes long."""
    timers = [timeit.Timer(call) for call in calls]
    spent = [timer.timeit(1) for timer in timers]
    runs = RUNS if max(spent) < seconds else 2 if max(spent) < 1.0 else 0
    numbers = [max(1, int(seconds / RUNS / max(once, 1e-7))) for once in spent]
    for _ in range(runs):
        for k, timer in enumerate(timers):
            spent[k] = min(spent[k], timer.timeit(numbers[k]) / numbers[k])
    return spent


def compared_rows(states: int) -> np.ndarray:
    """Rows from all over a batch, its first and last ones included."""
    return np.unique(np.linspace(0, states - 1, COMPARED_ROWS).astype(int))


def measure(subject: Subject, sizes: list[int], seconds: float, peer: Callable[[], Any] | None) -> dict[str, Any]:
    """All figures of one function of one robot."""
    figures: dict[str, Any] = {"path": "compiled" if subject.is_compiled else "reference"}
    kernel = None
    if subject.is_compiled:
        with without_cache():
            kernel = subject.robot.compiled.kernel(subject.name)
        figures |= {"path": getattr(kernel, "kind", "compiled"), "compile": kernel.compile_seconds}
        figures |= {"instructions": kernel.instructions, "flops": kernel.flops}
    if peer is not None:
        figures["pinocchio"] = best(peer, seconds) * MICROSECONDS
    figures["rows"] = []
    most = max(1, MAX_RESULT_BYTES // (8 * max(1, math.prod(subject.shape)))) if kernel else 1
    for states in dict.fromkeys(min(size, most) for size in sizes):
        arrays = subject.arguments(states)
        given = [a[0].copy() for a in arrays] if states == 1 else arrays
        call = subject.call(given)
        for _ in range(3 if kernel and not figures["rows"] else 0):  # compiled calls are made on first use
            call()
        row: dict[str, float] = {"states": states}
        if kernel is None:
            row["robot"] = side_by_side([call], seconds)[0] * MICROSECONDS
        else:
            ufunc, rows = kernel.ufunc, compared_rows(states)
            ours, bare = side_by_side([call, lambda f=ufunc, x=given: f(*x)], seconds)
            row |= {"robot": ours * MICROSECONDS, "ufunc": bare * MICROSECONDS, "over_ufunc": ours / bare}
            row["error"] = subject.error(kernel.spread(arrays)[rows], [a[rows] for a in arrays])
            if not row["error"] <= TOLERANCE:
                raise AssertionError(f"{subject.robot.name}, {subject.name}, {states} states: {row['error']:.1e} apart")
        if peer is not None:
            row["over_pinocchio"] = figures["pinocchio"] * states / row["robot"]
        figures["rows"].append(row)
    return figures


def line(name: str, figures: dict[str, Any]) -> str:
    """One line of the table."""
    compiled = f"{figures['compile']:8.2f}" if "compile" in figures else f"{'':8}"
    peer = f"{figures['pinocchio']:8.2f}" if "pinocchio" in figures else f"{'':8}"
    text = f"{name:27} {figures['path']:10} {compiled} {peer}"
    for row in figures["rows"]:
        ratio = f"{row['over_ufunc']:6.2f}" if "over_ufunc" in row else f"{'':6}"
        faster = f"{row['over_pinocchio']:7.2f}" if "over_pinocchio" in row else f"{'':7}"
        text += f" | {row['robot']:10.2f} {ratio} {faster}"
    return text


def measure_robot(name: str, functions: list[str], sizes: list[int], seconds: float) -> dict[str, Any]:
    """Measure all functions of one robot, and print them as they come."""
    robot = ROBOTS[name]()
    print(f"\n{name}: {robot.nv} degrees of freedom")
    head = "".join(f" | {f'{n:,} states':>10} {'/ufunc':>6} {'/pin':>7}" for n in sizes)
    print(f"{'':27} {'path':10} {'s':>8} {'pin us':>8}{head}", flush=True)
    peers = peer_calls(name, robot)
    table = {}
    for function in functions:
        try:
            subject = Subject(robot, function)
        except cr.ChainruleError as error:
            print(f"{function:27} refused: {error}"[:160])
            continue
        if 0 in subject.shape:
            continue  # nothing to answer: constraints, of a robot without any
        table[function] = measure(subject, sizes, seconds, peers.get(function))
        print(line(function, table[function]), flush=True)
    return {"joints": robot.nv, "functions": table}


def summary(results: dict[str, Any]) -> str:
    """What is beyond the bar, and what is interpreted."""
    slow, interpreted, slowest = [], [], 0.0
    for robot, entry in results.items():
        for function, figures in entry["functions"].items():
            if figures["path"] == "reference":
                interpreted.append(f"{robot} {function}")
            slowest = max(slowest, figures.get("compile", 0.0))
            for row in figures["rows"]:
                if 1 < row["states"] <= 1000 and row.get("over_ufunc", 0.0) > MAX_RATIO:
                    slow.append(f"{robot} {function} {row['states']} ({row['over_ufunc']:.1f}x)")
    return (
        f"\nlongest compilation: {slowest:.1f} s\non the reference path: {', '.join(interpreted) or 'none'}\n"
        f"2 to 1,000 states beyond {MAX_RATIO} times the bare ufunc: {', '.join(slow) or 'none'}"
    )


def draw(results: dict[str, Any], path: Path) -> None:
    """Curves over the number of states, robot by robot: time a state, and time over the bare ufunc."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(results), figsize=(4 * len(results), 8), layout="constrained", squeeze=False)
    for column, (robot, entry) in enumerate(results.items()):
        top, bottom = axes[:, column]
        for function, figures in entry["functions"].items():
            rows = figures["rows"]
            states = [row["states"] for row in rows]
            shown = {"label": function, "linewidth": 1.8} if function in DRAWN else {"color": "0.8", "linewidth": 0.7}
            top.loglog(states, [row["robot"] / row["states"] for row in rows], ".-", **shown)
            if rows and "over_ufunc" in rows[0]:
                bottom.semilogx(states, [row["over_ufunc"] for row in rows], ".-", **shown)
        top.set(title=f"{robot}, {entry['joints']} joints", xlabel="states", ylabel="us a state, through the robot")
        bottom.axhline(MAX_RATIO, color="k", linestyle=":", linewidth=1)
        bottom.set(xlabel="states", ylabel="time over the bare ufunc", ylim=(0, None))
    axes[0, 0].legend(fontsize=7)
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def main(options: argparse.Namespace) -> None:
    warnings.simplefilter("ignore", cr.ModelWarning)
    robots = options.robots or (["planar_2r"] if options.quick else list(ROBOTS))
    functions = options.functions or (["pose", "torque_terms", "static_torque"] if options.quick else list(FUNCTIONS))
    sizes = options.states or ([1, 8, 64] if options.quick else list(STATES))
    seconds = 0.002 if options.quick else options.seconds
    results = {name: measure_robot(name, functions, sizes, seconds) for name in robots}
    print(summary(results))
    if options.output:
        results = {name: results.get(name, {"error": NOT_RUN}) for name in ROBOTS}
        path = write_figures(options.output, "sizes", results)
        recorded = json.loads(path.read_text(encoding="utf-8"))
        draw({name: entry for name, entry in recorded.items() if "functions" in entry}, path.with_suffix(".png"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three functions of one small robot")
    parser.add_argument("--robots", nargs="+", choices=list(ROBOTS), metavar="NAME", help=", ".join(ROBOTS))
    parser.add_argument("--functions", nargs="+", choices=list(FUNCTIONS), metavar="NAME")
    parser.add_argument("--states", nargs="+", type=int, metavar="N")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each figure")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON and a plot")
    main(parser.parse_args())
