"""A floating humanoid of 38 degrees of freedom (Talos): compile time, and inverse dynamics against Pinocchio.

python benchmarks/humanoid.py [--output FOLDER]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.kernels import without_cache
from chainrule.cli.benchmark.timing import best
from chainrule.functions.table import FUNCTIONS


def main(output: str | None) -> None:
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
    cr.set_threads(1)
    assert robot.nv == model.nv
    print(f"Talos, floating, {robot.nv} degrees of freedom")
    figures = {}
    for name, theirs in (("inverse_dynamics", pin.rnea), ("mass_matrix", pin.crba), ("forward_dynamics", pin.aba)):
        count = len(FUNCTIONS[name].arguments)
        arguments, state = ours[:count], (q, v, a)[:count]
        with without_cache():
            kernel = robot.compiled.kernel(name)
            out, ufunc = kernel.spread(list(arguments)), kernel.ufunc
        batch = best(lambda f=ufunc, x=arguments, o=out: f(*x, out=o), 1.0) / states
        peer = best(lambda f=theirs, x=state: f(model, data, *x), 1.0)
        print(
            f"{name:18} compiled in {kernel.compile_seconds:.2f} s, {kernel.instructions} instructions; "
            f"{batch * 1e9:.0f} ns a state, Pinocchio {peer * 1e9:.0f} ns a call: {peer / batch:.1f}x"
        )
        figures[name] = {"compile": kernel.compile_seconds, "batch": batch * 1e9, "pinocchio": peer * 1e9}
    if output:
        write_figures(output, "humanoid", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    main(parser.parse_args().output)
