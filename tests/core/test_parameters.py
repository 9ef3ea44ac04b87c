"""Functions of a family of robots: numbers of a robot as arguments."""

import numpy as np
import pytest
from families import bodies, edited, kind_of, numbers
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.compile.kernel import Kernel
from chainrule.core.parameter_values import ParameterValues
from chainrule.model.parameters import KINDS

JOINTS = ["revolute", "prismatic", "fixed", "universal", "screw", "moved"]
ARM = cr.load("planar_2r").with_frame("tool", [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def close(ours, theirs, tolerance=1e-12):
    assert ours.shape == theirs.shape
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(1.0, np.abs(theirs).max(initial=0)))


FUNCTIONS = {
    "inverse_dynamics": lambda f, q, qd, qdd, link: f.inverse_dynamics(q, qd, qdd),
    "forward_dynamics": lambda f, q, qd, qdd, link: f.forward_dynamics(q, qd, qdd),
    "sticking_dynamics": lambda f, q, qd, qdd, link: f.forward_dynamics(q, 0 * qd, qdd, stick=True),
    "bias": lambda f, q, qd, qdd, link: f.bias(q, qd),
    "mass_matrix": lambda f, q, qd, qdd, link: f.mass_matrix(q),
    "coriolis_matrix": lambda f, q, qd, qdd, link: f.coriolis_matrix(q, qd),
    "gravity_torque": lambda f, q, qd, qdd, link: f.gravity_torque(q),
    "friction_torque": lambda f, q, qd, qdd, link: f.friction_torque(qd, q),
    "torque_terms": lambda f, q, qd, qdd, link: np.stack([*f.torque_terms(q, qd, qdd).values()]),
    "joint_wrenches": lambda f, q, qd, qdd, link: f.joint_wrenches(q, qd, qdd, frame="body"),
    "kinetic_energy": lambda f, q, qd, qdd, link: f.kinetic_energy(q, qd),
    "potential_energy": lambda f, q, qd, qdd, link: f.potential_energy(q),
    "center_of_mass": lambda f, q, qd, qdd, link: f.center_of_mass(q),
    "pose": lambda f, q, qd, qdd, link: f.pose(q, link),
    "poses": lambda f, q, qd, qdd, link: f.poses(q),
    "jacobian": lambda f, q, qd, qdd, link: f.jacobian(q, link),
}


def value(name, robot, q, qd, qdd, parameters=None):
    """A function of the robot, with numbers in place of its own where there are some."""
    functions = robot if parameters is None else robot.at(parameters)
    return FUNCTIONS[name](functions, q, qd, qdd, robot.link_names[-1])


@given(seed=st.integers(0, 10_000), chosen=st.sets(st.sampled_from(sorted(FUNCTIONS)), min_size=3, max_size=3))
@settings(max_examples=6, phases=[Phase.explicit, Phase.generate])
def test_functions_of_a_family_are_those_of_edited_robots(seed, chosen):
    robot = tree(seed, JOINTS, mimic=seed % 3 == 0).reference
    q, qd, qdd = state(robot, seed, (2,))
    parameters = numbers(robot, np.random.default_rng(seed), 2)
    ours = {name: value(name, robot, q, qd, qdd, parameters) for name in chosen}
    for k in range(2):
        one = edited(robot, {name: rows[k] for name, rows in parameters.items()}).reference
        for name in chosen:
            row = ours[name][:, k] if name == "torque_terms" else ours[name][k]
            close(row, value(name, one, q[k], qd[k], qdd[k]), 1e-10 if "dynamics" in name else 1e-12)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "poses"])
def test_compiled_functions_of_a_family_are_the_reference_path(name):
    robot = tree(5, JOINTS)
    parameters = numbers(robot, np.random.default_rng(5), 3)
    arguments = state(robot, 5, (3,))
    close(
        value(name, robot, *arguments, parameters),
        value(name, robot.reference, *arguments, parameters),
        1e-10,
    )


def test_every_kind_is_tried():
    robot = tree(1, JOINTS)
    assert {kind_of(name) for name in numbers(robot, np.random.default_rng(0), 1)} == set(KINDS)


def test_other_numbers_compile_nothing(monkeypatch):
    made = []
    init = Kernel.__init__
    monkeypatch.setattr(Kernel, "__init__", lambda self, *a: made.append(a[1:]) or init(self, *a))
    arm = ARM.edit(gravity=(0.1, -9.8, 0.0))
    q = np.zeros(2)
    for mass in (0.5, 1.0, 2.0):
        arm.at({"tool.payload": mass}).gravity_torque(q)
        arm.at({"tool.payload": np.full((5, 4), mass)}).gravity_torque(np.zeros((5, 2)))
    assert len(made) == 1
    arm.at({"link2.mass": 2.0}).gravity_torque(q)
    assert len(made) == 2


