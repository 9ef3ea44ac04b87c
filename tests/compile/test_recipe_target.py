"""The recipe of `chainrule.compile.codegen`, followed from outside the package: Python text as a target."""

import math
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile import targets
from chainrule.compile.tape import OPERATIONS, SYSTEM_FUNCTIONS
from chainrule.compile.trace import trace
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import options_of
from compile.support import close

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}
OTHERS = {
    "neg": "-{0}", "sqrt": "math.sqrt({0})", "abs": "abs({0})", "sin": "math.sin({0})", "cos": "math.cos({0})",
    "and": "float({0} != 0 and {1} != 0)", "or": "float({0} != 0 or {1} != 0)", "not": "float({0} == 0)",
    "choose": "({1} if {0} else 0.0)",
    **{name: f"math.{name}({', '.join(f'{{{k}}}' for k in range(count))})" for name, count in SYSTEM_FUNCTIONS.items()},
}  # fmt: skip


def python_function(name, tape):
    """A function of lists that returns a list."""
    lines = [f"def {name}({', '.join(f'x{k}' for k in range(len(tape.inputs)))}):\n"]
    for k, instruction in enumerate(tape.instructions):
        operands = [f"v{value}" for value in instruction.operands]
        if instruction.operation == "input":
            value = f"x{instruction.argument}[{instruction.entry}]"
        elif instruction.operation == "constant":
            value = repr(instruction.constant)
        elif instruction.operation in SIGNS:
            value = f"float({operands[0]} {SIGNS[instruction.operation]} {operands[1]})"
        else:
            value = OTHERS[instruction.operation].format(*operands)
        lines.append(f"    v{k} = {value}\n")
    return "".join([*lines, f"    return [{', '.join(f'v{value}' for value in tape.outputs)}]\n"])


def python_files(path, tapes, about):
    return {path: "import math\n\n\n" + "\n\n".join(python_function(name, tape) for name, tape in tapes.items())}


@pytest.fixture
def python_target(monkeypatch):
    monkeypatch.setattr(targets, "TARGETS", dict(targets.TARGETS))
    targets.register("python", targets.Target(".py", python_files))
    return targets.target_of("python")


def test_the_emitter_knows_every_operation():
    assert {*SIGNS, *OTHERS} == set(OPERATIONS)


@pytest.mark.parametrize("name", ["panda", "quadruped"])
def test_its_text_gives_the_numbers_of_the_robot(name, python_target, tmp_path):
    robot = cr.load(name)
    tapes = {f: trace(merged_model(robot), f, **options_of(robot, f, {})) for f in ("mass_matrix", "forward_dynamics")}
    (written,) = targets.write(python_target, tmp_path / "robot.py", tapes, {})
    module = {"math": math}
    exec(compile(Path(written).read_text(), "robot.py", "exec"), module)
    rng = np.random.default_rng(0)
    q, qd, tau = robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    M = np.array(module["mass_matrix"](q)).reshape(robot.nv, robot.nv)
    close(M, robot.reference.mass_matrix(q))
    close(np.array(module["forward_dynamics"](q, qd, tau)), robot.reference.forward_dynamics(q, qd, tau), 1e-11)


def test_targets_are_found_by_name_and_paths_by_suffix(python_target):
    assert targets.file_of(python_target, "arm.py") == Path("arm.py")
    with pytest.raises(cr.ShapeError, match=r"path must end in \.py, got 'arm\.c'"):
        targets.file_of(python_target, "arm.c")
    with pytest.raises(
        cr.ShapeError, match="exported to the targets 'c', 'cuda', 'javascript', 'python', got 'opencl'"
    ):
        targets.target_of("opencl")
    with pytest.raises(cr.ShapeError, match="there is a target 'c' already"):
        targets.register("c", python_target)
