"""Products of Jacobians with vectors equal differences along the manifold, and forward and reverse ones agree."""

from __future__ import annotations

import numpy as np
import pytest
from trees import state, tree

import chainrule as cr
from chainrule.compile.jacobian_products import JacobianProduct
from chainrule.compile.trace import trace
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import evaluate
from chainrule.core.reading import load_on, read_wrenches
from chainrule.functions.table import FUNCTIONS

STEP = 1e-6
MAX_ERROR = 2e-7
"""Of a central difference with that step, relative to 1 + the largest entry."""
CONFIGURATIONS, WRENCHES = ("q", "q0", "q1"), ("wrench", "tip_wrench")

TREE = tree(3, ("revolute", "universal", "free"))
ARM = cr.load("planar_2r")


def arguments(robot, name, seed=1, shape=(2,)):
    q, qd, qdd = state(robot, seed, shape)
    known = {"q": q, "q0": q, "q1": robot.integrate(q, 0.3 * qd), "qd": qd, "qdd": qdd, "tau": qdd, "v": 0.3 * qd}
    known |= {"qd0": qd, "tip_wrench": np.linspace(-1, 1, 6), "wrench": np.linspace(-1, 1, 6)}
    entry = FUNCTIONS[name]
    wrench = "wrench" if entry.acts else "tip_wrench"
    names = [*entry.arguments, *([wrench] if entry.loaded else [])]
    return {name: known.get(name, qdd) for name in names}


def tangents_of(robot, given, seed=2):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(2, 6 if name in WRENCHES else robot.nv)) for name in given}


def value(robot, name, given, tangents, t):
    """The function after the time t along the manifold."""
    moved = {
        k: robot.integrate(x, t * tangents[k]) if k in CONFIGURATIONS else x + t * tangents[k] for k, x in given.items()
    }
    applied, wrench = (moved.pop(k, None) for k in WRENCHES)
    loads = load_on("tool", applied, name) if FUNCTIONS[name].acts else read_wrenches(robot, name, wrench)
    return evaluate(robot, name, loads, **moved)


def difference(robot, name, given, tangents):
    return (value(robot, name, given, tangents, STEP) - value(robot, name, given, tangents, -STEP)) / (2 * STEP)


def cases():
    """The functions of open trees; those that are slow to trace are left to the long run."""
    for name, entry in FUNCTIONS.items():
        if not name.startswith("loops."):
            is_slow = (
                entry.visits(TREE.model) > 40 or "derivatives" in name.rpartition(".")[2] or name == "jacobian_dot"
            )
            yield pytest.param(name, marks=pytest.mark.slow) if is_slow else name


@pytest.mark.parametrize("name", list(cases()))
def test_products_of_every_function(name):
    robot = TREE.reference
    given = arguments(robot, name)
    tangents = tangents_of(robot, given)
    rate = robot.derivatives.jvp(name, given, tangents)
    expected = difference(robot, name, given, tangents)
    assert np.abs(rate - expected).max() <= MAX_ERROR * (1 + np.abs(expected).max())
    weights = np.random.default_rng(4).normal(size=rate.shape)
    gradient = robot.derivatives.vjp(name, given, weights)
    sums = [(gradient[k] * tangents[k]).sum(-1) for k in given]
    np.testing.assert_allclose((weights * rate).reshape(2, -1).sum(-1), sum(sums), rtol=1e-9, atol=1e-9)


def test_products_of_a_closed_loop():
    robot = cr.load("four_bar").reference
    q = robot.loops.close(robot.home())
    given = {"q": q, "qd": np.zeros(robot.nv), "tau": np.linspace(0.1, 0.3, robot.nv)}
    tangents = {"tau": np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.2]])}
    rate = robot.derivatives.jvp("forward_dynamics", given, tangents)
    expected = [evaluate(robot, "forward_dynamics", **given | {"tau": given["tau"] + t}) for t in tangents["tau"]]
    np.testing.assert_allclose(rate, expected - evaluate(robot, "forward_dynamics", **given), atol=1e-9)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "pose", "kinetic_energy", "potential_energy"])
