"""The regressor: Y p is the torque, for every robot and any parameters, and as Pinocchio has it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import looped, moving, state, tree

import chainrule as cr
from chainrule.algorithms.regressor import PARTS

DRY = {"coulomb": 0.5, "coulomb_negative": 0.3, "static": 0.9, "static_negative": 0.7, "stribeck": 0.4, "ripple": 0.2}
ARM = (
    cr.load("planar_3r")
    .edit(joints={"*": {"viscous": 0.2, "ripple_waves": 6.0, "ripple_phase": 0.3}, "joint1": DRY})
    .edit(
        joints={
            "joint2": {"friction_function": lambda q, qd: 0.3 * qd**3},
            "joint3": {"friction_function": lambda q, qd: 0.4 * np.sign(qd) * (1.5 + np.sin(q))},
        }
    )
    .with_spring("base", "tip", (0.3, 0.2, 0.1), stiffness=40.0, rest_length=0.7, damping=3.0, force=-5.0)
)
"""An arm with every kind of friction, and with a spring between links."""


def changed(robot, seed, spread=0.05):
    """A robot with other parameters, all of them changed a little, and a friction function left as it is."""
    rng = np.random.default_rng(seed)
    factors = 1 + spread * rng.uniform(-1, 1, len(robot.parameters.values))
    p = robot.parameters.values * factors + 0.01 * np.abs(rng.normal(size=len(factors)))
    laws = [i for i, name in enumerate(robot.parameters.names) if name.endswith("friction_function")]
    p[laws] = 1.0
    return robot.parameters.with_values(p, check=False), p


@pytest.mark.parametrize("seed", range(3))
def test_torques_of_trees_with_all_joint_kinds_are_linear_in_the_parameters(seed):
    robot = tree(seed).reference
    q, qd, qdd = state(robot, seed, (4,))
    Y = robot.parameters.regressor(q, qd, qdd)
    assert_allclose(Y @ robot.parameters.values, robot.inverse_dynamics(q, qd, qdd), atol=1e-11)
    other, p = changed(robot, seed)
    assert_allclose(other.parameters.values, p, rtol=1e-12, atol=1e-13)
    assert_allclose(Y @ p, other.reference.inverse_dynamics(q, qd, qdd), atol=1e-11)


def test_all_laws_of_friction_and_springs_between_links_have_columns():
    q, qd, qdd = state(ARM, 1, (5,))
    Y = ARM.reference.parameters.regressor(q, qd, qdd)
    assert_allclose(Y @ ARM.parameters.values, ARM.reference.inverse_dynamics(q, qd, qdd), atol=1e-12)
    assert_allclose(
        Y @ ARM.parameters.values, ARM.parameters.regressor(q, qd, qdd) @ ARM.parameters.values, atol=1e-11
    )  # compiled
    other, p = changed(ARM, 2)
    assert_allclose(Y @ p, other.reference.inverse_dynamics(q, qd, qdd), atol=1e-12)
    names = set(ARM.parameters.names)
    assert {"joint1.static", "joint1.static_negative", "joint2.friction_function", "joint3.friction_function"} <= names
    assert {f"{ARM.model.springs[0].name}.spring_{x}" for x in ("stiffness", "damping", "preload")} <= names


@pytest.mark.parametrize("parts", [["links"], ["rotors", "friction"], ["springs"], ["friction", "links"], []])
def test_parts_are_columns_of_the_whole(parts):
    robot = tree(3, ("revolute", "prismatic", "spherical")).reference
    q, qd, qdd = state(robot, 3)
    whole, places = robot.parameters.regressor(q, qd, qdd), list(robot.parameters.indices(parts))
    assert_allclose(robot.parameters.regressor(q, qd, qdd, parts=parts), whole[:, places])
    assert robot.parameters.indices() == robot.parameters.indices(PARTS) == tuple(range(whole.shape[1]))


def test_compiled_code_gives_the_same_on_batches_and_single_states():
    robot = tree(5, ("revolute", "universal", "fixed", "helical"))
    q, qd, qdd = state(robot, 5, (3, 2))
    Y = robot.parameters.regressor(q, qd, qdd)
    assert Y.shape == (3, 2, robot.nv, len(robot.parameters.values))
    assert_allclose(Y, robot.reference.parameters.regressor(q, qd, qdd), atol=1e-12)
    assert_allclose(robot.parameters.regressor(q[1, 1], qd[1, 1], qdd[1, 1]), Y[1, 1], atol=1e-12)


def test_links_that_no_joint_moves_have_no_columns_and_welded_ones_have_their_own():
    robot = tree(4, ("fixed", "revolute", "fixed"), mimic=False, shuffle=False).reference
    owners = {name.split(".")[0] for name in robot.parameters.names if name.endswith(".mass")}
    assert "base" not in owners
    assert owners == {
        link for link in robot.link_names[1:] if np.abs(robot.jacobian(robot.neutral(), link)).max() > 0
    }  # fmt: skip
    assert len(owners) < len(robot.link_names) - 1


def test_a_free_base_has_no_friction_columns_unless_it_has_friction():
    dog = cr.load("pendulum").floating()
    assert not any(name.startswith("floating_base") for name in dog.parameters.names)
    oiled = dog.edit(joints={"floating_base": {"viscous": 0.1}})
    assert "floating_base.vx.viscous" in oiled.parameters.names


@pytest.mark.parametrize("seed", [0, 1])
def test_closed_loops_share_torques_linearly(seed):
    robot, _ = looped(seed, ("point",), ("revolute", "prismatic", "spherical", "universal"))
    robot = robot.reference
    q, qd, qdd = moving(robot, seed)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_allclose(
        robot.parameters.regressor(q, qd, qdd) @ robot.parameters.values, tau, atol=1e-8 * np.abs(tau).max()
    )


def test_pinocchio_has_the_same_columns():
    pin = pytest.importorskip("pinocchio")
    from peers import Pinocchio, robots_folder, stripped

    order = [0, 1, 2, 3, 4, 6, 9, 5, 7, 8]  # Pinocchio's inertia: xx, xy, yy, xz, yz, zz
    for name, floating in (("ur_description/urdf/ur5_robot.urdf", False), ("solo_description/robots/solo.urdf", True)):
        urdf = stripped(robots_folder() / name, floating=floating)
        robot = cr.Robot.from_urdf(urdf, check=False).merge_fixed().reference
        peer = Pinocchio(robot, urdf)
        q, qd, qdd = state(robot, 0)
        theirs = pin.computeJointTorqueRegressor(peer.model, peer.data, peer.q(q), peer.G @ qd, peer.G @ qdd)
        theirs = (peer.G.T @ theirs).reshape(robot.nv, -1, 10)[:, :, order]
        of = {str(peer.model.names[i]): theirs[:, i - 1] for i in range(1, peer.model.njoints)}
        ours = robot.parameters.regressor(q, qd, qdd, parts=["links"]).reshape(robot.nv, -1, 10)
        for body, Y in zip(robot.model.bodies, np.moveaxis(ours, 1, 0), strict=True):
            assert_allclose(Y, of[body.joint.name], atol=1e-11)


# --- base parameters ---


@pytest.mark.parametrize(("name", "count"), [("planar_2r", 6), ("panda", 43), ("puma560", 36)])
def test_the_number_of_base_parameters_is_the_published_one(name, count):
    """Panda: Gaz et al. 2019; PUMA 560: Mayeda, Yoshida & Osuka 1990."""
    robot = cr.load(name).reference
    base = robot.parameters.base(parts=["links"])
    assert len(base.columns) == len(base.names) == len(base.values) == count
    q, qd, qdd = state(robot, 7, (3,))
    places = list(robot.parameters.indices(["links"]))
    Y = robot.parameters.regressor(q, qd, qdd, parts=["links"])
    tau = Y @ robot.parameters.values[places]
    assert_allclose(Y[..., list(base.columns)] @ base.values, tau, atol=1e-9 * np.abs(tau).max())
    assert_allclose(Y[..., list(base.columns)] @ base.matrix, Y, atol=1e-8)


def test_parameters_nearest_to_the_robots_own_have_the_base_parameters_asked_for():
    robot = cr.load("planar_2r").reference
    base = robot.parameters.base(parts=["links"])
    assert_allclose(base.parameters(base.values), base.nominal)
    wanted = base.values * 1.1
    found = robot.parameters.with_values(base.parameters(wanted), parts=["links"], check=False)
    assert_allclose(found.reference.parameters.base(parts=["links"]).values, wanted, atol=1e-9)
    with pytest.raises(cr.ShapeError, match=r"values must have shape \(6,\), got \(5,\)"):
        base.parameters(np.zeros(5))


def test_base_parameters_of_loops_are_found_on_closed_states():
    robot = cr.load("four_bar").reference
    base = robot.parameters.base(parts=["links"])
    rng = np.random.default_rng(3)
    q = robot.random_state(rng, (3,))
    qd = robot.loops.consistent_velocity(q, rng.normal(size=(3, robot.nv)))
    qdd = robot.loops.consistent_acceleration(q, qd, np.zeros_like(qd))
    Y = robot.parameters.regressor(q, qd, qdd, parts=["links"])
    assert_allclose(Y[..., list(base.columns)] @ base.values, robot.inverse_dynamics(q, qd, qdd), atol=1e-8)
    assert len(base.columns) < len(robot.parameters.indices(["links"])) / 2


def test_unknown_parts_are_refused():
    with pytest.raises(cr.UnknownNameError, match="no part of a robot named 'link'; did you mean 'links'"):
        cr.load("pendulum").parameters.regressor([0.0], [0.0], [0.0], parts=["link"])
