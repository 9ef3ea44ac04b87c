"""A bad state or argument is refused by name; what is not finite stays in its row."""

import math
from operator import attrgetter

import numpy as np
import pytest
from refusals import refused
from trees import tree

import chainrule as cr
from chainrule import ModelError, ShapeError, UnknownNameError

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

NAN, INF = math.nan, math.inf
Z = [0.0, 0.0]


def arm():
    return cr.load("planar_2r")


STATES = [
    ("short", [0.0], r"q must have 2 numbers .*'planar_2r': joint1, joint2\), got 1 in shape \(1,\)"),
    ("long", [0.0] * 3, r"q must have 2 numbers .*got 3"),
    ("scalar", 0.3, r"q must have 2 numbers .*got the single number 0.3"),
    ("column", np.zeros((2, 1)), r"q must have 2 numbers in its last dimension .*got 1 in shape \(2, 1\)"),
    ("ragged", [[0, 0], [0]], r"q must be a rectangular array .*different lengths"),
    ("string", "0, 0", r"q must be real numbers, got str \(0, 0\)"),
    ("numerals", ["0", "0"], r"q must be real numbers, got list"),
    ("none", None, r"q must be real numbers, got NoneType"),
    ("complex", [1j, 0], r"q must be real numbers, got numbers of type complex128"),
    ("objects", np.array([object(), 1], dtype=object), r"q must be real numbers, got ndarray"),
    ("booleans", [True, False], r"q must be real numbers, got numbers of type bool"),
    ("dictionary", {"joint1": 0}, r"q lacks joint .joint2."),
    ("integers beyond a float", [10**400, 0], r"q must be real numbers"),
    ("masked", np.ma.array([1.0, 2.0], mask=[True, False]), r"q has masked entries.*fill them first"),
]


@pytest.mark.parametrize("function", ["pose", "mass_matrix", "gravity_torque"])
@pytest.mark.parametrize(("q", "pattern"), [s[1:] for s in STATES], ids=[s[0] for s in STATES])
def test_a_state_that_is_none_is_refused_by_name(function, q, pattern):
    refused(lambda: getattr(arm(), function)(q), ShapeError, rf"{function}: {pattern}")


def test_an_array_that_cannot_be_read_says_why():
    class Tensor:
        def __array__(self, *_, **__):
            raise RuntimeError("call detach() first")

    refused(
        lambda: arm().pose(Tensor()), ShapeError, r"q must be an array of numbers, got Tensor: call detach\(\) first"
    )


FUNCTIONS = {
    "pose": "q", "poses": "q", "jacobian": "q", "textbook.analytic_jacobian": "q", "gravity_torque": "q", "mass_matrix": "q",
    "spring_torque": "q", "potential_energy": "q", "center_of_mass": "q", "centroidal.com_jacobian": "q",
    "centroidal.matrix": "q", "friction_torque": "v", "velocities": "qv", "jacobian_dot": "qv",
    "coriolis_matrix": "qv", "kinetic_energy": "qv", "momentum": "qv", "centroidal.momentum": "qv", "bias": "qv",
    "analysis.apply_inverse_mass": "qv", "accelerations": "qvv", "inverse_dynamics": "qvv", "forward_dynamics": "qvv",
    "joint_wrenches": "qvv", "acceleration": "qvv",
}  # fmt: skip


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e308], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("robot", [cr.load("panda"), tree(1)], ids=["panda", "every joint"])
def test_what_is_not_finite_in_a_state_stays_in_its_row(robot, function, value):
    rng = np.random.default_rng(0)
    state = [robot.random_state(rng, 3) if a == "q" else rng.normal(size=(3, robot.nv)) for a in FUNCTIONS[function]]
    before = attrgetter(function)(robot)(*state)
    for k, argument in enumerate(state):
        spoilt = argument.copy()
        spoilt[1, 3] = value
        after = attrgetter(function)(robot)(*state[:k], spoilt, *state[k + 1 :])
        np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
        alone = attrgetter(function)(robot)(*(a[1] for a in state[:k]), spoilt[1], *(a[1] for a in state[k + 1 :]))
        np.testing.assert_array_equal(np.isfinite(alone), np.isfinite(after[1]))
        if math.isnan(value) and robot.name == "panda" and function != "spring_torque":
            assert np.isnan(after[1]).any()


