"""Every operation of a tape, in every language that it is written in."""

import math
import operator
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose
from processes import program

from chainrule.compile.codegen import c
from chainrule.compile.tape import OPERATIONS, Instruction, Tape
from chainrule.compile.ufunc import compile_ufunc

MEANING = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "abs": abs, "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne,
    "and": lambda a, b: bool(a) and bool(b), "or": lambda a, b: bool(a) or bool(b), "not": lambda a: not a,
    "choose": lambda a, b: b if a else 0.0,
}  # fmt: skip
PAIRS = np.array([[0.25, 0.5], [0.5, 0.25], [0.75, 0.75], [0.0, 0.5], [0.5, 0.0]])


def meaning(operation, *operands):
    return float(MEANING.get(operation, getattr(math, operation, None))(*operands))


def tape_of(operation):
    count = OPERATIONS[operation]
    inputs = tuple(Instruction("input", argument=0, entry=k) for k in range(count))
    return Tape((2,), (*inputs, Instruction(operation, tuple(range(count)))), (count,))


def expected_of(operation):
    undefined = {"div": 1, "log": 0}.get(operation)
    rows = [row for row in PAIRS if undefined is None or row[undefined] != 0]
    return np.array(rows), [meaning(operation, *row[: OPERATIONS[operation]]) for row in rows]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_machine_code(operation):
    rows, expected = expected_of(operation)
    function = compile_ufunc(tape_of(operation), "operation", "a test")
    assert_allclose(function(rows)[:, 0], expected, rtol=1e-15, atol=1e-16)


def test_c(tmp_path):
    tapes = {f"op_{name}": tape_of(name) for name in OPERATIONS}
    for path, text in c.files(tmp_path / "operations.c", tapes, {}).items():
        path.write_text(text)
    files = [tmp_path / "operations.c", tmp_path / "operations_main.c"]
    subprocess.run([program("gcc"), "-std=c99", "-Wall", "-Werror", *files, "-lm", "-o", tmp_path / "run"], check=True)
    numbers = " ".join("0.25 0.5" for _ in tapes)
    lines = subprocess.run([tmp_path / "run"], input=numbers, capture_output=True, text=True, check=True).stdout.split()
    for operation, line in zip(OPERATIONS, lines, strict=True):
        assert_allclose(float(line), meaning(operation, *(0.25, 0.5)[: OPERATIONS[operation]]), rtol=1e-15)
