"""Very long tapes: instructions as data, carried out by one loop."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr
from chainrule.cli.benchmark.kernels import snake
from chainrule.compile.codegen import bytecode
from chainrule.compile.graph import Graph
from chainrule.compile.kernel import Kernel
from chainrule.compile.tape import OPERATIONS, Instruction, Tape
from chainrule.compile.traced_function import TracedFunction
from chainrule.compile.ufunc import compile_ufunc
from chainrule.core.evaluation import call_of
from compile.codegen.test_operations import PAIRS, expected_of, tape_of
from compile.support import arguments_of, close


@pytest.fixture
def all_encoded(monkeypatch):
    """Every tape is taken for a long one."""
    monkeypatch.setattr(bytecode, "MAX_STRAIGHT_LINE", 0)
    monkeypatch.setenv("CHAINRULE_CACHE", "off")


@pytest.mark.usefixtures("all_encoded")
def test_all_operations():
    tapes = [tape_of(operation) for operation in OPERATIONS]
    instructions, outputs = [], []
    for tape in tapes:
        start = len(instructions)
        instructions += [i._replace(operands=tuple(v + start for v in i.operands)) for i in tape.instructions]
        outputs.append(len(instructions) - 1)
    function = compile_ufunc(Tape((2,), tuple(instructions), tuple(outputs)), "operations", "a test")
    with np.errstate(all="ignore"):
        found = function(PAIRS)
    for k, operation in enumerate(OPERATIONS):
        rows, expected = expected_of(operation)
        kept = [i for i, row in enumerate(PAIRS.tolist()) if row in rows.tolist()]
        assert_allclose(found[kept, k], expected, rtol=1e-15, atol=1e-16)


@pytest.mark.usefixtures("all_encoded")
@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "forward_dynamics", "poses", "torque_terms"])
@pytest.mark.parametrize("bits", [64, 32])
def test_functions_of_a_tree(name, bits):
    robot = tree(3, ["revolute", "universal", "spherical", "prismatic"])
    call = call_of(robot, name, {})
    kernel = Kernel(call.model, name, call.fingerprint, dict(call.options))
    arrays = arguments_of(robot, name, 1, (37,))
    expected = robot.reference.compiled.kernel(name).ufunc(*arrays)
    kind = np.float64 if bits == 64 else np.float32
    close(kernel(*(a.astype(kind) for a in arrays)).astype(float), expected, 1e-12 if bits == 64 else 2e-4)
    assert kernel(*(a[:0] for a in arrays)).shape == (0, *expected.shape[1:])
    close(kernel(*(a[5] for a in arrays)), expected[5])


@pytest.mark.usefixtures("all_encoded")
def test_rollouts():
    arm = cr.load("planar_3r")
    q = np.random.default_rng(0).normal(size=(11, 3))
    still = np.zeros((11, 3))
    ours = arm.simulate(q, still, 0.05, dt=0.01)
    assert_allclose(ours.q, arm.reference.simulate(q, still, 0.05, dt=0.01).q, rtol=1e-10, atol=1e-10)


@given(st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_random_sums_of_products(random):
    graph = Graph()
    (x,) = graph.inputs([5])
    values = [*x, x[0] * 2.0]
    for _ in range(40):
        a, b = random.choice(values), random.choice(values)
        made = OPERATORS[random.randrange(5)](a, b)
        values.append(made if not isinstance(made, float) else x[1])
    long_sum = x[0]
    for k, value in enumerate(values[-20:]):
        long_sum = long_sum - value * x[k % 5] if k % 3 else long_sum + value
    outputs = [*values[-6:], values[7], x[2], 0.0, 1.5, 0.0, long_sum, values[-1], long_sum * x[0]]
    tape = graph.tape([5], outputs)
    data = bytecode.encode(tape)
    numbers = [random.uniform(-1.2, 1.2) for _ in range(5)]
    assert_allclose(carry_out(data, tape, numbers), TracedFunction(tape)(numbers), rtol=1e-9, atol=1e-9)


OPERATORS = (operator.add, operator.sub, operator.mul, lambda a, b: -a, lambda a, b: a.sin())


def carry_out(data, tape, numbers):
    """The instructions in Python, with slots that hold nothing before they are written."""
    slots = dict(enumerate([*data.constants, *numbers]))
    out = dict.fromkeys(range(len(tape.outputs)), 0.0 if data.fills_zeros else None)
    sums = {code: kind for kind, code in bytecode.SUMS.items()}
    others = {code: name for name, code in bytecode.OTHERS.items()}
    pc = 0

    def read(place):
        return out[place - bytecode.OUTPUT] if place >= bytecode.OUTPUT else slots[place]

    while data.words[pc] != bytecode.END:
        code, into = data.words[pc : pc + 2]
        if code == bytecode.COPY:
            result, step = read(data.words[pc + 2]), 3
        elif code in sums:
            count, subtracted = sums[code]
            operands = [read(p) for p in data.words[pc + 2 : pc + 2 + 2 * count]]
            products = [a * b for a, b in zip(operands[::2], operands[1::2], strict=True)]
            result = sum(products[: count - subtracted]) - sum(products[count - subtracted :])
            step = 2 + 2 * count
        else:
            assert others[code] == "sin"
            result, step = np.sin(read(data.words[pc + 2])), 3
        if into >= bytecode.OUTPUT:
            out[into - bytecode.OUTPUT] = result
        else:
            assert len(data.constants) + len(numbers) <= into < data.slots
            slots[into] = result
        pc += step
    return [out[k] for k in range(len(tape.outputs))]


def test_slots_are_used_again():
    graph = Graph()
    (x,) = graph.inputs([2])
    y = x[0]
    for _ in range(500):
        y = (y * x[1]).sin()
    data = bytecode.encode(graph.tape([2], [y]))
    assert data.slots <= len(data.constants) + 2 + 2


def test_a_constant_result_is_written():
    tape = Tape((1,), (Instruction("constant", constant=2.5),), (0, 0))
    assert carry_out(bytecode.encode(tape), tape, [0.0]) == [2.5, 2.5]


def test_the_mass_matrix_of_many_joints_is_encoded_and_right():
    robot = snake(130)
    q = robot.random_state(np.random.default_rng(0), (3,))
    kernel = robot.compiled.kernel("mass_matrix")
    assert kernel.instructions > bytecode.MAX_STRAIGHT_LINE
    close(kernel(q), robot.reference.mass_matrix(q))
