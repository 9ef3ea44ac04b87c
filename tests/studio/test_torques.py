"""Torques as they are drawn and written: paths in the scene, bars by cause."""

from __future__ import annotations

import re

import numpy as np
import pytest

import chainrule as cr
from chainrule.studio import world
from chainrule.studio.charts import torque_bars
from chainrule.studio.postures import default_tip
from chainrule.studio.scene import torque_marks as marks
from chainrule.studio.scene import tubes
from chainrule.studio.session import SessionState


def state_of(robot, seed=0, **more):
    rng = np.random.default_rng(seed)
    q = robot.random_state(rng)
    return SessionState(q, rng.normal(size=robot.nv), rng.normal(size=robot.nv), **more)


@pytest.mark.parametrize("name", ["panda", "planar_rp", "scara", "quadruped"])
def test_axes_are_those_about_which_the_jacobian_turns_and_slides_links(name):
    robot = cr.load(name).reference
    q = robot.random_state(np.random.default_rng(3))
    axes = marks.joint_axes(robot, q, robot.poses(q))
    for body in robot.model.bodies:
        J = robot.jacobian(q, body.link.name)
        p = robot.pose(q, body.link.name)[:3, 3]
        for i, _ in body.at([float(x) for x in q]).S if body.joint.mimic is None else ():
            omega = axes.directions[i] * np.linalg.norm(J[:3, i])
            moved = np.cross(omega, p - axes.points[i]) if axes.turns[i] else axes.directions[i]
            assert J[:, i] == pytest.approx(np.concatenate([omega, moved]), abs=1e-12)


def test_an_arc_turns_as_the_torque_and_as_far_as_its_share_of_the_limit():
    arm = cr.load("planar_2r").edit(joints={"*": {"effort": [10.0, 4.0]}}).reference
    q = np.array([0.3, 0.4])
    drawn = marks.torque_marks(arm, q, np.array([5.0, -1.0]))
    centers = marks.joint_axes(arm, q, arm.poses(q)).points
    for i, share in enumerate([0.5, -0.25]):
        rays = drawn.paths[i] - centers[i]
        start, end = (np.arctan2(*rays[k, [1, 0]]) for k in (0, -1))
        turned = np.angle(np.exp(1j * (end - start - share * marks.MAX_SWEEP)))
        assert turned == pytest.approx(0, abs=1e-9)
        assert np.linalg.norm(rays, axis=1) == pytest.approx(marks.RADIUS * 2.0)
    assert drawn.radii[0] > drawn.radii[1] > 0 > drawn.track_radii[0]  # tracks have no arrowhead


def test_an_arrow_of_a_slide_points_where_the_force_does():
    arm = cr.load("planar_rp").edit(joints={"*": {"effort": 10.0}}).reference
    q = np.array([0.3, 0.5])
    ends = marks.torque_marks(arm, q, np.array([0.0, -5.0])).paths[1][[0, -1]]
    assert ends[1] - ends[0] == pytest.approx(
        -0.5 * marks.LENGTH * _reach(arm) * np.array([np.cos(0.3), np.sin(0.3), 0])
    )


def _reach(arm):
    from chainrule.shapes.skeleton import skeleton

    return skeleton(arm).reach


def test_torques_without_a_limit_are_compared_with_each_other_and_a_passive_joint_is_over():
    arm = cr.load("planar_2r").reference
    drawn = marks.torque_marks(arm, np.zeros(2), np.array([8.0, 4.0]))
    assert drawn.colors.tolist() == [marks.UNLIMITED.tolist()] * 2
    lengths = [np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in drawn.paths]
    assert lengths[1] / lengths[0] == pytest.approx(0.5, rel=0.01)
    passive = arm.edit(joints={"*": {"effort": [5.0, 0.0]}}).reference
    assert marks.share_of_limit(passive, np.array([1.0, 1.0])).tolist() == [0.2, np.inf]
    assert marks.share_of_limit(passive, np.zeros(2)).tolist() == [0, 0]
    assert torque_bars.percent(np.inf) == "passive"


def test_pieces_of_tube_lie_end_to_end_and_hidden_ones_are_too_small_to_be_seen():
    paths = np.random.default_rng(0).normal(size=(3, 6, 3))
    pieces, heads = tubes.tubes_along(paths, np.array([0.1, 0.0, -0.2]))
    w, x, y, z = pieces.quaternions.T
    along = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    ends = pieces.positions + along * pieces.scales[:, 2:] / tubes.OVERLAP
    assert ends[:5] == pytest.approx(paths[0, 1:])
    assert (pieces.scales[5:10] <= tubes.HIDDEN).all()
    assert pieces.scales[10:, 0] == pytest.approx(0.2)
    assert heads.positions == pytest.approx(paths[:, -1])
    assert (heads.scales[1:] <= tubes.HIDDEN).all()
    assert heads.scales[0, 0] == pytest.approx(0.1 * tubes.HEAD[0])
    for surface in (tubes.tube(), tubes.cone()):
        a, b, c = (surface.corners[surface.triangles[:, k]] for k in range(3))
        assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0  # faces outward