def test_second_order_products_are_rates_of_gradients(name):
    robot = TREE.reference
    given = {k: x for k, x in arguments(robot, name).items() if k != "tip_wrench"}
    tangents = tangents_of(robot, given)
    weights = np.random.default_rng(4).normal(size=evaluate(robot, name, **given).shape)

    def gradient(t):
        moved = {k: robot.integrate(x, t * tangents[k]) if k == "q" else x + t * tangents[k] for k, x in given.items()}
        return robot.derivatives.vjp(name, moved, weights)

    ahead, behind = gradient(STEP), gradient(-STEP)
    for k, rate in robot.derivatives.hvp(name, given, weights, tangents).items():
        expected = (ahead[k] - behind[k]) / (2 * STEP)
        assert np.abs(rate - expected).max() <= MAX_ERROR * (1 + np.abs(expected).max())


def test_compiled_products_equal_those_of_the_reference_in_both_precisions():
    given = arguments(TREE, "inverse_dynamics", shape=(3, 5))
    tangents = {"q": np.linspace(-1, 1, TREE.nv), "tip_wrench": np.ones(6)}
    expected = TREE.reference.derivatives.jvp("inverse_dynamics", given, tangents)
    np.testing.assert_allclose(TREE.derivatives.jvp("inverse_dynamics", given, tangents), expected, atol=1e-10)
    single = [{k: np.float32(x) for k, x in part.items()} for part in (given, tangents)]
    rate = TREE.derivatives.jvp("inverse_dynamics", *single)
    assert rate.dtype == np.float32
    np.testing.assert_allclose(rate, expected, atol=2e-4 * np.abs(expected).max())


def test_a_product_costs_about_two_evaluations():
    robot = cr.load("panda")
    own = len(trace(merged_model(robot), "inverse_dynamics").instructions)
    for kind in ("jvp", "vjp"):
        tape = trace(merged_model(robot), "inverse_dynamics", products=(JacobianProduct(kind, (0, 1, 2)),))
        assert len(tape.instructions) < 2.5 * own


def test_gradients_by_the_numbers_of_a_quaternion_are_those_of_its_unit_multiple():
    robot = TREE.reference
    q, qd, _ = state(robot, 1)
    weights = np.random.default_rng(4).normal(size=(4, 4))
    raw = robot.derivatives.vjp("pose", {"q": q}, weights, raw=True)["q"]
    assert raw.shape == (robot.nq,)
    for k in range(robot.nq):  # the differences leave the unit sphere
        step = STEP * np.eye(robot.nq)[k]
        expected = (weights * (robot.pose(q + step) - robot.pose(q - step))).sum() / (2 * STEP)
        assert abs(raw[k] - expected) < 1e-7
    by_velocity = robot.derivatives.vjp("pose", {"q": q}, weights)["q"]
    assert by_velocity @ qd == pytest.approx(raw @ robot.states.coordinate_rates(q, qd))
    rate = robot.derivatives.jvp("pose", {"q": q}, {"q": robot.states.coordinate_rates(q, qd)}, raw=True)
    np.testing.assert_allclose(rate, robot.derivatives.jvp("pose", {"q": q}, {"q": qd}), atol=1e-12)


def test_gradients_for_numbers_of_the_robot():
    robot = ARM.reference
    q, qd, qdd = state(robot, 1, (3,))
    link = robot.model.links[2]
    I = link.inertia
    numbers = np.array([link.mass, *link.com, I.xx, I.yy, I.zz, I.xy, I.xz, I.yz])
    given = {"q": q, "qd": qd, "qdd": qdd, f"{link.name}.inertial": numbers, "gravity": robot.gravity}
    gradient = robot.derivatives.vjp("inverse_dynamics", given, np.ones((3, 2)))
    assert gradient[f"{link.name}.inertial"].shape == (3, 10)
    heavier = robot.edit(gravity=robot.gravity + STEP * np.eye(3)[1]).inverse_dynamics(q, qd, qdd)
    expected = (heavier - robot.inverse_dynamics(q, qd, qdd)).sum(-1) / STEP
    np.testing.assert_allclose(gradient["gravity"][:, 1], expected, atol=1e-5)


