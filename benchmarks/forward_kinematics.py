"""Poses of a million postures on one thread, against a loop over Pinocchio's forward kinematics.

    python benchmarks/forward_kinematics.py [--robot panda] [--postures N] [--rounds R] [--output FOLDER]

Both fill an array (N, 4, 4) with the end-effector's poses, and agree; Pinocchio's loop is measured with the copy into
that array and without it, on a part of the postures. Then a whole workspace with its manipulability, on all threads.
"""

from __future__ import annotations

import argparse

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.peers import urdf
from chainrule.cli.benchmark.timing import best_in_turns


def main(name: str, postures: int, rounds: int, output: str | None) -> None:
    robot = cr.load(name)
    model = pin.buildModelFromXML(urdf(robot))
    data, frame = model.createData(), model.getFrameId(robot.end_effector)
    q = robot.random_state(np.random.default_rng(0), (postures,))
    some = q[: max(1, min(postures, 100_000))]
    theirs = np.empty((len(some), 4, 4))

    def loop() -> None:
        for i, row in enumerate(some):
            pin.forwardKinematics(model, data, row)
            theirs[i] = pin.updateFramePlacement(model, data, frame).homogeneous

    def joints_only() -> None:
        for row in some:
            pin.forwardKinematics(model, data, row)

    cr.set_threads(1)
    ours = robot.pose(q)
    ufunc = robot.compiled.kernel("pose").ufunc
    calls = [lambda: robot.pose(q), lambda: ufunc(q, out=ours), joints_only, loop]
    spent = np.divide(best_in_turns(calls, rounds), [postures, postures, len(some), len(some)])
    into, peers = spent[:2], spent[2:]
    off = float(np.abs(ours[: len(some)] - theirs).max())
    print(f"{name}: {postures:,} postures, one thread, best of {rounds}; largest difference {off:.1e}")
    print(f"  chainrule, robot.pose(q)              {into[0] * 1e9:8.1f} ns a posture")
    print(f"  chainrule, into an array that exists  {into[1] * 1e9:8.1f} ns a posture")
    print(f"  Pinocchio, forwardKinematics only     {peers[0] * 1e9:8.1f} ns a posture")
    print(f"  Pinocchio, with the pose copied out   {peers[1] * 1e9:8.1f} ns a posture")
    for label, own in zip(("a new array", "an array that exists"), into, strict=True):
        print(f"  ratio, {label}: {peers[1] / own:.0f}x; {peers[0] / own:.0f}x where Pinocchio keeps nothing")
    cr.set_threads(None)
    robot.workspace(1000)
    (whole,) = best_in_turns([lambda: robot.workspace(postures)], rounds)
    print(f"  workspace of {postures:,} postures, with manipulability, on all threads: {whole:.2f} s")
    if output:
        labels = ("robot.pose", "into an array", "pinocchio", "pinocchio, copied out")
        figures = {label: own * 1e9 for label, own in zip(labels, spent, strict=True)}
        write_figures(output, "forward_kinematics", {**figures, "workspace": whole})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--postures", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.robot, options.postures, options.rounds, options.output)
