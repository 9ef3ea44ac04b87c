"""How slow the reference path is: the same functions on the same states, against Pinocchio called from Python.

    python benchmarks/reference_path.py [--states N] [--seconds S] [--output FOLDER]

Prints times and ratios; the best of several repetitions.
"""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.timing import best
from chainrule.robot.building import to_urdf


def main(states: int, seconds: float, output: str | None) -> None:
    robot = cr.load("panda").without_friction()
    model = pin.buildModelFromXML(to_urdf(robot))
    data = model.createData()
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng, (states,)), *rng.normal(size=(2, states, 7))
    slow = robot.reference
    functions = {
        "inverse dynamics": (slow.inverse_dynamics, (q, qd, qdd), pin.rnea),
        "forward dynamics": (slow.forward_dynamics, (q, qd, qdd), pin.aba),
        "mass matrix": (slow.mass_matrix, (q,), pin.crba),
    }
    print(f"panda, {states} states in a batch; microseconds a state; ratio = Pinocchio's call / ours")
    print(f"{'':18} {'one state':>10} {'in a batch':>10} {'Pinocchio':>10} {'ratio one':>10} {'ratio batch':>11}")
    figures = {}
    for name, (ours, arguments, theirs) in functions.items():
        one = [a[0] for a in arguments]
        single = best(lambda f=ours, a=one: f(*a), seconds) * 1e6
        batch = best(lambda f=ours, a=arguments: f(*a), seconds) / states * 1e6
        peer = best(lambda f=theirs, a=one: f(model, data, *a), seconds) * 1e6
        print(f"{name:18} {single:10.1f} {batch:10.3f} {peer:10.2f} {peer / single:10.4f} {peer / batch:11.3f}")
        figures[name] = {"one state": single, "in a batch": batch, "pinocchio": peer}
    if output:
        write_figures(output, "reference_path", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.states, options.seconds, options.output)
