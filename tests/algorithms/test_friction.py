"""Friction: its formulas, joints held at rest, laws of the user's own, and what cannot be."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sp
from simulation.motions import block

import chainrule as cr
from chainrule.core.derived import fingerprint
from chainrule.core.friction_function import FrictionFunction
from chainrule.errors import FormatError, ModelError, ShapeError, UnknownNameError
from chainrule.formats.losses import without_inexpressible
from chainrule.model import Dof
from chainrule.robot.building import to_urdf
from chainrule.spatial.scalar import where

ALL_NUMBERS = {
    "viscous": 0.3, "coulomb": 1.0, "coulomb_negative": 0.6, "static": 1.5, "static_negative": 0.9, "stribeck": 0.2,
    "ripple": 0.4, "ripple_waves": 3.0, "ripple_phase": 0.7,
}  # fmt: skip


def by_hand(q, qd):
    """The friction of ALL_NUMBERS, by its formula."""
    ripple = 1 + 0.4 * np.sin(3.0 * q + 0.7)
    fall = np.exp(-((qd / 0.2) ** 2))
    forth, back = 1.0 + 0.5 * fall, 0.6 + 0.3 * fall
    return 0.3 * qd + ripple * np.where(qd > 0, forth, np.where(qd < 0, -back, 0.0))


def sign_like(up, down):
    return lambda q, qd: where(qd > 0, up + 0.1 * qd, where(qd < 0, -down + 0.1 * qd, 0 * qd))


@pytest.fixture(scope="module")
def rich():
    return cr.load("planar_2r").edit(joints={"*": {**ALL_NUMBERS}})


def test_friction_is_the_formula_of_its_numbers_in_numbers_kernels_and_symbols(rich):
    q, qd = np.random.default_rng(0).normal(size=(2, 20, 2))
    qd[0] = 0.0
    assert np.allclose(rich.friction_torque(qd, q), by_hand(q, qd), rtol=1e-13)
    assert np.allclose(rich.reference.friction_torque(qd, q), by_hand(q, qd), rtol=1e-13)
    assert np.allclose(rich.equations().lambdify("friction")(q, qd), by_hand(q, qd), rtol=1e-12)
    bare = cr.load("planar_2r").reference
    expected = bare.inverse_dynamics(q, qd, q) + by_hand(q, qd)
    assert np.allclose(rich.reference.inverse_dynamics(q, qd, q), expected, rtol=1e-12)
    assert np.allclose(rich.reference.torque_terms(q, qd, q)["friction"], by_hand(q, qd), rtol=1e-12)
    assert np.allclose(rich.reference.forward_dynamics(q, qd, expected), q, atol=1e-10)


def test_equations_print_the_stribeck_curve():
    friction = (
        cr.load("pendulum")
        .edit(joints={"*": {"viscous": 0.1, "coulomb": 1.0, "static": 2.0, "stribeck": 0.1}})
        .equations()
        .friction
    )
    b, f, s, v = sp.symbols("b_1 f_1 f_s1 v_s1", positive=True)
    rate = sp.Symbol("qdot_1", real=True)
    printed = str(friction[0])
    expected = b * rate + (f + (s - f) * sp.exp(-(rate**2) / v**2)) * sp.sign(rate)
    assert printed == str(expected)


def test_a_mimic_joint_adds_its_friction_in_its_own_direction():
    hand = (
        cr.build("hand").revolute("a", coulomb=1.0, coulomb_negative=0.5).link("one", mass=1.0, com=(0.1, 0, 0))
        .revolute("b", follows="a", multiplier=-2.0, coulomb=3.0, coulomb_negative=4.0, static=5.0)
        .link("two", mass=1.0, com=(0.1, 0, 0)).robot()
    )  # fmt: skip
    assert hand.reference.friction_torque([[1.0], [-1.0]]).ravel().tolist() == [1.0 + 2 * 4.0, -0.5 - 2 * 3.0]


# --- held at rest ---


def test_forward_dynamics_holds_joints_at_rest_where_friction_can():
    arm = cr.load("planar_2r").edit(joints={"*": {"coulomb": 30.0}}).reference
    q, qd = np.zeros((4, 2)), np.array([[0, 0], [0, 0.1], [0, 0], [0, 0]])
    tau = np.array([[0, 0], [0, 0], [70.0, 0], [70.0, -35.0]])
    held = arm.forward_dynamics(q, qd, tau, stick=True)
    assert (held[0] == 0).all()
    assert (arm.forward_dynamics(q[0], qd[0], tau[0]) != 0).all()  # dry friction counts as zero there
    friction = (
        tau[1] - arm.gravity_torque(q[1]) - arm.mass_matrix(q[1]) @ held[1] - arm.coriolis_matrix(q[1], qd[1]) @ qd[1]
    )
    assert np.allclose(friction, [30.0, 30.0])  # the second moves and takes the first along
    assert held[2, 0] > 0
    assert held[2, 1] == 0
    assert held[3, 0] > 0 > held[3, 1]
    start = arm.simulate(q, qd, 1e-3, tau, dt=1e-3, torque_limits=False)
    assert np.allclose(start.qdd[:, 0], held, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_held_joints_solve_the_complementarity_problem(seed):
    rng = np.random.default_rng(seed)
    limits = rng.uniform(0, 20.0, 3)
    arm = cr.load("modern_robotics_3r").without_friction().edit(joints={"*": {"coulomb": limits.tolist()}}).reference
    q, tau = rng.normal(size=(10, 3)), rng.normal(size=(10, 3)) * 20
    qdd = arm.forward_dynamics(q, np.zeros(3), tau, stick=True)
    free = tau - arm.gravity_torque(q)
    f = free - (arm.mass_matrix(q) @ qdd[..., None])[..., 0]
    assert (np.abs(f) <= limits * (1 + 1e-9)).all()
    sticks = qdd == 0
    assert sticks.any()
    assert not sticks.all()
    assert np.allclose(f[~sticks], (np.sign(qdd) * limits)[~sticks], rtol=1e-9)


def test_holding_takes_wrenches_and_robots_without_dry_friction():
    arm = cr.load("planar_2r").edit(gravity=[0, 0, 0]).edit(joints={"*": {"coulomb": [3.0, 3.0]}}).reference
    q, rest = [0.0, np.pi / 2], np.zeros(2)
    push = {"tip": [0, 0, 0, -4.0, 0, 0]}
    assert (arm.forward_dynamics(q, rest, rest, external=push, stick=True) != 0).any()
    assert (arm.forward_dynamics(q, rest, rest, tip_wrench=[0, 0, 0, 2.0, 0, 0], stick=True, frame="body") == 0).all()
    smooth = arm.without_friction()
    assert np.allclose(
        smooth.forward_dynamics(q, rest, [1.0, 0], stick=True), smooth.forward_dynamics(q, rest, [1.0, 0])
    )


def test_a_loop_is_held_by_the_friction_of_its_joints():
    loop = cr.load("four_bar")
    strong, weak = (
        loop.edit(joints={"*": {"coulomb": 50.0}}).reference,
        loop.edit(joints={"*": {"coulomb": 1e-6}}).reference,
    )
    q, rest, tau = loop.home(), np.zeros(loop.nv), [5.0, 0.0, 0.0]
    assert (strong.forward_dynamics(q, rest, tau, stick=True) == 0).all()
    free = loop.reference.forward_dynamics(q, rest, tau)
    assert np.allclose(weak.forward_dynamics(q, rest, tau, stick=True), free, atol=1e-3 * np.abs(free).max())


def test_a_torque_that_is_no_number_is_not_held():
    arm = cr.load("planar_2r").edit(joints={"*": {"coulomb": 30.0}})
    for robot in (arm, arm.reference):
        qdd = robot.forward_dynamics(np.zeros((2, 2)), np.zeros(2), [[0, 0], [np.nan, 0]], stick=True)
        assert (qdd[0] == 0).all()
        assert np.isnan(qdd[1]).any()
    with pytest.raises(ShapeError, match="stick must be True or False"):
        arm.forward_dynamics([0, 0], [0, 0], [0, 0], stick="yes")


# --- in simulations ---


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "dop853"])
def test_a_block_breaks_away_at_the_static_level_and_slides_with_the_kinetic_one(method):
    robot = block(0.0, 2.0).edit(joints={"*": {"static": 5.0}}).reference  # 2 kg
    still = robot.simulate([0.0], None, 0.05, [4.9], integrator=method, dt=5e-3)
    assert (still.qd == 0).all()
    assert np.allclose(still.friction, 4.9)
    moving = robot.simulate([0.0], None, 0.05, [5.1], integrator=method, dt=5e-3)
    assert moving.qd[-1, 0] == pytest.approx((5.1 - 2.0) / 2.0 * 0.05, rel=1e-9)
    assert moving.friction[-1, 0] == pytest.approx(2.0)


def test_a_ramp_of_force_breaks_away_when_it_reaches_the_static_level():
    robot = block(0.0, 2.0).edit(joints={"*": {"static": 5.0}}).reference
    ramp = cr.Samples([0.0, 1.0], [[0.0], [10.0]])
    motion = robot.simulate([0.0], None, 0.8, ramp, integrator="dop853", dt=0.05)
    t = motion.t[-1] - 0.5  # from there on 2 a = 10 t - 2
    assert motion.qd[-1, 0] == pytest.approx((5.0 - 2.0) / 2 * t + 2.5 * t**2, rel=1e-6)


def test_what_sticking_joints_hold_is_asked_again_after_others_broke_away():
    rng = np.random.default_rng(1)
    kinetic, static = np.array([4.0, 3.0, 2.0]), np.array([9.0, 7.0, 5.0])
    plain = cr.load("modern_robotics_3r").without_friction()
    robot = plain.edit(joints={"*": {"coulomb": kinetic.tolist(), "static": static.tolist()}}).reference
    q, tau = rng.normal(size=(200, 3)), rng.normal(size=(200, 3)) * 10
    qdd = robot.forward_dynamics(q, np.zeros(3), tau, stick=True)
    f = tau - robot.gravity_torque(q) - (robot.mass_matrix(q) @ qdd[..., None])[..., 0]
    moves = qdd != 0
    assert np.allclose(np.abs(f)[moves], np.broadcast_to(kinetic, f.shape)[moves], rtol=1e-9)
    within = (np.abs(f) <= static * (1 + 1e-9)) | moves
    assert within.all(axis=1).mean() > 0.99  # a third joint may break away one step later


def test_stribeck_friction_brakes_as_an_integrator_of_its_own_finds():
    from scipy.integrate import solve_ivp

    robot = block(0.0, 2.0).edit(joints={"*": {"static": 5.0, "stribeck": 0.3}}).reference
    found = solve_ivp(
        lambda t, y: [y[1], -(2 + 3 * np.exp(-((y[1] / 0.3) ** 2))) / 2], (0, 0.3), [0, 1.0], rtol=1e-10, atol=1e-12
    )
    motion = robot.simulate([0.0], [1.0], 0.3, dt=5e-3)
    assert motion.q[-1, 0] == pytest.approx(found.y[0, -1], rel=1e-7)


def test_a_law_of_ones_own_that_jumps_at_rest_moves_and_holds_as_coulomb_friction():
    plain = block(0.0, 0.0)
    named = plain.edit(joints={"*": {"viscous": 0.1, "coulomb": 3.0, "coulomb_negative": 2.0}}).reference
    own = plain.edit(joints={"*": {"friction_function": sign_like(3.0, 2.0)}}).reference
    for push, speed in ((2.9, 0.0), (-2.1, 0.0), (0.5, 1.0), (-1.0, -0.5)):
        a, b = (r.simulate([0.0], [speed], 0.6, [push], dt=0.02) for r in (named, own))
        assert np.allclose(a.q, b.q, atol=1e-12)
        assert np.allclose(a.friction, b.friction, atol=1e-9)
    assert (own.simulate([0.0], None, 0.1, [2.9], dt=0.02).qd == 0).all()


def test_compiled_and_written_simulations_agree_with_all_of_friction(rich):
    own = rich.edit(
        joints={"joint2": {"friction_function": lambda q, qd: 0.2 * np.tanh(qd / 0.1) * (1 + 0.5 * np.sin(q))}}
    )
    a, b = (r.simulate([0.3, -0.5], [0.2, 0.0], 0.1, dt=5e-3) for r in (own, own.reference))
    assert np.allclose(a.q, b.q, atol=1e-12)
    assert np.allclose(a.friction, b.friction, atol=1e-9)


# --- laws of the user's own ---


def test_a_law_is_known_by_what_it_computes_and_not_by_its_name():
    arm = cr.load("pendulum")
    robots = [arm.edit(joints={"*": {"friction_function": lambda q, qd, c=c: c * qd}}) for c in (1.0, 2.0, 2.0)]
    assert [r.friction_torque([3.0], [0.0])[0] for r in robots] == [3.0, 6.0, 6.0]
    prints = [fingerprint(r) for r in robots]
    assert prints[0] != prints[1] == prints[2]
    assert robots[0] != robots[1]
    assert robots[1] == robots[2]


def test_a_law_stays_as_it_was_when_what_it_reads_changes():
    numbers = {"c": 1.0}
    arm = cr.load("pendulum").edit(joints={"*": {"friction_function": lambda q, qd: numbers["c"] * qd}})
    numbers["c"] = 5.0
    assert arm.friction_torque([3.0], [0.0])[0] == 3.0
    assert arm.reference.friction_torque([3.0], [0.0])[0] == 3.0


def test_a_law_prints_its_formula_in_equations():
    arm = cr.load("pendulum").edit(
        joints={"*": {"friction_function": lambda q, qd: 0.5 * np.tanh(qd / 0.25) + 0.125 * np.sign(qd)}}
    )
    assert str(arm.equations().friction[0]) == "tanh(4*qdot_1)/2 + sign(qdot_1)/8"


def cubic(q, qd):
    return 0.5 * qd**3


def test_a_law_that_python_can_find_again_is_pickled_with_its_robot():
    arm = cr.load("pendulum").edit(joints={"*": {"friction_function": cubic}})
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    assert again.reference.friction_torque([2.0], [0.0])[0] == 4.0
    assert repr(arm.model.joints[0].dofs[0].friction_function) == "<friction function cubic>"


BAD_LAWS = {
    "no function": (3.0, ShapeError, r"function of joint 'hinge' must be a function of \(q, qd\), .*got 3.0"),
    "a class": (Dof, ShapeError, "must be a function"),
    "an if": (lambda q, qd: 1.0 if qd > 0 else -1.0, ShapeError, "cannot be traced.*where in place of if"),
    "one argument": (lambda qd: qd, ShapeError, "cannot be traced: TypeError"),
    "two numbers": (lambda q, qd: np.array([1.0, 2.0]), ShapeError, "must return one number"),
    "driving": (lambda q, qd: -qd, ModelError, "drives the joint instead of resisting"),
    "infinite": (lambda q, qd: qd / (qd - 1.0) ** 2, ModelError, "gives inf at q = .* must be finite everywhere"),
    "a memory": (
        lambda q, qd, seen=[]: seen.append(1) or qd * len(seen), ShapeError, "when traced and .* when called"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LAWS)
def test_a_law_that_cannot_be_used_is_refused(name):
    law, error, match = BAD_LAWS[name]
    with pytest.raises(error, match=match):
        cr.load("pendulum").edit(joints={"*": {"friction_function": law}})


def test_laws_go_to_joints_by_name_and_away_again():
    arm = cr.load("planar_2r").edit(joints={"joint2": {"friction_function": cubic}})
    assert arm.reference.friction_torque([1.0, 2.0], [0, 0]).tolist() == [0.0, 4.0]
    assert arm.edit(joints={"joint2": {"friction_function": None}}) == cr.load("planar_2r")
    assert arm.without_friction() == cr.load("planar_2r")
    with pytest.raises(UnknownNameError, match="did you mean 'joint2'"):
        arm.edit(joints={"joint_2": {"friction_function": cubic}})
    with pytest.raises(ModelError, match="the friction of joint 'joint2' depends on its position: give q too"):
        arm.friction_torque([1.0, 1.0])
    law = FrictionFunction(cubic)
    assert (
        cr.load("planar_2r").edit(joints={"*": {"friction_function": law}}).model.joints[0].dofs[0].friction_function
        is law
    )


# --- files, edits and checks ---


def test_numbers_of_friction_go_through_files_and_functions_do_not(rich, tmp_path):
    for suffix in ("toml", "json"):
        rich.save(tmp_path / f"arm.{suffix}")
        assert cr.load(tmp_path / f"arm.{suffix}").model.joints == rich.model.joints
    even = cr.load("pendulum").edit(joints={"*": {"coulomb": 1.0, "static": 2.0}})
    even.save(tmp_path / "even.toml")
    text = (tmp_path / "even.toml").read_text(encoding="utf-8")
    assert "static = 2" in text
    assert "static_negative" not in text
    assert cr.load(tmp_path / "even.toml").model.joints == even.model.joints
    with pytest.raises(FormatError, match=r"joint 'hinge' has a friction function of its own, .* Python code"):
        even.edit(joints={"*": {"friction_function": cubic}}).save(tmp_path / "own.toml")
    for robot in (even, cr.load("pendulum").edit(joints={"*": {"friction_function": cubic}})):
        with pytest.raises(
            FormatError, match="friction that changes with speed or position, which URDF cannot express"
        ):
            to_urdf(robot.edit(gravity=(0.0, 0.0, -9.81)))
    plain, lost = without_inexpressible(even.edit(joints={"*": {"friction_function": cubic}}).model)
    assert "friction at rest is that in motion, without Stribeck effect and ripple: joints 'hinge'" in lost
    assert "friction functions, which are Python code, are left out: joints 'hinge'" in lost
    assert plain.joints[0].dofs[0].coulomb == 1.0


IMPOSSIBLE = {
    "static below coulomb": ({"coulomb": 2.0, "static": 1.0}, "static, the friction at rest, is 1.0, below coulomb"),
    "static below the other way": (
        {"coulomb": 1.0, "coulomb_negative": 3.0, "static": 2.0}, "static_negative, .* below coulomb_negative"),
    "negative static": ({"static": -1.0}, "static must not be negative"),
    "negative speed": ({"coulomb": 1.0, "static": 2.0, "stribeck": -0.1}, "stribeck, a speed, must not be negative"),
    "speed alone": ({"coulomb": 1.0, "stribeck": 0.1}, "there is no static; give it too"),
    "large ripple": ({"coulomb": 1.0, "ripple": 1.5}, "ripple, a share of dry friction, must be from 0 to 1"),
    "infinite": ({"static": np.inf}, "static must be finite"),
    "nan": ({"coulomb": 1.0, "ripple_phase": np.nan}, "ripple_phase must be finite"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_friction_that_cannot_be_is_refused_with_the_reason(name):
    numbers, match = IMPOSSIBLE[name]
    with pytest.raises(ModelError, match=match):
        cr.load("pendulum").edit(joints={"*": {**numbers}})


def test_friction_that_depends_on_position_needs_a_coordinate():
    ball = cr.load("pendulum").floating()
    for change in ({"coulomb": 1.0, "ripple": 0.5}, {"friction_function": cubic}):
        with pytest.raises(ModelError, match="friction of a free joint cannot depend on its position"):
            ball.edit(joints={"*": {**change}})


def test_joints_and_comparisons_tell_of_all_friction(rich):
    text = " ".join(str(rich.joints["joint1"]).split())
    for part in ("static 1.5 forwards, 0.9 backwards N m", "Stribeck speed 0.2 rad/s", "ripple 0.4 sin(3 q + 0.7)"):
        assert part in text
    other = rich.edit(joints={"joint1": {"stribeck": 0.3}, "joint2": {"friction_function": cubic}})
    told = " ".join(str(rich.compare(other)).split())
    assert "Stribeck speed" in told
    assert "<friction function cubic>" in told
    assert not rich.compare(other, ignore=["friction"])


def test_time_optimal_plans_refuse_friction_that_changes(rich):
    limited = rich.edit(joints={"*": {"velocity": 2.0, "effort": 100.0}})
    with pytest.raises(ModelError, match="friction of joints 'joint1', 'joint2' changes with speed or position"):
        cr.plan(limited, [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0]], method="time_optimal", acceleration=5.0)
