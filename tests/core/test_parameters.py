"""Functions of a family of robots: numbers of a robot as arguments."""

import numpy as np
import pytest
from families import bodies, edited, numbers
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.compile.kernel import Kernel
from chainrule.core.parameters import OpenNumbers
from chainrule.model.parameters import KINDS

JOINTS = ["revolute", "prismatic", "fixed", "universal", "screw", "moved"]
ARM = cr.load("planar_2r").with_frame("tool", [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def close(ours, theirs, tolerance=1e-12):
    assert ours.shape == theirs.shape
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(1.0, np.abs(theirs).max(initial=0)))


FUNCTIONS = {
    "inverse_dynamics": lambda r, q, qd, qdd, **p: r.inverse_dynamics(q, qd, qdd, **p),
    "forward_dynamics": lambda r, q, qd, qdd, **p: r.forward_dynamics(q, qd, qdd, **p),
    "sticking_dynamics": lambda r, q, qd, qdd, **p: r.forward_dynamics(q, 0 * qd, qdd, stick=True, **p),
    "bias": lambda r, q, qd, qdd, **p: r.bias(q, qd, **p),
    "mass_matrix": lambda r, q, qd, qdd, **p: r.mass_matrix(q, **p),
    "coriolis_matrix": lambda r, q, qd, qdd, **p: r.coriolis_matrix(q, qd, **p),
    "gravity_torque": lambda r, q, qd, qdd, **p: r.gravity_torque(q, **p),
    "friction_torque": lambda r, q, qd, qdd, **p: r.friction_torque(qd, q, **p),
    "torque_terms": lambda r, q, qd, qdd, **p: np.stack([*r.torque_terms(q, qd, qdd, **p).values()]),
    "joint_wrenches": lambda r, q, qd, qdd, **p: r.joint_wrenches(q, qd, qdd, **p),
    "kinetic_energy": lambda r, q, qd, qdd, **p: r.kinetic_energy(q, qd, **p),
    "potential_energy": lambda r, q, qd, qdd, **p: r.potential_energy(q, **p),
    "center_of_mass": lambda r, q, qd, qdd, **p: r.center_of_mass(q, **p),
    "pose": lambda r, q, qd, qdd, **p: r.pose(q, r.link_names[-1], **p),
    "poses": lambda r, q, qd, qdd, **p: r.poses(q, **p),
    "jacobian": lambda r, q, qd, qdd, **p: r.jacobian(q, r.link_names[-1], **p),
}


@given(seed=st.integers(0, 10_000), chosen=st.sets(st.sampled_from(sorted(FUNCTIONS)), min_size=3, max_size=3))
@settings(max_examples=6, phases=[Phase.explicit, Phase.generate])
def test_functions_of_a_family_are_those_of_edited_robots(seed, chosen):
    robot = tree(seed, JOINTS, mimic=seed % 3 == 0).reference
    q, qd, qdd = state(robot, seed, (2,))
    parameters = numbers(robot, np.random.default_rng(seed), 2)
    ours = {name: FUNCTIONS[name](robot, q, qd, qdd, parameters=parameters) for name in chosen}
    for k in range(2):
        one = edited(robot, {name: rows[k] for name, rows in parameters.items()}).reference
        for name in chosen:
            row = ours[name][:, k] if name == "torque_terms" else ours[name][k]
            close(row, FUNCTIONS[name](one, q[k], qd[k], qdd[k]), 1e-10 if "dynamics" in name else 1e-12)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "poses"])
def test_compiled_functions_of_a_family_are_the_reference_path(name):
    robot = tree(5, JOINTS)
    parameters = numbers(robot, np.random.default_rng(5), 3)
    arguments = state(robot, 5, (3,))
    close(
        FUNCTIONS[name](robot, *arguments, parameters=parameters),
        FUNCTIONS[name](robot.reference, *arguments, parameters=parameters),
        1e-10,
    )


