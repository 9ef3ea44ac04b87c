"""Simulation against its peers, on the Panda: a batch beside mujoco.rollout, one motion beside a loop over pinocchio.

    python benchmarks/rollouts.py [--quick] [--output FOLDER]

The states at the end are compared as well: both sides integrate the same equations by the same rule.
"""

from __future__ import annotations

import argparse

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.peers import urdf
from chainrule.cli.benchmark.timing import best

SECONDS = 5.0


def against_mujoco(robot: cr.Robot, rows: int, steps: int, seconds: float) -> dict[str, float]:
    """Semi-implicit Euler, one thread, every step recorded; contacts and limits off."""
    model = mujoco.MjModel.from_xml_string(urdf(robot))
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_EULER
    model.opt.gravity = robot.gravity
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_EULERDAMP
    data = mujoco.MjData(model)
    q0 = robot.random_state(np.random.default_rng(0), (rows,))
    start = np.zeros((rows, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + robot.nq] = q0
    found: dict[str, np.ndarray] = {}

    with mujoco.rollout.Rollout(nthread=0) as rollout:

        def theirs() -> None:
            found["mujoco"], _ = rollout.rollout(model, data, start, nstep=steps)

        def ours() -> None:
            found["ours"] = robot.simulate(q0, None, steps * 1e-3, integrator="semi_implicit_euler", progress=False).q

        cr.set_threads(1)
        ours()
        taken = {"chainrule": best(ours, seconds), "mujoco": best(theirs, seconds)}
    last = found["mujoco"][:, -1, 1 : 1 + robot.nq]
    taken["difference"] = float(np.median(np.abs(last - found["ours"][:, -1]).max(axis=1)))
    return taken


def against_pinocchio(robot: cr.Robot, steps: int, seconds: float) -> dict[str, float]:
    """RK4 with a computed-torque controller, one motion."""
    model = pin.buildModelFromXML(urdf(robot))
    model.gravity.linear = robot.gravity
    data = model.createData()
    q0 = robot.random_state(np.random.default_rng(1))
    target = robot.random_state(np.random.default_rng(2))
    kp, kd, h = 100.0, 20.0, 1e-3
    found: dict[str, np.ndarray] = {}

    def rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = pin.rnea(model, data, q, v, kp * (target - q) - kd * v)
        return np.asarray(pin.aba(model, data, q, v, tau))

    def theirs() -> None:
        q, v = q0.copy(), np.zeros(robot.nv)
        motion = np.empty((steps + 1, 14))
        for k in range(steps):
            motion[k, :7], motion[k, 7:] = q, v
            a1 = rate(q, v)
            v2 = v + h / 2 * a1
            a2 = rate(q + h / 2 * v, v2)
            v3 = v + h / 2 * a2
            a3 = rate(q + h / 2 * v2, v3)
            v4 = v + h * a3
            a4 = rate(q + h * v3, v4)
            q, v = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        motion[steps, :7], motion[steps, 7:] = q, v
        found["pinocchio"] = motion[:, :7]

    controller = cr.ComputedTorque(robot, target, kp, kd)

    def ours() -> None:
        found["ours"] = robot.simulate(q0, None, steps * h, controller, torque_limits=False, progress=False).q

    ours()
    taken = {"chainrule": best(ours, seconds), "pinocchio": best(theirs, seconds)}
    taken["difference"] = float(np.abs(found["ours"] - found["pinocchio"]).max())
    return taken


def main(quick: bool, output: str | None) -> None:
    rows, steps, long, seconds = (64, 20, 50, 0.05) if quick else (1024, 500, 10_000, SECONDS)
    robot = cr.load("panda").without_friction()
    batch = against_mujoco(robot, rows, steps, seconds)
    rates = {name: rows * steps / batch[name] / 1e6 for name in ("chainrule", "mujoco")}
    print(f"{rows} Pandas, {steps} steps of 1 ms, semi-implicit Euler, one thread, every step recorded:")
    print(
        f"  chainrule {rates['chainrule']:.2f} M steps/s, mujoco.rollout {rates['mujoco']:.3f} M steps/s: "
        f"{batch['mujoco'] / batch['chainrule']:.1f}x; apart by {batch['difference']:.1g} rad at the end (median)"
    )
    one = against_pinocchio(robot, long, seconds)
    each = {name: one[name] / long * 1e6 for name in ("chainrule", "pinocchio")}
    print(f"one Panda, RK4, {long} steps, computed torque:")
    print(f"  chainrule {each['chainrule']:.2f} us a step, a loop over pinocchio {each['pinocchio']:.1f} us a step: "
          f"{one['pinocchio'] / one['chainrule']:.1f}x; apart by {one['difference']:.1g} rad at most")  # fmt: skip
    if output:
        figures = {"mujoco_rollout": batch, "pinocchio_loop": one, "rows": rows, "steps": steps, "long": long}
        write_figures(output, "rollouts", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few steps, short runs: seconds instead of minutes")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.quick, options.output)
