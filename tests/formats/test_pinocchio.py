"""Models of Pinocchio, and URDFs of yourdfpy, as robots: the same poses, mass matrices and torques."""

import math

import numpy as np
import pytest
from peers import robots_folder, stripped
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelError, ModelWarning
from chainrule.model import Free
from chainrule.robot.building import from_pinocchio, from_yourdfpy

pin = pytest.importorskip("pinocchio")
pytestmark = [
    pytest.mark.both_paths,
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning"),
]


def state(robot, model, q, qd):
    """Pinocchio's q, and P with its v = P qd; composite joints are told by the names of their parts."""
    theirs, P, drift = pin.neutral(model), np.zeros((model.nv, robot.nv)), np.zeros(model.nv)
    counts: dict[str, int] = {}
    for body in robot.model.bodies:
        kind = body.joint.kind
        if not kind.nv or body.joint.mimic:
            continue
        name = body.joint.name if model.existJointName(body.joint.name) else body.joint.name.rpartition("_")[0]
        joint = model.joints[model.getJointId(name)]
        at, v = joint.idx_q, joint.idx_v
        own, mine = np.array(body.coordinates(q.tolist())), slice(body.first_v, body.first_v + kind.nv)
        if name != body.joint.name:
            k = counts.get(name, 0)
            counts[name] = k + 1
            theirs[at + k], P[v + k, mine] = own[0], 1
        elif isinstance(kind, Free):
            theirs[at : at + 7], P[v : v + 6, mine] = own, np.eye(6)[[3, 4, 5, 0, 1, 2]]
        elif kind.name == "planar":
            c, s = np.cos(own[2]), np.sin(own[2])
            theirs[at : at + 4] = [own[0], own[1], c, s]
            P[v : v + 3, mine] = [[c, s, 0], [-s, c, 0], [0, 0, 1]]
            x, y, w = qd[mine]
            drift[v : v + 3] = w * np.array([-s * x + c * y, -c * x - s * y, 0])
        elif joint.nq == 2 and joint.nv == 1:
            theirs[at : at + 2], P[v, mine] = [np.cos(own[0]), np.sin(own[0])], 1
        else:
            theirs[at : at + kind.nq], P[v : v + kind.nv, mine] = own, np.eye(kind.nv)
    return theirs, P, drift


def assert_agrees(robot, model, tolerance=1e-11):
    robot = robot.without_friction()
    data = model.createData()
    rng = np.random.default_rng(5)
    q = robot.integrate(robot.neutral(), rng.uniform(-1, 1, robot.nv))
    qd, qdd = rng.uniform(-1, 1, (2, robot.nv))
    theirs, P, drift = state(robot, model, q, qd)
    assert model.nv == robot.nv
    M = np.triu(pin.crba(model, data, theirs))
    M = P.T @ (M + np.triu(M, 1).T) @ P
    np.testing.assert_allclose(robot.mass_matrix(q), M, atol=tolerance * max(1, np.abs(M).max()))
    tau = P.T @ pin.rnea(model, data, theirs, P @ qd, P @ qdd + drift)
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, atol=tolerance * max(1, np.abs(tau).max()))
    pin.framesForwardKinematics(model, data, theirs)
    for i, frame in enumerate(model.frames):
        if str(frame.type) in ("BODY", "OP_FRAME"):
            np.testing.assert_allclose(robot.pose(q, frame.name), data.oMf[i].homogeneous, atol=tolerance)


ROBOTS = [
    "panda_description/urdf/panda.urdf", "ur_description/urdf/ur5_robot.urdf", "talos_data/robots/talos_reduced.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf", "solo_description/robots/solo12.urdf", "kinova_description/robots/kinova.urdf",
    pytest.param("tiago_description/robots/tiago.urdf", marks=pytest.mark.slow),
]  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_real_robots_move_as_in_pinocchio(name, floating):
    path = robots_folder() / name
    text = stripped(path)
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromXML(text)
    model.armature[:] = np.linspace(0.01, 0.1, model.nv)
    if floating:
        model.armature[:6] = 0
    assert_agrees(cr.load(model), model)


def body(mass=1.5):
    return pin.Inertia(mass, np.array([0.1, -0.2, 0.3]), np.diag([0.2, 0.3, 0.4]) + 0.01)