def test_derivatives_at_the_neutral_state_are_finite():
    robot = TREE.reference
    rest = np.zeros(robot.nv)
    for name in ("integrate", "difference", "textbook.pose_vector", "kinetic_energy", "forward_dynamics"):
        given = {a.name: robot.neutral() if a.is_configuration else rest for a in FUNCTIONS[name].takes}
        rate = robot.derivatives.jvp(name, given, dict.fromkeys(given, np.ones(robot.nv)))
        assert np.isfinite(rate).all()
        assert all(np.isfinite(part).all() for part in robot.derivatives.vjp(name, given, np.ones(rate.shape)).values())


def test_arguments_in_order_and_options():
    by_name = ARM.derivatives.jvp("jacobian", {"q": [0.1, 0.2]}, {"q": [1.0, 0.0]}, frame="body")
    np.testing.assert_array_equal(ARM.derivatives.jvp("jacobian", [[0.1, 0.2]], [[1.0, 0.0]], frame="body"), by_name)
    both = ARM.derivatives.jvp("kinetic_energy", [[0.1, 0.2], [1.0, 2.0]], [None, [1.0, 0.0]])
    assert both == pytest.approx((ARM.mass_matrix([0.1, 0.2]) @ [1.0, 2.0])[0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ARM.derivatives.jvp("gravity", [[0, 0]], [[1, 0]]), cr.UnknownNameError, "gravity_torque"),
        (
            lambda: ARM.derivatives.jvp("pose", [0.1, 0.2], [[1, 0]]),
            cr.ShapeError,
            "a dictionary {'q': ..}, or a list of 'q'",
        ),
        (lambda: ARM.derivatives.jvp("mass_matrix", {}, {"q": [1, 0]}), cr.ShapeError, "'q' is not given"),
        (
            lambda: ARM.derivatives.jvp("pose", {"q": [0, 0]}, {}),
            cr.ShapeError,
            "tangents names no argument; there are 'q'",
        ),
        (
            lambda: ARM.derivatives.jvp("pose", {"q": [0, 0]}, {"p": [0, 1]}),
            cr.UnknownNameError,
            "no argument named 'p'",
        ),
        (
            lambda: ARM.derivatives.jvp("pose", {"q": [0, 0]}, {"q": [0, 1, 2]}),
            cr.ShapeError,
            "tangent of q must have 2 numbers",
        ),
        (
            lambda: ARM.derivatives.jvp("pose", {"q": [0, 0], "r": 1}, {"q": [0, 1]}),
            cr.UnknownNameError,
            "no argument named 'r'",
        ),
        (
            lambda: ARM.derivatives.jvp("pose", {"q": [0, 0], "tip_wrench": 1}, {"q": [0, 1]}),
            cr.UnknownNameError,
            "no wrenches",
        ),
        (
            lambda: ARM.derivatives.vjp("pose", {"q": [0, 0]}, [1, 0]),
            cr.ShapeError,
            r"result of pose, \(..., 4, 4\), got \(2,\)",
        ),
        (
            lambda: ARM.derivatives.vjp("pose", {"q": [0, 0]}, np.eye(4), wrt=["x"]),
            cr.UnknownNameError,
            "no argument named 'x'",
        ),
        (
            lambda: ARM.derivatives.vjp("pose", {"q": [0, 0]}, np.eye(4), raw=3),
            cr.ShapeError,
            "raw must be True or False",
        ),
        (
            lambda: ARM.derivatives.vjp("pose", {"q": [0, 0], "no.inertial": [0] * 10}, np.eye(4)),
            cr.UnknownNameError,
            "'no'",
        ),
        (lambda: ARM.derivatives.jvp("pose", {"q": [0, 0]}, {"q": [1, 0]}, fame="body"), cr.UnknownNameError, "fame"),
    ],
)
def test_what_is_wrong_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()
