"""Compiled kernels: the same numbers as the reference path, whatever the robot, precision and batch."""

import pickle
import warnings
from itertools import product
from operator import attrgetter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tiers import with_slow
from trees import state, tree

import chainrule as cr
from chainrule.cli.benchmark.kernels import snake
from chainrule.compile.kernel import Kernel
from chainrule.compile.runtime import engine
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import evaluate
from chainrule.functions.table import FUNCTIONS
from compile.support import OF_LOOPS, PANDA, QD, QDD, SMALL, Q, arguments_of, close

ALL = sorted(name for name in FUNCTIONS if name not in OF_LOOPS)


@pytest.mark.parametrize(
    ("seed", "name"), with_slow(product([1, 2], ALL), *product([1], ALL), (2, "derivatives.second"))
)
def test_every_function_is_the_reference_path_to_rounding_on_random_trees(name, seed, monkeypatch):
    runs = []
    spread = Kernel.spread
    monkeypatch.setattr(Kernel, "spread", lambda kernel, *given: runs.append(kernel.name) or spread(kernel, *given))
    robot = tree(seed, SMALL, mimic=seed == 2)
    arguments = arguments_of(robot, name, seed, (5,))
    method = FUNCTIONS[name].variant_of or name
    extra = [np.random.default_rng(seed).normal(size=6)] if name == "static_torque" else []
    ours = attrgetter(method)(robot)(*arguments, *extra)
    assert runs
    runs.clear()
    theirs = attrgetter(method)(robot.reference)(*arguments, *extra)
    assert not runs
    if isinstance(ours, dict):
        for term in ours:
            close(ours[term], theirs[term])
    elif method.endswith("_table"):
        for column in (*ours.units, "tau"):
            close(attrgetter(column)(ours), attrgetter(column)(theirs))
    else:
        parts = zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]
        for one, other in parts:
            close(one, other)


@pytest.mark.parametrize("name", ["panda", "puma560", "quadruped", "human_arm", "panda_hand", "stanford"])
def test_bundled_robots_agree_with_the_reference_path(name):
    robot = cr.load(name)
    q, qd, qdd = state(robot, 1, (3, 4))
    loads = {"external": {robot.link_names[-1]: np.ones(6)}}
    close(robot.inverse_dynamics(q, qd, qdd, **loads), robot.reference.inverse_dynamics(q, qd, qdd, **loads))
    close(robot.forward_dynamics(q, qd, qdd), robot.reference.forward_dynamics(q, qd, qdd), 1e-11)
    close(robot.mass_matrix(q), robot.reference.mass_matrix(q))
    close(robot.poses(q), robot.reference.poses(q))
    link = robot.link_names[-1]
    for frame in ("space", "body", "world"):
        close(robot.jacobian(q, link, frame=frame), robot.reference.jacobian(q, link, frame=frame))


