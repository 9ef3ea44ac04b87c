"""The visual geometry of robots: shapes, meshes in files, and what cannot be drawn."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.studio.scene.visuals import drawing

pytest.importorskip("trimesh")

CUBE = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="rod"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><mesh filename="{mesh}" scale="{scale}"/></geometry>{material}</visual>
    <collision><geometry><box size="1 2 3"/></geometry></collision>
  </link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/></joint>
</robot>"""


@pytest.fixture
def arm(tmp_path):
    def make(mesh="cube.obj", scale="1 1 1", material=""):
        (tmp_path / "cube.obj").write_text(CUBE)
        (tmp_path / "arm.urdf").write_text(ARM.format(mesh=mesh, scale=scale, material=material))
        return cr.load(tmp_path / "arm.urdf", check=False)

    return make


def volume(surface):
    a, b, c = (surface.corners[surface.triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def test_a_mesh_is_scaled_placed_and_colored(arm):
    material = '<material name="red"><color rgba="1 0 0 0.5"/></material>'
    (part,) = drawing(arm(scale="2 1 1", material=material)).parts
    assert (part.link, part.color, part.opacity) == (1, (255, 0, 0), 0.5)
    assert part.surface.corners.min(axis=0) == pytest.approx([0, 0, 1])
    assert volume(part.surface) == pytest.approx(2.0)
    assert len(part.surface.corners) == 24  # edges are split, so that faces look flat


def test_a_mirrored_mesh_still_faces_outward(arm):
    (part,) = drawing(arm(scale="-1 1 1")).parts
    assert volume(part.surface) == pytest.approx(1.0)


def test_collision_geometry_is_another_style(arm):
    (part,) = drawing(arm(), "collision").parts
    assert volume(part.surface) == pytest.approx(6.0)


def test_links_without_their_meshes_are_drawn_from_the_model_and_the_problem_is_told(arm):
    robot = arm(mesh="nothing.stl")
    found = drawing(robot)
    assert [part.link for part in found.parts] == [part.link for part in drawing(robot, "model").parts]
    assert found.problems == ("rod: the mesh 'nothing.stl' is not found",)


def test_the_drawing_is_worked_out_once_for_all_tabs(arm):
    robot = arm()
    assert drawing(robot) is drawing(robot)


def test_addresses_with_a_slash_too_many_are_found(tmp_path, arm):
    robot = arm(mesh=f"package:///{tmp_path.name}/cube.obj")
    assert not drawing(robot).problems