CALLS = [
    ("batches", lambda r: r.inverse_dynamics(np.zeros((2, 2)), Z, np.zeros((3, 2))), ShapeError,
     r"inverse_dynamics: the leading \(batch\) dimensions .* do not fit together: q \(2, 2\), qd \(2,\), qdd \(3, 2\)"),
    ("link", lambda r: r.pose(Z, "link3"), UnknownNameError,
     r"robot 'planar_2r' has no link or frame named 'link3'; did you mean 'link"),
    ("no near link", lambda r: r.jacobian(Z, "wheel"), UnknownNameError, r"named 'wheel'; there are: 'base', 'link1'"),
    ("link that is no name", lambda r: r.pose(Z, 5), UnknownNameError, r"named by a string, not by 5"),
    ("empty link", lambda r: r.with_frame("f", link=""), UnknownNameError, r"no link or frame named ''; there are"),
    ("empty link of a table", lambda r: r.textbook.to_dh("", convention="standard"), UnknownNameError, r"no link or frame named ''"),
    ("Jacobian frame", lambda r: r.jacobian(Z, frame="spce"), UnknownNameError, r"'spce'; did you mean 'space'\?"),
    ("joint", lambda r: r.joint_wrenches(Z, Z, Z, joints=["joint"], frame="body"), UnknownNameError, r"no joint named 'joint'; did you"),
    ("joint that is no name", lambda r: r.edit(joints={5: {"xyz": Z}}), ShapeError, r"edit: a name in joints must be a string, got 5"),
    ("tip wrench", lambda r: r.inverse_dynamics(Z, Z, Z, tip_wrench=[1, 2, 3], frame="body"), ShapeError,
     r"tip_wrench must have 6 numbers .*\(moment and force\), got 3"),
    ("wrench", lambda r: r.inverse_dynamics(Z, Z, Z, tip_wrench=None, external={"link1": [1, 2, 3]}, frame="body"), ShapeError,
     r"external\['link1'\] must have 6 numbers .*got 3"),
    ("wrench on no link", lambda r: r.bias(Z, Z, tip_wrench=None, external={"lnk1": [0] * 6}, frame="body"), UnknownNameError, r"'lnk1'; did you mean 'link1'"),
    ("static wrench", lambda r: r.static_torque(Z, 5, frame="body"), ShapeError, r"static_torque: wrench must have 6 numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_a_bad_argument_is_refused_by_name(call, error, pattern):
    refused(lambda: call(arm()), error, pattern)


def test_a_zero_quaternion_is_no_orientation():
    robot = cr.load("quadruped")
    q = np.stack([robot.neutral()] * 2)
    q[1, 3:7] = 0
    refused(lambda: robot.mass_matrix(q), ShapeError, r"quaternion of joint 'floating_base' .*is zero.*\(0, 0, 0, 1\)")
    for w in (0.0, 1e-200):
        refused(
            lambda w=w: robot.lock({"floating_base": [0] * 6 + [w]}), ShapeError,
            r"position of joint 'floating_base' has a zero quaternion.*\(0, 0, 0, 1\) turns nothing",
        )  # fmt: skip


def test_without_an_end_effector_the_tips_are_named():
    refused(lambda: cr.load("quadruped").with_payload(1.0), ModelError, r"has 4 tips \('FL_FOOT'.*link=\.\.\.")


PANDA = cr.load("panda")
ZEROS = [0.0] * 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cr.Robot("panda"), r"a Robot is made of a Model.*cr.load takes names and paths"),
        (lambda: PANDA.pose(ZEROS, ["panda_link1"]), "named by a string"),
        (
            lambda: PANDA.inverse_dynamics(ZEROS, ZEROS, ZEROS, external=[1], frame="body"),
            "external must be a dictionary of link names",
        ),
        (lambda: PANDA.joint_wrenches(ZEROS, ZEROS, ZEROS, joints=5, frame="body"), "joints must be a list of names"),
        (
            lambda: PANDA.joint_wrenches(ZEROS, ZEROS, ZEROS, joints=["panda_joint9"], frame="body"),
            "did you mean 'panda_joint",
        ),
        (lambda: PANDA.random_state(5), "rng must be a NumPy random generator"),
        (lambda: PANDA.random_state(shape=-1), "shape must be a size or a tuple of sizes"),
        (lambda: PANDA.random_state(shape="ab"), "shape must be a size or a tuple of sizes"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call()


def test_a_quaternion_too_short_to_have_a_direction_is_refused():
    robot = cr.load("quadruped")
    q = robot.neutral()
    q[3:7] = [0, 0, 0, 1e-200]
    with pytest.raises(cr.ShapeError, match="is zero, which is no"):
        robot.mass_matrix(q)
