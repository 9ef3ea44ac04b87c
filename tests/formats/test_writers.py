"""Robots written as MJCF and SDF: read back, they move alike; what these formats cannot hold is said."""

from dataclasses import replace

import numpy as np
import pytest
import trees

import chainrule as cr
from chainrule.formats.losses import without_inexpressible
from chainrule.formats.mjcf_writer import to_mjcf
from chainrule.model import Dof
from chainrule.model.edits import map_dofs
from chainrule.spatial import Vector

NAMES = {
    ".xml": ("revolute", "continuous", "prismatic", "cylindrical", "universal", "planar", "spherical", "fixed"),
    ".sdf": ("revolute", "continuous", "prismatic", "helical", "universal", "spherical", "fixed", "moved"),
}


def plain(dof):
    """What both formats hold, with a limit that MJCF keeps exactly."""
    return Dof(
        lower=-2.0, upper=3.0, effort=7.0, viscous=dof.viscous, coulomb=dof.coulomb, coulomb_negative=dof.coulomb
    )


def same_motion(one, other, tolerance=1e-9):
    rng = np.random.default_rng(0)
    assert other.nv == one.nv
    q = trees.state(one, 3)[0]
    qd, qdd = rng.normal(size=(2, one.nv))
    expected = one.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(other.inverse_dynamics(q, qd, qdd), expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("suffix", [".xml", ".sdf"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")
def test_random_trees_move_alike_when_read_back(tmp_path, suffix, seed):
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    robot = trees.tree(seed, NAMES[suffix], drives=False, mimic=False, shuffle=False)
    model = map_dofs(robot.model, plain)
    joints = [replace(j, dofs=()) if j.kind.nq != j.kind.nv else j for j in model.joints]
    gravity = model.gravity if suffix == ".xml" else Vector(0.0, 0.0, -9.81)
    robot = cr.Robot(trees.rebuild(model, joints=joints, gravity=gravity))
    robot.save(tmp_path / f"robot{suffix}", lossy=True)
    same_motion(robot, cr.load(tmp_path / f"robot{suffix}"))


@pytest.mark.parametrize("name", ["panda", "ur5e", "g1", "panda_hand", "scara", "cartesian_3p"])
@pytest.mark.parametrize("suffix", [".xml", ".sdf"])
@pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")
def test_bundled_robots_keep_masses_limits_and_friction(tmp_path, name, suffix):
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    robot = cr.load(name)
    robot.save(tmp_path / f"robot{suffix}", lossy=True)
    back = cr.load(
        tmp_path / f"robot{suffix}", **({"floating_base": True} if name == "g1" and suffix == ".sdf" else {})
    )
    if suffix == ".sdf":
        assert not any(dof.rotor for dof in back.model.layout.dofs)
        rotors = np.array([dof.armature for dof in robot.model.layout.dofs])
        q = robot.home()
        M = robot.mass_matrix(q) - np.diag(rotors)
        np.testing.assert_allclose(back.mass_matrix(q), M, atol=1e-9 * np.abs(M).max())
    else:
        same_motion(robot, back)
    for which in ("effort", "lower", "upper"):
        expected = getattr(robot.limits, which)
        np.testing.assert_allclose(getattr(back.limits, which), expected, rtol=1e-12, err_msg=which)


def test_mujoco_has_the_mass_matrix_of_the_robot_that_was_written():
    mujoco = pytest.importorskip("mujoco")
    robot = cr.load("scara")
    model = mujoco.MjModel.from_xml_string(to_mjcf(without_inexpressible(robot.model, "mjcf")[0]))
    data = mujoco.MjData(model)
    data.qpos[:] = robot.home() + 0.1
    mujoco.mj_forward(model, data)
    M = np.zeros((robot.nv, robot.nv))
    for k, column in enumerate(np.eye(robot.nv)):
        mujoco.mj_mulM(model, data, M[k], column)
    np.testing.assert_allclose(M, robot.mass_matrix(robot.home() + 0.1), rtol=1e-9, atol=1e-12)


def test_what_is_lost_is_said_or_refused(tmp_path):
    robot = cr.load("panda").with_spring("panda_link0", "panda_link4", stiffness=10.0)
    robot = robot.edit(joints={"panda_joint1": {"rotor": 0.1}}, gravity=(0, 0, -1.6))
    with pytest.raises(cr.FormatError, match=r"MJCF cannot hold all of it: springs between links .* speed"):
        robot.save(tmp_path / "robot.xml")
    with pytest.raises(cr.FormatError, match=r"SDF cannot hold all of it: .*rotors .* gravity, here \(0, 0, -1.6\)"):
        robot.save(tmp_path / "robot.sdf")
    with pytest.warns(
        cr.ModelWarning, match="springs between links are left out.* base 'panda_link0' becomes the world"
    ):
        robot.save(tmp_path / "robot.sdf", lossy=True)


@pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")
def test_what_a_format_has_no_joint_or_body_for_is_refused_by_name(tmp_path):
    with pytest.raises(cr.FormatError, match="link 'link1', which joint 'joint1' moves, has no mass, or no inertia"):
        cr.load("planar_2r").save(tmp_path / "robot.xml", lossy=True)
    screwed = trees.tree(0, ("helical",), drives=False, mimic=False)
    with pytest.raises(cr.FormatError, match="turns and slides at once"):
        screwed.save(tmp_path / "robot.xml", lossy=True)
    flat = trees.tree(0, ("planar",), drives=False, mimic=False)
    with pytest.raises(cr.FormatError, match="is none of SDF"):
        flat.save(tmp_path / "robot.sdf", lossy=True)
