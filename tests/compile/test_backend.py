"""Compiled or interpreted: who decides, and that both give the same numbers."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.cli.benchmark.kernels import snake
from chainrule.compile.backend import (
    COMPILED,
    INTERPRETED,
    MAX_VISITS,
    Call,
    InterpretedScan,
    LoopShape,
    Traceable,
    active,
    is_worth_compiling,
)
from chainrule.spatial.scalar import sin, where
from compile.support import PANDA, QD, QDD, Q, close


def test_the_reference_path_never_runs_machine_code(monkeypatch):
    reference = cr.load("panda").reference
    reference.compiled.kernel("gravity_torque")
    assert "built-in" not in repr(reference.gravity_torque)
    monkeypatch.setenv("CHAINRULE_KERNELS", "off")
    robot = cr.load("panda")
    robot.compiled.kernel("gravity_torque")
    robot.gravity_torque(Q)
    assert "built-in" not in repr(robot.gravity_torque)


def test_an_answer_of_no_joints_is_empty():
    assert PANDA.joint_wrenches(Q, QD, QDD, joints=[], frame="body").shape == (64, 0, 6)


def test_one_switch_runs_everything_without_llvmlite():
    code = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "import chainrule as cr; print(cr.load('planar_2r').mass_matrix([0.0, 0.0]).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "CHAINRULE_KERNELS": "off"},
        check=True,
    )
    assert done.stdout.strip() == "[[5.0, 2.0], [2.0, 1.0]]"


def test_a_robot_that_cannot_move_has_functions_of_nothing():
    robot = cr.load("pendulum").lock({"hinge": 0.1})
    nothing = np.zeros(0)
    assert robot.mass_matrix(nothing).shape == (0, 0)
    assert robot.inverse_dynamics(np.zeros((3, 0)), nothing, nothing).shape == (3, 0)
    assert robot.jacobian(nothing).shape == (6, 0)
    close(robot.pose(nothing)[:3, 3], np.array([np.sin(0.1), -np.cos(0.1), 0]))
    with pytest.raises(cr.ModelError, match="nothing to compile"):
        robot.compiled.kernel("pose")


# --- the three kinds of text, on both backends ---


def text(x, y):
    """Some arithmetic with a choice."""
    return [sin(x[0]) * y[0], where(x[1] > y[1], x[1], y[1] / 2), x[0] + 1.0]


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 4)])
def test_a_function_of_arrays_is_the_same_compiled_and_interpreted(shape):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(*shape, 2)), rng.normal(size=(*shape, 2))
    ours, theirs = (
        backend.function(Traceable(text, "test text", "a test", "choice"), (2, 2))(x, y)
        for backend in (COMPILED, INTERPRETED)
    )
    assert ours.shape == (*shape, 3)
    close(ours, theirs)


def test_a_function_is_made_once_for_its_key():
    first, again = (COMPILED.function(Traceable(text, "one key", "a test", "text"), (2, 2)) for _ in range(2))
    assert isinstance(first, np.ufunc)
    assert first is again


@pytest.mark.parametrize("backend", [COMPILED, INTERPRETED])
def test_calls_on_rows_are_those_of_the_function(backend):
    rng = np.random.default_rng(1)
    x, y = ([rng.normal(size=6) for _ in range(2)] for _ in range(2))
    call = backend.outlined_call("rows", "a test")
    for _ in range(2):
        for ours, theirs in zip(call("text", text, x, y), text(x, y), strict=True):
            assert_allclose(ours, theirs, rtol=1e-14)


def growth(call, parameters, state, signals):
    """A state that grows by a signal, with a part that is a call; the record is its start."""
    (rate,) = parameters
    moved = call("move", lambda x, u: [a + rate_ * b for a, b, rate_ in zip(x, u[:2], u[2:], strict=True)], state,
                 [signals[0], signals[3], rate, rate])  # fmt: skip
    return [*moved, *state, signals[4]]


@pytest.mark.parametrize("rows", [1, 7, 40])
@pytest.mark.parametrize("every", [1, 3])
def test_a_loop_is_the_same_compiled_and_interpreted(rows, every):
    rng = np.random.default_rng(2)
    start, rate, signals = rng.normal(size=(rows, 2)), rng.normal(size=(rows, 1)), rng.normal(size=(rows, 30, 2))
    results = []
    for backend in (COMPILED, INTERPRETED):
        loop = backend.scan(Traceable(growth, "growth", "a test", "growth"), LoopShape(1, 2, 2, 3), rows)
        state, records = start.copy(), np.zeros((rows, -(-10 // every), 3))
        loop(state, rate, 10, signals, records, every)
        results.append((state, records))
    (ours, our_records), (theirs, their_records) = results
    close(ours, theirs)
    close(our_records, their_records)
    assert_allclose(theirs[:, 0], start[:, 0] + rate[:, 0] * signals[:, ::3, 0].sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("backend", [COMPILED, INTERPRETED])
def test_a_loop_takes_states_of_any_strides_broadcast_parameters_and_no_rows(backend):
    source = Traceable(lambda call, p, x, s: [2 * x[0], x[1] + p[0]], "doubling", "a test", "doubling")
    loop = backend.scan(source, LoopShape(1, 2))
    whole = np.ones((6, 4))
    loop(whole[::2, ::2], np.broadcast_to([[0.5]], (3, 1)), 3)
    assert whole[::2, ::2].tolist() == [[8.0, 2.5]] * 3
    assert (whole[1::2] == 1).all()
    assert (whole[:, 1::2] == 1).all()
    loop(np.zeros((0, 2)), np.zeros((0, 1)), 3)


def test_an_interrupted_loop_tells_how_far_it_came():
    def until_third(call, parameters, state, signals):
        if state[0][0] == 3:
            raise KeyboardInterrupt
        return [state[0] + 1]

    loop = INTERPRETED.scan(Traceable(until_third, "interrupted", "a test", "interrupted"), LoopShape(0, 1))
    state = np.zeros((2, 1))
    with pytest.raises(KeyboardInterrupt):
        loop(state, np.zeros((2, 0)), 10)
    assert loop.completed == 3
    assert state.tolist() == [[3.0], [3.0]]


# --- the choice ---


@pytest.mark.parametrize("value", ["off", "0", "none", "NO", "false"])
def test_one_variable_makes_everything_interpreted(value, monkeypatch):
    monkeypatch.setenv("CHAINRULE_KERNELS", value)
    assert active(COMPILED) is INTERPRETED
    monkeypatch.setenv("CHAINRULE_KERNELS", "on")
    assert active(COMPILED) is COMPILED


def test_what_would_take_minutes_to_compile_is_interpreted():
    cost = MAX_VISITS + 1
    assert not isinstance(COMPILED.function(Traceable(text, "large", "a test", "text", cost), (2, 2)), np.ufunc)
    large = Traceable(growth, "large", "a test", "growth", cost)
    assert isinstance(COMPILED.scan(large, LoopShape(1, 2, 2, 3)), InterpretedScan)
    for links in (200, 400):
        robot = snake(links)
        call = Call.of(robot.model, "coriolis_matrix")
        assert is_worth_compiling(call) == (links == 200)


def test_calls_are_equal_by_the_digest_of_the_model_function_and_options():
    model, other = cr.load("planar_2r").model, cr.load("planar_3r").model
    call = Call.of(model, "pose", {"link": "a", "list": [1, 2]})
    same = Call.of(cr.load("planar_2r").model, "pose", {"list": (1, 2), "link": "a"})
    assert call == same
    assert hash(call) == hash(same)
    assert call != Call.of(other, "pose", {"link": "a", "list": [1, 2]})
    assert call != Call.of(model, "poses", {"link": "a", "list": [1, 2]})
    assert call != Call.of(model, "pose", {"link": "b", "list": [1, 2]})


def test_kernels_of_the_reference_path_are_those_of_its_robot():
    light, heavy = cr.load("planar_2r"), cr.load("planar_2r").scale_masses(2.0)
    for robot in (light, heavy):
        close(
            robot.reference.compiled.kernel("mass_matrix")(np.zeros((3, 2))),
            robot.reference.mass_matrix(np.zeros((3, 2))),
        )


@pytest.mark.parametrize("backend", [COMPILED, INTERPRETED])
def test_a_backend_is_itself_after_a_journey(backend):
    assert pickle.loads(pickle.dumps(backend)) is backend
    assert copy.deepcopy(backend) is backend