def test_the_chart_and_the_table_have_the_torques_of_the_robot():
    robot = cr.load("planar_rp").edit(joints={"*": {"effort": [40.0, 30.0]}}).reference
    state = state_of(robot)
    terms = world.torque_terms(robot, state)
    found = torque_bars.torques(robot, terms)
    page = torque_bars.torque_chart(found)
    shown = re.findall(r'class="num">([^<]*)<', page)
    tau = robot.inverse_dynamics(state.q, state.qd, state.qdd)
    assert shown == [f"{tau[0]:.4g} N m", f"{tau[1]:.4g} N"]
    assert re.findall(r'class="pct"[^>]*>([^<]*)<', page) == [
        f"{abs(tau[0]) / 0.4:.0f} %",
        f"{abs(tau[1]) / 0.3:.0f} %",
    ]
    cells = np.array(re.findall(r"<td>([^<]*)</td>", torque_bars.torque_table(found)), dtype=float).reshape(2, -1)
    own = robot.torque_terms(state.q, state.qd, state.qdd)
    named = [own[name] for name in torque_bars.CAUSES if name in found.terms]
    assert cells == pytest.approx(np.array([*named, own["total"]]).T, rel=1e-3)
    assert "spring" not in page
    assert "gravity" in page


def test_bars_of_each_cause_are_as_long_as_their_torque():
    robot = cr.load("planar_2r").reference
    found = torque_bars.torques(robot, robot.torque_terms([0.3, 0.4], [1.0, 2.0], [3.0, 0.0]))
    scale = torque_bars.full_scales(found)
    assert scale.tolist() == [50.0, 50.0]
    first = re.search(r'<div class="bar">(.*?)</div>', torque_bars.torque_chart(found))[1]
    widths = [float(x) for x in re.findall(r"width:([\d.]+)%", first)]
    expected = [50 * abs(values[0]) / scale[0] for values in found.terms.values() if values[0]]
    assert widths == pytest.approx(expected, abs=0.006)
    limited = torque_bars.torques(robot.edit(joints={"*": {"effort": [7.0, 9.0]}}), {"total": np.ones(2)})
    assert torque_bars.full_scales(limited, of_limit=True).tolist() == [7.0, 9.0]
    assert "100 % of limit" in torque_bars.torque_chart(limited, of_limit=True)


def test_names_of_a_file_are_text_on_the_page():
    robot = cr.load("planar_2r").rename({"joint1": "<img src=x onerror=alert(1)>"}).reference
    found = torque_bars.torques(robot, robot.torque_terms([0.3, 0.4], [1.0, 2.0], [3.0, 0.0]))
    page = torque_bars.torque_chart(found) + torque_bars.torque_table(found)
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


@pytest.mark.parametrize("name", ["planar_2r", "four_bar"])
def test_gravity_payload_and_friction_are_those_of_the_edited_robot(name):
    robot = cr.load(name).edit(joints={"*": {"coulomb": 0.5, "viscous": 0.2}}).reference
    state = state_of(robot)
    if robot.model.constraints:
        q = robot.loops.close(state.q)
        state = SessionState(q, robot.loops.consistent_velocity(q, state.qd), np.zeros(robot.nv))
    gravity, place = np.array([1.0, -2.0, 0.5]), (0.1, 0.2, 0.0)
    changed = world.Conditions(gravity, default_tip(robot), 1.5, place, dry=2.0, viscous=3.0, damping=0.1)
    edited = robot.edit(gravity=gravity).with_payload(1.5, com=place, link=default_tip(robot))
    edited = edited.edit(joints={"*": {"coulomb": 1.0, "viscous": 0.7}})
    pushed = {robot.link_names[1]: np.array([0.1, 0.2, 0.3, 4.0, 5.0, 6.0])}
    state = SessionState(state.q, state.qd, state.qdd, pushed, 0.0, changed.parameters(robot))
    terms = world.torque_terms(robot, state)
    expected = edited.torque_terms(state.q, state.qd, state.qdd, external=pushed)
    for cause, values in expected.items():
        assert terms[cause] == pytest.approx(values, abs=1e-10), cause
    assert world.mass_matrix(robot, state) == pytest.approx(edited.mass_matrix(state.q))


def test_a_push_alone_leaves_the_robots_own_world():
    robot = cr.load("planar_2r").edit(joints={"*": {"coulomb": 0.5, "viscous": 0.2}}).reference
    pushed = {"link1": np.array([0, 0, 0, 4.0, 5.0, 6.0])}
    state = state_of(robot, wrenches=pushed)
    expected = robot.torque_terms(state.q, state.qd, state.qdd, external=pushed)
    assert world.torque_terms(robot, state)["total"] == pytest.approx(expected["total"])


def test_friction_that_differs_by_direction_stays_as_it_is():
    robot = cr.load("planar_2r").edit(joints={"*": {"coulomb": 0.5, "coulomb_negative": 0.2}})
    assert not world.can_scale_friction(robot)
    assert set(world.own_world(robot).parameters(robot)) == {"gravity", f"{default_tip(robot)}.payload"}
    assert world.has_friction(robot)
    assert not world.has_friction(cr.load("planar_2r"))