def test_every_kind_of_joint():
    model, parent = pin.Model(), 0
    rng = np.random.default_rng(1)
    axis = np.array([0.0, 0.6, 0.8])
    composite = pin.JointModelComposite()
    composite.addJoint(pin.JointModelRX())
    composite.addJoint(pin.JointModelPZ(), pin.SE3(pin.utils.rotate("y", 0.4), np.array([0.1, 0.2, 0.3])))
    kinds = {
        "rx": pin.JointModelRX(), "ry": pin.JointModelRY(), "rz": pin.JointModelRZ(), "px": pin.JointModelPX(),
        "py": pin.JointModelPY(), "pz": pin.JointModelPZ(), "ru": pin.JointModelRevoluteUnaligned(axis),
        "pu": pin.JointModelPrismaticUnaligned(axis), "ubx": pin.JointModelRUBX(), "uby": pin.JointModelRUBY(),
        "ubz": pin.JointModelRUBZ(), "ball": pin.JointModelSpherical(), "zyx": pin.JointModelSphericalZYX(),
        "shift": pin.JointModelTranslation(), "plane": pin.JointModelPlanar(), "both": composite,
        "hx": pin.JointModelHX(0.3), "hu": pin.JointModelHelicalUnaligned(axis, 0.2),
        "uni": pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])), "free": pin.JointModelFreeFlyer(),
    }  # fmt: skip
    for name, kind in kinds.items():
        place = pin.SE3(pin.utils.rpyToMatrix(*rng.uniform(-1, 1, 3)), rng.uniform(-1, 1, 3))
        parent = model.addJoint(parent, kind, place, name)
        model.appendBodyToJoint(parent, body(), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"{name}_link", parent, pin.SE3.Identity(), pin.FrameType.BODY))
        model.addFrame(pin.Frame(f"{name}_tool", parent, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    robot = cr.load(model)
    assert_agrees(robot, model, 1e-10)


def test_names_limits_and_properties():
    text = (robots_folder() / "panda_description" / "urdf" / "panda.urdf").read_text()
    model = pin.buildModelFromXML(text, mimic=True)
    model.friction[:], model.damping[:] = 0.2, 0.3
    robot = cr.load(model)
    ours = cr.load(text)
    assert robot.joint_names == ours.joint_names
    np.testing.assert_array_equal(robot.model.layout.lower, ours.model.layout.lower)
    dof = robot.model.layout.joints[0].joint.dofs[0]
    assert (dof.viscous, dof.coulomb, dof.coulomb_negative) == (0.3, 0.2, 0.2)
    assert {"panda_link0", "panda_link8", "panda_hand_tcp"} <= {
        *robot.link_names,
        *(f.name for f in robot.model.frames),
    }
    q = np.full(ours.nq, 0.02)
    np.testing.assert_allclose(robot.pose(q, "panda_hand_tcp"), ours.pose(q, "panda_hand_tcp"), atol=1e-12)


MIMIC = """<robot name="m"><link name="b"/>{}{}
<joint name="j1" type="revolute"><parent link="b"/><child link="l1"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="0" velocity="4"/></joint>
<joint name="j2" type="revolute"><origin xyz="0 0 1"/><parent link="l1"/><child link="l2"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="3" velocity="4"/>
<mimic joint="j1" multiplier="-2" offset="0.3"/></joint></robot>""".format(
    *(f'<link name="{n}"><inertial><origin xyz="0.2 0.1 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>' for n in ("l1", "l2"))
)  # fmt: skip


def test_joints_that_follow_others():
    model = pin.buildModelFromXML(MIMIC, mimic=True)
    with pytest.warns(ModelWarning, match="joint 'j1' has an effort limit of 0: taken as no limit"):
        robot = cr.load(model)
    assert (robot.nv, robot.model.layout.joints[0].joint.dofs[0].effort) == (1, math.inf)
    assert robot.pose([0.4], "l2") == pytest.approx(cr.load(MIMIC).pose([0.4], "l2"))
    data = model.createData()
    tau = pin.rnea(model, data, np.array([0.4]), np.array([0.5]), np.array([0.6]))
    np.testing.assert_allclose(robot.inverse_dynamics([0.4], [0.5], [0.6]), tau, atol=1e-12)


def test_rotors_that_pinocchio_leaves_out_are_said():
    model = pin.buildModelFromXML(MIMIC, mimic=True)
    model.rotorInertia[:], model.rotorGearRatio[:] = 0.1, 10
    with pytest.warns(ModelWarning, match="joint 'j1' has a rotorInertia, which Pinocchio's algorithms leave out"):
        cr.load(model)


def test_reference_configurations_are_kept():
    model = pin.buildModelFromXML((robots_folder() / "panda_description" / "urdf" / "panda.urdf").read_text())
    pin.loadReferenceConfigurations(model, str(robots_folder() / "panda_description" / "srdf" / "panda.srdf"), False)
    robot = cr.load(model)
    assert robot.configurations
    for name, q in robot.configurations.items():
        np.testing.assert_allclose(q, model.referenceConfigurations[name])


def test_a_wrapper_is_its_model_and_other_things_are_refused():
    wrapper = pin.RobotWrapper(pin.buildModelFromXML(MIMIC))
    assert cr.load(wrapper).nv == 2
    refused(lambda: from_pinocchio(5), FormatError, "from_pinocchio takes a pinocchio.Model or RobotWrapper, got int")
    refused(lambda: cr.load(wrapper, args={}), FormatError, "from_pinocchio takes no option 'args': the robot is read")
    model = pin.Model()
    model.addJoint(0, pin.JointModelEllipsoid(1.0, 2.0, 3.0), pin.SE3.Identity(), "egg")
    refused(lambda: cr.load(model), ModelError, "joint 'egg' is a JointModelEllipsoid, which is not supported")


def test_a_urdf_of_yourdfpy_is_the_file_it_came_from():
    yourdfpy = pytest.importorskip("yourdfpy")
    path = robots_folder() / "ur_description" / "urdf" / "ur5_robot.urdf"
    theirs = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=False, mesh_dir="")
    robot, ours = cr.load(theirs), cr.load(path)
    assert robot.joint_names == ours.joint_names
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 6))
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), ours.inverse_dynamics(q, qd, qdd), atol=1e-9)
    refused(lambda: from_yourdfpy(str(path)), FormatError, "from_yourdfpy takes a yourdfpy.URDF, got str")