def test_every_kind_is_tried():
    robot = tree(1, JOINTS)
    assert {name.partition(":")[0] for name in numbers(robot, np.random.default_rng(0), 1)} == set(KINDS)


def test_other_numbers_compile_nothing(monkeypatch):
    made = []
    init = Kernel.__init__
    monkeypatch.setattr(Kernel, "__init__", lambda self, *a: made.append(a[1:]) or init(self, *a))
    arm = ARM.with_gravity((0.1, -9.8, 0.0))
    q = np.zeros(2)
    for mass in (0.5, 1.0, 2.0):
        arm.gravity_torque(q, parameters={"payload:tool": mass})
        arm.gravity_torque(np.zeros((5, 2)), parameters={"payload:tool": np.full((5, 4), mass)})
    assert len(made) == 1
    arm.gravity_torque(q, parameters={"mass:link2": 2.0})
    assert len(made) == 2


def test_numbers_broadcast_with_the_states():
    masses = np.array([0.0, 1.0, 2.0])
    tau = ARM.reference.gravity_torque([0.0, 0.0], parameters={"payload:tool": masses[:, None]})
    one = ARM.reference.gravity_torque([0.0, 0.0])
    assert_allclose(tau, one + 9.81 * np.outer(masses, [2.5, 1.5]), rtol=1e-12)
    both = ARM.reference.gravity_torque(np.zeros((4, 1, 2)), parameters={"payload:tool": masses[:, None]})
    assert both.shape == (4, 3, 2)
    with pytest.raises(cr.ShapeError, match=r"do not fit together: q \(4, 2\), parameters\['payload:tool'\] \(3, 10\)"):
        ARM.reference.gravity_torque(np.zeros((4, 2)), parameters={"payload:tool": masses[:, None]})


@pytest.mark.parametrize("nothing", [None, 0, 0.0, np.zeros(10), [0.0], np.zeros(4)])
def test_no_payload(nothing):
    for robot in (ARM.reference, ARM):
        close(robot.gravity_torque([0.3, 0.2], parameters={"payload:tool": nothing}), robot.gravity_torque([0.3, 0.2]))


def test_a_body_without_mass_takes_a_payload_or_none():
    light = ARM.attach(cr.load("pendulum").with_link("rod", mass=0.0, inertia=(0, 0, 0)), link="tool", prefix="p_")
    for robot in (light.reference, light):
        rows = np.zeros((2, 10))
        rows[1, :2] = 1.5, 0.2
        tau = robot.inverse_dynamics(*np.full((3, 3), 0.4), parameters={"payload:p_rod": rows})
        for k, mass in enumerate((0.0, 1.5)):
            one = light.reference.with_payload(mass, (0.2, 0.0, 0.0), link="p_rod").reference
            close(tau[k], one.inverse_dynamics(*np.full((3, 3), 0.4)))


def test_a_link_on_a_fixed_joint_is_a_parameter():
    arm = ARM.attach(cr.load("pendulum").lock({"hinge": 0.3}), link="tool", prefix="p_").reference
    body = bodies(np.random.default_rng(3), 1)[0]
    ours = arm.mass_matrix([0.4, 0.2], parameters={"link:p_rod": body})
    close(ours, arm.with_link("p_rod", mass=body[0], com=body[1:4], inertia=body[4:]).reference.mass_matrix([0.4, 0.2]))


def test_static_friction_of_zero_is_that_in_motion():
    arm = ARM.with_friction(coulomb=30.0).reference
    at_rest = [0.0, 0.0]
    for level in (0.0, 40.0):
        ours = arm.forward_dynamics(at_rest, at_rest, at_rest, stick=True, parameters={"static": [level, level]})
        theirs = arm.with_friction(coulomb=30.0, static=level).reference.forward_dynamics(
            at_rest, at_rest, at_rest, stick=True
        )
        close(ours, theirs)