def test_numbers_broadcast_with_the_states():
    masses = np.array([0.0, 1.0, 2.0])
    tau = ARM.reference.at({"tool.payload": masses[:, None]}).gravity_torque([0.0, 0.0])
    one = ARM.reference.gravity_torque([0.0, 0.0])
    assert_allclose(tau, one + 9.81 * np.outer(masses, [2.5, 1.5]), rtol=1e-12)
    both = ARM.reference.at({"tool.payload": masses[:, None]}).gravity_torque(np.zeros((4, 1, 2)))
    assert both.shape == (4, 3, 2)
    with pytest.raises(cr.ShapeError, match=r"do not fit together: q \(4, 2\), 'tool.payload' \(3, 10\)"):
        ARM.reference.at({"tool.payload": masses[:, None]}).gravity_torque(np.zeros((4, 2)))


@pytest.mark.parametrize("nothing", [None, 0, 0.0, np.zeros(10), [0.0], np.zeros(4)])
def test_no_payload(nothing):
    for robot in (ARM.reference, ARM):
        close(robot.at({"tool.payload": nothing}).gravity_torque([0.3, 0.2]), robot.gravity_torque([0.3, 0.2]))


def test_a_body_without_mass_takes_a_payload_or_none():
    light = ARM.attach(
        cr.load("pendulum").edit(links={"rod": {"mass": 0.0, "inertia": (0, 0, 0)}}), link="tool", prefix="p_"
    )
    for robot in (light.reference, light):
        rows = np.zeros((2, 10))
        rows[1, :2] = 1.5, 0.2
        tau = robot.at({"p_rod.payload": rows}).inverse_dynamics(*np.full((3, 3), 0.4))
        for k, mass in enumerate((0.0, 1.5)):
            one = light.reference.with_payload(mass, (0.2, 0.0, 0.0), link="p_rod").reference
            close(tau[k], one.inverse_dynamics(*np.full((3, 3), 0.4)))


def test_a_link_on_a_fixed_joint_is_a_parameter():
    arm = ARM.attach(cr.load("pendulum").lock({"hinge": 0.3}), link="tool", prefix="p_").reference
    body = bodies(np.random.default_rng(3), 1)[0]
    ours = arm.at({"p_rod.inertial": body}).mass_matrix([0.4, 0.2])
    close(
        ours,
        arm.edit(links={"p_rod": {"mass": body[0], "com": body[1:4], "inertia": body[4:]}}).reference.mass_matrix(
            [0.4, 0.2]
        ),
    )


def test_static_friction_of_zero_is_that_in_motion():
    arm = ARM.edit(joints={"*": {"coulomb": 30.0}}).reference
    at_rest = [0.0, 0.0]
    for level in (0.0, 40.0):
        ours = arm.at({"*.static": [level, level]}).forward_dynamics(at_rest, at_rest, at_rest, stick=True)
        theirs = arm.edit(joints={"*": {"coulomb": 30.0, "static": level}}).reference.forward_dynamics(
            at_rest, at_rest, at_rest, stick=True
        )
        close(ours, theirs)


def test_a_frame_is_moved():
    ours = ARM.reference.at({"tool.origin": [[0.7, 0.0, 0.0], [0.0, 0.2, 0.0]]}).pose([0.0, 0.0], "tool")
    assert_allclose(ours[:, :3, 3], [[1.7, 0.0, 0.0], [1.0, 0.2, 0.0]], atol=1e-15)


def test_one_number_of_several():
    masses, x, z = np.array([0.5, 2.0]), np.array([0.1, -0.3]), np.array([-1.6, -9.8])
    q, qd, qdd = state(ARM, 2, (2,))
    arm = ARM.reference
    ours = arm.at({"tool.payload.mass": masses, "link2.com.x": x, "gravity.z": z, "joint2.origin.y": x})
    whole = {
        "tool.payload": masses[:, None],
        "link2.com": np.stack([x, *np.array([arm.links["link2"].com] * 2).T[1:]], axis=-1),
        "gravity": np.stack([*np.array([arm.gravity] * 2).T[:2], z], axis=-1),
        "joint2.origin": np.stack([np.ones(2), x, np.zeros(2)], axis=-1),
    }
    close(ours.inverse_dynamics(q, qd, qdd), arm.at(whole).inverse_dynamics(q, qd, qdd))


