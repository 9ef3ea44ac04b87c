"""Robots built line by line: equal to the bundled ones, to Pinocchio's, and refused where a line is wrong."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.core.validation import validate


def planar_2r():
    return (
        cr.build("planar_2r", along="x")
        .link("base")
        .continuous("joint1", axis="z")
        .link("link1", mass=1, com=(1, 0, 0), length=1)
        .continuous("joint2", axis="z")
        .link("link2", mass=1, com=(1, 0, 0), length=1)
        .frame("tip")
        .gravity((0, -9.81, 0))
        .configuration("home", {"joint1": math.pi / 4, "joint2": math.pi / 2})
        .configuration("straight", {"joint1": 0, "joint2": 0})
        .robot()
    )


def test_the_bundled_planar_arm():
    assert not planar_2r().compare(cr.load("planar_2r")), str(planar_2r().compare(cr.load("planar_2r")))
    np.testing.assert_array_equal(planar_2r().home(), cr.load("planar_2r").home())


def test_the_bundled_pendulum():
    pendulum = cr.load("pendulum")
    joint, rod = pendulum.joints["hinge"], pendulum.links["rod"]
    built = (
        cr.build("pendulum")
        .continuous("hinge", axis=joint.axis, origin=joint.origin)
        .link("rod", mass=rod.mass, com=rod.com, inertia=rod.inertia)
        .frame("tip", origin=pendulum.frames["tip"].origin)
        .gravity(pendulum.gravity)
        .robot()
    )
    assert not built.compare(pendulum, ignore=["configurations"])


@pytest.mark.parametrize("name", ["ur5", "panda_hand", "scara", "iiwa14"])
def test_a_bundled_arm_built_again_from_its_parts(name):
    robot = cr.load(name)
    base = robot.links[robot.link_names[0]]
    builder = cr.build(name).link(base.name, mass=base.mass, com=base.com, inertia=base.inertia)
    for joint in robot.joints.values():
        options = {} if joint.axis is None else {"axis": joint.axis}
        if joint.type != "fixed":
            keys = ("lower", "upper", "velocity", "effort", "viscous", "coulomb", "coulomb_negative", "rotor", "gear")
            options |= {key: getattr(joint, key) for key in keys}
        if joint.mimic:
            options |= dict(zip(("follows", "multiplier", "offset"), joint.mimic, strict=True))
        builder = getattr(builder, joint.type)(joint.name, parent=joint.parent, origin=joint.origin, **options)
        link = robot.links[joint.child]
        builder = builder.link(link.name, mass=link.mass, com=link.com, inertia=link.inertia)
    for frame in robot.frames.values():
        builder = builder.frame(frame.name, parent=frame.link, origin=frame.origin)
    built = builder.end_effector(robot.end_effector).robot()
    result = built.compare(robot, ignore=["configurations"])
    assert not result, str(result)


def test_against_pinocchio_built_by_hand():
    pin = pytest.importorskip("pinocchio")
    arm = (
        cr.build("arm", degrees=True)
        .revolute("waist", axis="z")
        .link("column", mass=4.0, length=0.4, radius=0.08)
        .revolute("shoulder", axis="y", lower=-120, upper=120)
        .link("upper", mass=2.0, length=0.35, shape="capsule", radius=0.05)
        .revolute("elbow", axis="y")
        .link("forearm", density=700.0, length=0.3, radius=0.04)
        .revolute("roll", axis="z", rpy=(10, 20, 30))
        .link("wrist", mass=0.5, shape="box", size=(0.1, 0.05, 0.08), length=0.1)
        .prismatic("slide", axis=(1, 0, 1))
        .link("carriage", mass=0.4, shape="sphere", radius=0.06)
        .revolute("hand", axis="-x", xyz=(0.02, 0.01, 0.07))
        .link("gripper", mass=0.3, com=(0, 0, 0.05), inertia=(1e-3, 2e-3, 1.5e-3))
        .frame("tool", xyz=(0, 0, 0.12))
        .robot()
    )
    degree = np.pi / 180
    model = pin.Model()

    def cylinder(m, r, length):
        side = m * (3 * r * r + length * length) / 12
        return pin.Inertia(m, np.array([0, 0, length / 2]), np.diag([side, side, m * r * r / 2]))

    capsule = pin.Inertia.FromCapsule(2.0, 0.05, 0.35)
    capsule = pin.Inertia(2.0, np.array([0, 0, 0.175]), capsule.inertia)
    box = pin.Inertia(0.5, np.array([0, 0, 0.05]), pin.Inertia.FromBox(0.5, 0.1, 0.05, 0.08).inertia)
    rpy = pin.rpy.rpyToMatrix(10 * degree, 20 * degree, 30 * degree)
    steps = [
        (pin.JointModelRZ(), np.eye(3), [0, 0, 0], cylinder(4.0, 0.08, 0.4)),
        (pin.JointModelRY(), np.eye(3), [0, 0, 0.4], capsule),
        (pin.JointModelRY(), np.eye(3), [0, 0, 0.35], cylinder(700.0 * np.pi * 0.04**2 * 0.3, 0.04, 0.3)),
        (pin.JointModelRZ(), rpy, [0, 0, 0.3], box),
        (pin.JointModelPrismaticUnaligned(np.array([1.0, 0, 1.0]) / np.sqrt(2)), np.eye(3), [0, 0, 0.1],
         pin.Inertia.FromSphere(0.4, 0.06)),
        (pin.JointModelRevoluteUnaligned(np.array([-1.0, 0, 0])), np.eye(3), [0.02, 0.01, 0.07],
         pin.Inertia(0.3, np.array([0, 0, 0.05]), np.diag([1e-3, 2e-3, 1.5e-3]))),
    ]  # fmt: skip
    last = 0
    for k, (kind, R, p, inertia) in enumerate(steps):
        last = model.addJoint(last, kind, pin.SE3(R, np.array(p, dtype=float)), f"j{k}")
        model.appendBodyToJoint(last, inertia, pin.SE3.Identity())
    data = model.createData()
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, qd, qdd = rng.uniform(-1, 1, (3, 6))
        np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, q, qd, qdd), atol=1e-10)
        pin.forwardKinematics(model, data, q)
        np.testing.assert_allclose(arm.pose(q, "gripper"), data.oMi[last].homogeneous, atol=1e-12)
    assert arm.limits.upper[1] == pytest.approx(120 * degree)
    np.testing.assert_allclose(arm.pose(np.zeros(6))[:3, 3], arm.pose(np.zeros(6), "gripper") [:3, 3]
                               + arm.pose(np.zeros(6))[:3, :3] @ [0, 0, 0.12])  # fmt: skip


def test_every_kind_of_joint():
    robot = (
        cr.build("all")
        .free("float").link("body", mass=1, shape="sphere", radius=0.1)
        .spherical("ball").link("a", mass=1, shape="sphere", radius=0.1)
        .universal("cardan", axes=("x", "-y")).link("b", mass=1, shape="sphere", radius=0.1)
        .planar("table", normal="z").link("c", mass=1, shape="sphere", radius=0.1)
        .cylindrical("tube", axis="x").link("d", mass=1, shape="sphere", radius=0.1)
        .helical("screw", pitch=0.01).link("e", mass=1, shape="sphere", radius=0.1)
        .continuous("wheel").link("f", mass=1, shape="sphere", radius=0.1)
        .prismatic("slide").link("g", mass=1, shape="sphere", radius=0.1)
        .fixed("bolt").link("h", mass=1, shape="sphere", radius=0.1)
        .robot()
    )  # fmt: skip
    kinds = ["free", "spherical", "universal", "planar", "cylindrical", "helical", "continuous", "prismatic", "fixed"]
    assert [joint.type for joint in robot.joints.values()] == kinds
    q = robot.random_state(np.random.default_rng(0))
    tau = np.random.default_rng(1).normal(size=robot.nv)
    qd = np.random.default_rng(2).normal(size=robot.nv)
    again = robot.inverse_dynamics(q, qd, robot.forward_dynamics(q, qd, tau))
    np.testing.assert_allclose(again, tau, atol=1e-8)


def test_branches_frames_and_mimics():
    trunk = cr.build("gripper", along="x").link("palm", mass=0.5, shape="box", size=(0.1, 0.1, 0.02))
    trunk = trunk.frame("left_mount", xyz=(0, 0.04, 0)).frame("right_mount", xyz=(0, -0.04, 0))
    hand = (
        trunk.prismatic("left", axis="y", parent="left_mount", lower=0, upper=0.04)
        .link("left_finger", mass=0.05, length=0.08, radius=0.01)
        .prismatic("right", axis="-y", parent="right_mount", lower=0, upper=0.04, follows="left")
        .link("right_finger", mass=0.05, length=0.08, radius=0.01)
        .end_effector("palm")
        .robot()
    )
    assert hand.nv == 1
    assert hand.links["right_finger"].parent == "palm"
    np.testing.assert_allclose(hand.pose([0.01], "right_finger")[:3, 3], [0, -0.05, 0])
    assert len(hand.model.geometries) == 3
    assert len(trunk.links) == 1  # the trunk is as it was


def test_lengths_and_directions():
    robot = cr.build().revolute("j", axis="y").link("rod", mass=2, length=0.5, along=(1, 0, 1)).frame("end").robot()
    far = 0.5 / math.sqrt(2)
    np.testing.assert_allclose(robot.pose([0.0])[:3, 3], [far, 0, far])
    np.testing.assert_allclose(robot.links["rod"].com, [far / 2, 0, far / 2])
    np.testing.assert_allclose(robot.mass_matrix([0.3]), [[2 * 0.25 / 3]])
    down = (
        cr.build(along="-z").revolute("j", axis="y").link("rod", mass=2, length=0.5, radius=0.02).frame("end").robot()
    )
    np.testing.assert_allclose(down.pose([0.0])[:3, 3], [0, 0, -0.5])


def test_degrees_everywhere():
    robot = (
        cr.build("d", degrees=True)
        .revolute("j", axis="y", lower=-90, upper=180, velocity=360, rest=45, stiffness=2.0, rpy=(0, 90, 0))
        .link("rod", mass=1, length=1, radius=0.1)
        .prismatic("s", lower=0, upper=0.5, velocity=2)
        .link("tip", mass=1, shape="sphere", radius=0.1)
        .configuration("home", {"j": 30, "s": 0.2})
        .robot()
    )
    joint = robot.joints["j"]
    assert (joint.lower, joint.upper) == pytest.approx((-math.pi / 2, math.pi))
    assert (joint.velocity, joint.rest, joint.stiffness) == pytest.approx((2 * math.pi, math.pi / 4, 2.0))
    assert joint.origin[0, 0] == 0.0  # a quarter turn is exact
    assert robot.joints["s"].upper == 0.5
    np.testing.assert_allclose(robot.home(), [math.pi / 6, 0.2])


def test_zeros_stay_exact_so_that_equations_stay_short():
    assert str(planar_2r().equations().tau[0]) == str(cr.load("planar_2r").equations().tau[0])
    turned = (
        cr.build("t", degrees=True, along="x").revolute("a", rpy=(90, 0, 0)).link("l", mass=1, length=1, radius=0.1)
    )
    R = turned.robot().joints["a"].origin[:3, :3]
    assert set(np.abs(R).ravel().tolist()) == {0.0, 1.0}


def begin():
    return cr.build("arm").revolute("a").link("x", mass=1, length=1, radius=0.1)


WRONG = [
    (lambda: cr.build("arm").robot(), "build 'arm': there are no links; each call returns a new builder"),
    (lambda: begin().revolute("b").robot(), "build 'arm': the joint 'b' has no link"),
    (lambda: begin().revolute("b").revolute("c"), r"revolute\('c'\): the joint 'b' before it has no link"),
    (lambda: begin().revolute("b").frame("f"), r"frame\('f'\): the joint 'b' before it has no link"),
    (lambda: begin().link("y", mass=1), r"link\('y'\): nothing joins it to the robot"),
    (lambda: begin().revolute("a"), r"revolute\('a'\): the name is used already"),
    (lambda: begin().revolute("b").link("x"), r"link\('x'\): the name is used already"),
    (lambda: begin().frame("x"), r"frame\('x'\): the name is used already"),
    (lambda: cr.build("arm").revolute("a").link("base"), r"link\('base'\): the name is used already"),
    (lambda: begin().revolute(""), "the name must be a string that is not empty"),
    (lambda: begin().revolute(3), "the name must be a string that is not empty"),
    (lambda: begin().revolute("b", parent="z"), r"revolute\('b'\): the robot so far has no link or frame named 'z'"),
    (lambda: begin().revolute("b", limit=3), r"revolute\('b'\) has no option named 'limit'"),
    (lambda: begin().revolute("b", axis="w"), r"revolute\('b'\): axis must be one of x, y, z"),
    (lambda: begin().revolute("b", axis=(0, 0, 0)), r"revolute\('b'\): axis must not be zero"),
    (lambda: begin().revolute("b", axis=[[0, 0, 1]]), "axis must be three numbers"),
    (lambda: begin().revolute("b", lower=[1, 2]), "lower must be one number, or 1, got shape"),
    (lambda: begin().revolute("b", origin=np.eye(4), xyz=(0, 0, 0)), "give either origin, or xyz and rpy"),
    (lambda: begin().revolute("b", follows="q"), "the robot so far has no joint named 'q'"),
    (lambda: begin().revolute("b", multiplier=2.0), "multiplier and offset belong to follows"),
    (lambda: begin().fixed("b", lower=0.0), "a fixed joint has no lower"),
    (lambda: begin().universal("b", axes="xy"), "axes must be two directions"),
    (lambda: begin().universal("b", axes=5), "axes must be two directions"),
    (lambda: begin().universal("b", axes=("x", "x")).link("y", mass=1, shape="sphere", radius=1).robot(), "parallel"),
    (lambda: begin().revolute("b").link("y", mass=-1), r"link\('y'\): the body has a negative mass"),
    (lambda: begin().revolute("b").link("y", radius=1), r"link\('y'\): radius need a mass"),
    (lambda: begin().revolute("b").link("y", length=-1), r"link\('y'\): length must be a positive"),
    (lambda: begin().revolute("b").link("y", "body"), r"link\('y'\): the body must be a cr.rigid_body"),
    (lambda: begin().revolute("b").link("y", cr.rigid_body(1.0), mass=1), "give either a body, or mass"),
    (lambda: begin().revolute("b").link("y").robot(), "'b' .*no mass"),
    (
        lambda: begin().revolute("b", lower=2, upper=1).link("y", mass=1, shape="sphere", radius=1).robot(),
        "lower limit",
    ),
    (lambda: begin().end_effector("z"), "no link or frame named 'z'"),
    (lambda: begin().configuration("home", [1]), "positions must be a dictionary"),
    (lambda: begin().configuration("home", {"b": 1}).robot(), r"configuration\('home'\) has no joint named 'b'"),
    (lambda: begin().configuration("home", {"a": [1, 2]}).robot(), "'a' takes 1 numbers"),
    (lambda: begin().gravity((1, 2)), "gravity must have 3 numbers"),
    (lambda: cr.build(""), "build: name must not be empty"),
    (lambda: cr.build(3), "build: name must be a string"),
    (lambda: cr.build("a", along="q"), "build: along must be one of"),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_lines_are_named(line, message):
    with pytest.raises(cr.ChainruleError, match=message):
        line()


def test_a_builder_says_what_it_has():
    assert repr(begin().revolute("b")) == "<Builder 'arm': base, x, and joint 'b' without a link yet>"
    assert repr(cr.build()) == "<Builder 'robot': no links>"


@settings(max_examples=200)
@given(
    st.floats(1e-3, 1e3),
    st.tuples(*[st.floats(0.1, 10)] * 3),
    st.floats(1e-3, 1e3),
    st.tuples(*[st.floats(0.1, 10)] * 3),
)
def test_point_masses_stay_point_masses(m1, c1, m2, c2):
    point, other = cr.rigid_body(m1, com=c1), cr.rigid_body(m2, com=c2)
    robot = (
        cr.build("points").revolute("a").link("one", mass=m1, com=c1).revolute("b", axis="y").link("two", body=point)
        .fixed("c").link("three", body=point + other).robot()
    )  # fmt: skip
    for name in ("one", "two"):
        assert not np.asarray(robot.links[name].inertia).any()
        assert robot.links[name].com.tolist() == list(c1)
    merged = robot.merge_fixed()  # goes through inertias about origins
    assert cr.Robot(validate(merged.model, check="strict")) == merged


def test_the_builder_mends_what_it_advises_to_mend():
    idle = cr.build("idle").revolute("a").link("l", mass=1.0).revolute("b").link("k")
    with pytest.raises(cr.ModelError, match="pass repair=True"):
        idle.robot()
    with pytest.warns(cr.ModelWarning, match="move no mass"):
        idle.robot(check="warn", repair=True)