def test_a_frame_is_moved():
    ours = ARM.reference.pose([0.0, 0.0], "tool", parameters={"origin:tool": [[0.7, 0.0, 0.0], [0.0, 0.2, 0.0]]})
    assert_allclose(ours[:, :3, 3], [[1.7, 0.0, 0.0], [1.0, 0.2, 0.0]], atol=1e-15)


def test_quantities():
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    arm = ARM.reference
    want = arm.gravity_torque([0.0, 0.0], parameters={"payload:tool": 0.5})
    close(arm.gravity_torque([0.0, 0.0], parameters={"payload:tool": 500.0 * u.gram}), want)
    mixed = [2.0 * u.kg, 10 * u.cm, 0.0, 0.0]
    close(
        arm.gravity_torque([0.0, 0.0], parameters={"payload:tool": mixed}),
        arm.gravity_torque([0.0, 0.0], parameters={"payload:tool": [2.0, 0.1, 0.0, 0.0]}),
    )
    with pytest.raises(cr.ShapeError, match="parameters\\['mass:link2'\\]"):
        arm.mass_matrix([0.0, 0.0], parameters={"mass:link2": 1.0 * u.m})


def test_lazy_states():
    array = pytest.importorskip("dask.array")
    masses = np.linspace(0.0, 1.0, 6)[:, None]
    q = np.linspace(0.0, 1.0, 12).reshape(6, 2)
    lazy = ARM.gravity_torque(array.from_array(q, chunks=(2, 2)), parameters={"payload:tool": masses})
    close(lazy.compute(), ARM.gravity_torque(q, parameters={"payload:tool": masses}))


BODY = [1.0, 0, 0, 0, 0.1, 0.1, 0.1, 0, 0, 0]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([("gravity", 1)], cr.ShapeError, "parameters must be a dictionary of names and numbers"),
        ({1: 2.0}, cr.ShapeError, "a parameter is named by a string"),
        ({"masses:link1": 1.0}, cr.UnknownNameError, "no kind of parameter named 'masses'; did you mean 'mass:LINK'"),
        ({"xyz": 1.0}, cr.UnknownNameError, "there are: 'gravity', 'length:LINK'"),
        ({"mass": 1.0}, cr.ShapeError, "is written 'mass:LINK', got 'mass'"),
        ({"gravity:link1": 1.0}, cr.ShapeError, "is written 'gravity', got 'gravity:link1'"),
        ({"viscous:": 1.0}, cr.ShapeError, "is written 'viscous:JOINT'"),
        ({"mass:link3": 1.0}, cr.UnknownNameError, "no link named 'link3'; did you mean"),
        ({"mass:tool": 1.0}, cr.UnknownNameError, "no link named 'tool'"),
        ({"mass:base": 1.0}, cr.ModelError, "link 'base' of robot 'planar_2r' has no mass"),
        ({"origin:link1": [0, 0, 0]}, cr.UnknownNameError, "no joint or frame named 'link1'"),
        ({"payload:hand": BODY}, cr.UnknownNameError, "no link or frame named 'hand'"),
        ({"viscous:elbow": 1.0}, cr.UnknownNameError, "no joint named 'elbow'"),
        ({"mass:link1": 1.0, "link:link1": BODY}, cr.ShapeError, "both change the mass of link 'link1'"),
        ({"viscous": [1, 1], "viscous:joint1": 1}, cr.ShapeError, "both change the viscous of joint 'joint1'"),
        ({"length:link1": 1, "origin:joint2": [1, 0, 0]}, cr.ShapeError, "both change the place of joint 'joint2'"),
        ({"mass:link1": -1.0}, cr.ShapeError, r"mass \(kg\) must be not negative, got -1"),
        ({"mass:link1": [[1.0], [np.nan]]}, cr.ShapeError, r"in row \(1,\): mass \(kg\) must be finite, got nan"),
        ({"length:link1": 0.0}, cr.ShapeError, r"length \(m\) must be positive, got 0"),
        ({"mass:link1": [1.0, 2.0]}, cr.ShapeError, r"for one number in each row of a batch, numbers\[..., None\]"),
        ({"link:link1": [1.0] * 9}, cr.ShapeError, r"must have 10 numbers .* \(mass \(kg\), com x \(m\)"),
        ({"link:link1": 1.0}, cr.ShapeError, "must have 10 numbers"),
        ({"link:link1": None}, cr.ShapeError, "must be real numbers"),
        ({"link:link1": ["a"] * 10}, cr.ShapeError, "must be real numbers"),
        ({"link:link1": [BODY, [-1.0, *BODY[1:]]]}, cr.ModelError, r"in row \(1,\): the body has a negative mass"),
        ({"coulomb": [2, 1], "static": [1, 2]}, cr.ModelError, "friction at rest, of joint 'joint1' less than coulomb"),
        ({"payload:tool": [1, 0, 0, 0, 1, 1, 3, 0, 0, 0]}, cr.ModelError, "violate the triangle inequality"),
        ({"payload:tool": [1, 0, 0, 0, 1, 1, 1, 2, 0, 0]}, cr.ModelError, "not positive definite"),
    ],
    ids=repr,
)
def test_numbers_that_no_robot_has_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        ARM.reference.mass_matrix([0.0, 0.0], parameters=given)