def test_quantities():
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    arm = ARM.reference
    want = arm.at({"tool.payload": 0.5}).gravity_torque([0.0, 0.0])
    close(arm.at({"tool.payload": 500.0 * u.gram}).gravity_torque([0.0, 0.0]), want)
    mixed = [2.0 * u.kg, 10 * u.cm, 0.0, 0.0]
    close(
        arm.at({"tool.payload": mixed}).gravity_torque([0.0, 0.0]),
        arm.at({"tool.payload": [2.0, 0.1, 0.0, 0.0]}).gravity_torque([0.0, 0.0]),
    )
    with pytest.raises(cr.ShapeError, match=r"at: 'link2\.mass' takes a mass"):
        arm.at({"link2.mass": 1.0 * u.m}).mass_matrix([0.0, 0.0])


def test_lazy_states():
    array = pytest.importorskip("dask.array")
    masses = np.linspace(0.0, 1.0, 6)
    q = np.linspace(0.0, 1.0, 12).reshape(6, 2)
    lazy = ARM.at({"tool.payload.mass": masses}).gravity_torque(array.from_array(q, chunks=(2, 2)))
    close(lazy.compute(), ARM.at({"tool.payload.mass": masses}).gravity_torque(q))


BODY = [1.0, 0, 0, 0, 0.1, 0.1, 0.1, 0, 0, 0]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([("gravity", 1)], cr.ShapeError, "parameters must be a dictionary of names and values"),
        ({1: 2.0}, cr.ShapeError, "a parameter is named by a string"),
        ({"link1.masses": 1.0}, cr.UnknownNameError, "no parameter named 'link1.masses'"),
        ({"xyz": 1.0}, cr.UnknownNameError, "there are: 'gravity', 'LINK.length'"),
        ({"mass": 1.0}, cr.UnknownNameError, "no parameter named 'mass'; did you mean 'LINK.mass'"),
        ({"*.mass": 1.0}, cr.ShapeError, r"is written 'LINK.mass', got '\*.mass'"),
        (
            {"gravity.link1": 1.0},
            cr.UnknownNameError,
            "parameter 'gravity' has no number named 'link1'; there are: 'x', 'y'",
        ),
        ({".viscous": [1.0, 1.0]}, cr.ShapeError, "is written 'JOINT.viscous', got '.viscous'"),
        ({"link3.mass": 1.0}, cr.UnknownNameError, "no link named 'link3'; did you mean"),
        ({"tool.mass": 1.0}, cr.UnknownNameError, "no link named 'tool'"),
        ({"base.mass": 1.0}, cr.ModelError, "link 'base' of robot 'planar_2r' has no mass"),
        ({"link1.origin": [0, 0, 0]}, cr.UnknownNameError, "no joint or frame named 'link1'"),
        ({"hand.payload": BODY}, cr.UnknownNameError, "no link or frame named 'hand'"),
        ({"elbow.viscous": 1.0}, cr.UnknownNameError, "no joint named 'elbow'"),
        ({"link1.mass": 1.0, "link1.inertial": BODY}, cr.ShapeError, "both change the mass of link 'link1'"),
        ({"*.viscous": [1, 1], "joint1.viscous": 1}, cr.ShapeError, "both change the viscous of joint 'joint1'"),
        ({"link1.length": 1, "joint2.origin": [1, 0, 0]}, cr.ShapeError, "both change the place of joint 'joint2'"),
        ({"link1.mass": -1.0}, cr.ShapeError, r"mass \(kg\) must be not negative, got -1"),
        ({"tool.payload.mass": [1.0, -1.0]}, cr.ShapeError, r"in row \(1,\): mass \(kg\) must be not negative, got -1"),
        ({"link1.mass": [1.0, np.nan]}, cr.ShapeError, r"in row \(1,\): mass \(kg\) must be finite, got nan"),
        ({"link1.length": 0.0}, cr.ShapeError, r"length \(m\) must be positive, got 0"),
        ({"link1.inertial": [1.0] * 9}, cr.ShapeError, r"must have 10 numbers .* \(mass \(kg\), com\.x \(m\)"),
        ({"link1.inertial": 1.0}, cr.ShapeError, "must have 10 numbers"),
        ({"link1.inertial": None}, cr.ShapeError, "must be real numbers"),
        ({"link1.inertial": ["a"] * 10}, cr.ShapeError, "must be real numbers"),
        ({"link1.inertial": [BODY, [-1.0, *BODY[1:]]]}, cr.ModelError, r"in row \(1,\): the body has a negative mass"),
        (
            {"*.coulomb": [2, 1], "*.static": [1, 2]},
            cr.ModelError,
            "friction at rest, of joint 'joint1' less than coulomb",
        ),
        ({"tool.payload": [1, 0, 0, 0, 1, 1, 3, 0, 0, 0]}, cr.ModelError, "violate the triangle inequality"),
        ({"tool.payload": [1, 0, 0, 0, 1, 1, 1, 2, 0, 0]}, cr.ModelError, "not positive definite"),
    ],
    ids=repr,
)
def test_numbers_that_no_robot_has_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        ARM.reference.at(given).mass_matrix([0.0, 0.0])


