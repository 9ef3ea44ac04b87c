"""A floating humanoid of 38 degrees of freedom (Talos): compile time, and inverse dynamics against Pinocchio.

python benchmarks/humanoid.py
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.bench import best


def main() -> None:
    prefix = next(parent for parent in Path(pin.__file__).parents if parent.name == "cmeel.prefix")
    path = prefix / "share" / "example-robot-data" / "robots" / "talos_data" / "robots" / "talos_reduced.urdf"
    warnings.simplefilter("ignore", cr.ModelWarning)
    robot = cr.Robot.from_urdf(path, floating_base=True, check=False).without_friction()
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    rng = np.random.default_rng(0)
    q, v, a = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)), *rng.normal(size=(2, model.nv))
    states = 16384
    ours = robot.random_state(rng, (states,)), *rng.normal(size=(2, states, robot.nv))
    os.environ["CHAINRULE_CACHE"] = "off"
    cr.set_threads(1)
    assert robot.n == model.nv
    print(f"Talos, floating, {robot.n} degrees of freedom")
    for name, theirs in (("inverse_dynamics", pin.rnea), ("mass_matrix", pin.crba), ("forward_dynamics", pin.aba)):
        arguments = ours[:1] if name == "mass_matrix" else ours
        kernel = robot.kernel(name)
        out = kernel.spread(list(arguments))
        batch = best(lambda k=kernel, x=arguments, o=out: k._double_ufunc(*x, out=o), 1.0) / states
        peer = best(lambda f=theirs, m=name: f(model, data, q) if m == "mass_matrix" else f(model, data, q, v, a), 1.0)
        print(
            f"{name:18} compiled in {kernel.compile_seconds:.2f} s, {kernel.instructions} instructions; "
            f"{batch * 1e9:.0f} ns a state, Pinocchio {peer * 1e9:.0f} ns a call: {peer / batch:.1f}x"
        )


if __name__ == "__main__":
    main()