def test_what_is_known_of_a_kernel():
    kernel = PANDA.compiled.kernel("inverse_dynamics")
    assert kernel.instructions > 500
    assert kernel.flops > 500
    assert kernel.operations["sin"] <= 7
    assert kernel.compile_seconds > 0
    assert "define void @loop" in kernel.ir()
    assert "mul" in kernel.assembly()
    assert "inverse_dynamics" in repr(kernel)
    with pytest.raises(cr.UnknownNameError, match="did you mean 'inverse_dynamics'"):
        PANDA.compiled.kernel("inverse_dynamic")
    with pytest.raises(cr.UnknownNameError, match="no option named 'linkk'"):
        PANDA.compiled.kernel("jacobian", linkk="panda_link3")
    close(
        PANDA.compiled.kernel("jacobian", link="panda_link3", frame="body")(Q),
        PANDA.reference.jacobian(Q, "panda_link3", frame="body"),
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_one_bad_row_does_not_touch_the_others(bad):
    q = Q.copy()
    q[5, 2] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = PANDA.inverse_dynamics(q, QD, QDD)
    rest = np.arange(64) != 5
    close(ours[rest], PANDA.reference.inverse_dynamics(Q, QD, QDD)[rest])
    assert np.isfinite(ours[5]).all() == np.isfinite(bad)


def test_kernels_are_asked_for_as_carefully_as_methods():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)
        bare = cr.Robot.from_dh([(1, 0, 0, 0)], convention="standard")
    with pytest.raises(cr.ModelError, match="has no masses"):
        bare.compiled.kernel("inverse_dynamics")
    with pytest.raises(cr.UnknownNameError, match="no frame named 'bogus'"):
        PANDA.compiled.kernel("jacobian", frame="bogus")
    with pytest.raises(cr.UnknownNameError, match="no joint named 'nope'"):
        PANDA.compiled.kernel("joint_wrenches", joints=["nope"])
    with pytest.raises(cr.ShapeError, match="loads must be a list of names"):
        PANDA.compiled.kernel("inverse_dynamics", loads="panda_link7")
    with pytest.raises(cr.ShapeError, match="takes one load"):
        PANDA.compiled.kernel("static_torque", loads=())
    legged = cr.load("quadruped")
    q = legged.random_state(np.random.default_rng(0), (3,))
    close(legged.compiled.kernel("pose", link="FL_FOOT")(q), legged.reference.pose(q, "FL_FOOT"))


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_narrower_vectors_give_the_same_numbers(bits, monkeypatch):
    """What runs on processors with SSE2 or NEON, and with AVX2, compiled here for as many lanes."""
    if bits > engine.vector_bits():
        pytest.skip(f"this processor has no vectors of {bits} bits")
    monkeypatch.setattr(engine, "vector_bits", lambda: bits)
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    for name, options in (("inverse_dynamics", {"loads": ()}), ("mass_matrix", {})):
        kernel = Kernel(merged_model(PANDA), name, "x", options)
        assert kernel.lanes == bits // 64
        arguments = arguments_of(PANDA, name, 1, (21,))
        expected = attrgetter(name)(PANDA.reference)(*arguments)
        close(kernel.spread(arguments), expected)
        close(kernel.spread([np.asfortranarray(a) for a in arguments]), expected)
        single = kernel.spread([a.astype(np.float32) for a in arguments])
        assert_allclose(single, expected, rtol=1e-3, atol=2e-4)


def test_a_long_tape_is_split_and_stays_right(monkeypatch):
    from chainrule.compile.codegen import vectorize

    monkeypatch.setattr(vectorize, "PART_INSTRUCTIONS", 100)
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    kernel = Kernel(merged_model(PANDA), "forward_dynamics", "x", {"loads": ()})
    assert kernel.ir().count("define internal void @core.") > 5
    close(kernel(Q, QD, QDD), PANDA.reference.forward_dynamics(Q, QD, QDD), 1e-11)


LONG = snake(200)
LONG_COMPARED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")


@pytest.mark.slow
def test_a_chain_of_200_joints_is_right():
    q, qd, qdd = (a * 0.1 for a in state(LONG, 0, (3,)))
    tau = LONG.inverse_dynamics(q, qd, qdd)
    close(tau, LONG.reference.inverse_dynamics(q, qd, qdd), 1e-10)
    assert_allclose(LONG.forward_dynamics(q, qd, tau), qdd, rtol=1e-5, atol=1e-5)
    M = LONG.mass_matrix(q)
    assert_allclose((M @ qdd[..., None])[..., 0] + LONG.bias(q, qd), tau, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted(set(FUNCTIONS) - {*LONG_COMPARED, "torque_terms", "textbook.newton_euler", "static_torque"})
)
def test_a_chain_of_200_joints_works_for_every_function(name):
    given = dict(zip(FUNCTIONS[name].arguments, arguments_of(LONG, name, 0, (2,)), strict=True))
    assert np.isfinite(evaluate(LONG, name, **given)).all()


def test_a_kernel_is_pickled_as_what_it_is_made_from():
    kernel = cr.load("planar_2r").compiled.kernel("mass_matrix")
    again = pickle.loads(pickle.dumps(kernel))
    assert np.array_equal(again([0.1, 0.2]), kernel([0.1, 0.2]))