def test_rounded_and_flat_bodies_are_bodies():
    rod, plate = [1, 0, 0, 0, 0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1, 2, 0, 0, 0]
    rounded = [1, 0, 0, 0, 1.0, 1.0, 2.001, 0, 0, 0]
    for body in (rod, plate, rounded, BODY):
        ARM.reference.at({"tool.payload": body}).mass_matrix([0.0, 0.0])


def test_a_name_for_a_joint_and_a_frame_says_nothing():
    both = ARM.with_frame("joint2")
    with pytest.raises(cr.ModelError, match="a joint and a frame named 'joint2'"):
        both.reference.at({"joint2.origin": [1.0, 0.0, 0.0]}).pose([0.0, 0.0])


def test_fixed_joints_have_no_friction():
    locked = ARM.lock({"joint2": 0.1})
    with pytest.raises(cr.ModelError, match="joint 'joint2' of robot 'planar_2r' is fixed"):
        locked.reference.at({"joint2.viscous": 1.0}).mass_matrix([0.0])


def test_springs_of_ball_joints_stay():
    robot = tree(1, ["spherical", "revolute"]).reference
    ball = next(joint.name for joint in robot.model.joints if joint.type == "spherical")
    for name in ("*.stiffness", f"{ball}.rest"):
        with pytest.raises(cr.ModelError, match=f"the spring of joint '{ball}' .* stays as it is"):
            robot.at({name: np.ones(3)}).mass_matrix(robot.neutral())


def test_closed_loops():
    linkage = cr.load("four_bar").reference
    q, still = linkage.home(), np.zeros(linkage.nv)
    link = linkage.link_names[1]
    ours = linkage.at({f"{link}.mass": [1.0, 2.0]}).forward_dynamics(q, still, still)
    qd = linkage.loops.consistent_velocity(q, np.ones(linkage.nv))
    qdd = linkage.loops.consistent_acceleration(q, qd, np.ones(linkage.nv))
    torques = linkage.at({f"{link}.mass": [1.0, 2.0]}).inverse_dynamics(q, qd, qdd)
    for k, mass in enumerate((1.0, 2.0)):
        one = linkage.edit(links={link: {"mass": mass}}).reference
        close(ours[k], one.forward_dynamics(q, still, still), 1e-9)
        close(torques[k], one.inverse_dynamics(q, qd, qdd), 1e-9)
    with pytest.raises(cr.ModelError, match="has closed loops, which another length would open"):
        linkage.at({f"{link}.length": 1.0}).mass_matrix(q)


EDITS = {
    "link2.mass": 1.7, "link1.com.y": 0.2, "link2.inertia": [0.1, 0.1, 0.1, 0, 0, 0], "joint2.viscous": 0.4, "joint1.origin.z": 0.1,
    "gravity.y": -3.0, "tool.payload.mass": 1.5, "joint1.rotor": 0.02, "joint2.pose.yaw": 0.3, "*.coulomb": [0.2, 0.3],
}  # fmt: skip


def test_an_edit_has_the_words_of_at():
    arm, state = ARM.reference, ([0.3, 0.4], [1.0, 2.0], [0.5, 0.6])
    for name, value in EDITS.items():
        expected = arm.at({name: value}).inverse_dynamics(*state)
        part, _, number = name.partition(".")
        kind = "links" if part in arm.link_names else "joints"
        robots = [arm.edit({name: value})]
        if part not in ("gravity", "tool") and "pose" not in name:
            robots.append(arm.edit(**{kind: {part: {number: value}}}))
        if name not in arm.parameters.names:
            robots.append(arm.parameters.with_values({name: value}))
        for robot in robots:
            assert_allclose(robot.inverse_dynamics(*state), expected, rtol=1e-12, atol=1e-12, err_msg=name)
    assert_allclose(arm.edit(EDITS).inverse_dynamics(*state), arm.at(EDITS).inverse_dynamics(*state), rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (5, cr.ShapeError, "parameters must be a dictionary"),
        ({"link2.mass": [1.0, 2.0]}, cr.ShapeError, "must be one value of one robot, got a batch"),
        ({"link2.inertia.zz": 1e6}, cr.ModelError, "edit: link 'link2' of robot 'planar_2r' .* triangle inequality"),
        ({"link2.com.w": 1.0}, cr.UnknownNameError, "parameter 'link2.com' has no number named 'w'"),
    ],
    ids=repr,
)
def test_edits_that_no_robot_has_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        ARM.reference.edit(given)


def test_numbers_that_were_read_are_taken_as_they_are():
    read = ParameterValues(("tool.payload",), (np.zeros(10),))
    close(ARM.reference.at(read).mass_matrix([0.1, 0.2]), ARM.reference.mass_matrix([0.1, 0.2]))
