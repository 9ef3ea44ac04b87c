"""A tape in pieces computes what the tape does."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile.interpreter import evaluate
from chainrule.compile.partition import partition
from chainrule.compile.tape import Instruction, Tape
from chainrule.compile.trace import trace


def in_pieces(tape, size, arrays):
    pieces = partition(tape, size)
    given = list(arrays)
    for piece in pieces.tapes:
        assert sum(bool(i.operands) for i in piece.instructions) <= size
        assert piece.inputs == tuple(x.shape[-1] for x in given)
        given.append(evaluate(piece, given, (len(piece.outputs),)))
    made = given[len(arrays) :]
    return np.stack([made[k][..., place] for k, place in pieces.outputs], axis=-1)


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
@pytest.mark.parametrize("function", ["forward_dynamics", "mass_matrix"])
def test_pieces_compute_the_same(function, size):
    tape = trace(cr.load("planar_3r").model, function)
    arrays = [np.linspace(-1, 1, 2 * n).reshape(2, n) for n in tape.inputs]
    expected = evaluate(tape, arrays, (len(tape.outputs),))
    np.testing.assert_array_equal(in_pieces(tape, size, arrays), expected)


def test_outputs_that_are_inputs_or_constants():
    x, two, double = Instruction("input"), Instruction("constant", constant=2.0), Instruction("mul", (0, 1))
    tape = Tape((1,), (x, two, double, Instruction("add", (2, 0))), (1, 0, 3, 2, 3))
    for size in (1, 5):
        np.testing.assert_array_equal(in_pieces(tape, size, [np.array([[3.0]])]), [[2, 3, 9, 6, 9]])
    leaves = Tape((1,), (x, two), (1, 0))
    np.testing.assert_array_equal(in_pieces(leaves, 1, [np.array([[3.0]])]), [[2, 3]])