def test_rounded_and_flat_bodies_are_bodies():
    rod, plate = [1, 0, 0, 0, 0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1, 2, 0, 0, 0]
    rounded = [1, 0, 0, 0, 1.0, 1.0, 2.001, 0, 0, 0]
    for body in (rod, plate, rounded, BODY):
        ARM.reference.mass_matrix([0.0, 0.0], parameters={"payload:tool": body})


def test_a_name_for_a_joint_and_a_frame_says_nothing():
    both = ARM.with_frame("joint2")
    with pytest.raises(cr.ModelError, match="a joint and a frame named 'joint2'"):
        both.reference.pose([0.0, 0.0], parameters={"origin:joint2": [1.0, 0.0, 0.0]})


def test_fixed_joints_have_no_friction():
    locked = ARM.lock({"joint2": 0.1})
    with pytest.raises(cr.ModelError, match="joint 'joint2' of robot 'planar_2r' is fixed"):
        locked.reference.mass_matrix([0.0], parameters={"viscous:joint2": 1.0})


def test_springs_of_ball_joints_stay():
    robot = tree(1, ["spherical", "revolute"]).reference
    ball = next(joint.name for joint in robot.model.joints if joint.type == "spherical")
    for name in ("stiffness", f"rest:{ball}"):
        with pytest.raises(cr.ModelError, match=f"the spring of joint '{ball}' .* stays as it is"):
            robot.mass_matrix(robot.neutral(), parameters={name: np.ones(3)})


def test_closed_loops():
    linkage = cr.load("four_bar").reference
    q, still = linkage.home(), np.zeros(linkage.nv)
    link = linkage.link_names[1]
    ours = linkage.forward_dynamics(q, still, still, parameters={f"mass:{link}": [[1.0], [2.0]]})
    for k, mass in enumerate((1.0, 2.0)):
        close(ours[k], linkage.with_link(link, mass=mass).reference.forward_dynamics(q, still, still), 1e-9)
    with pytest.raises(cr.ModelError, match="has closed loops, whose torques are not computed with parameters"):
        linkage.inverse_dynamics(q, still, still, parameters={f"mass:{link}": 1.0})
    with pytest.raises(cr.ModelError, match="has closed loops, which another length would open"):
        linkage.mass_matrix(q, parameters={f"length:{link}": 1.0})


def test_numbers_that_were_read_are_taken_as_they_are():
    read = OpenNumbers(("payload:tool",), (np.zeros(10),))
    close(ARM.reference.mass_matrix([0.1, 0.2], parameters=read), ARM.reference.mass_matrix([0.1, 0.2]))
