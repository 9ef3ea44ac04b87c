"""Pictures of motions: limits, saturation, references, causes of torques, envelopes, phase portraits."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import chainrule as cr


def by_gid(figure, start):
    return [artist for artist in figure.findobj() if str(artist.get_gid() or "").startswith(start)]


@pytest.fixture(scope="module")
def panda_motion():
    robot = cr.load("panda")
    start = robot.home()
    plan = cr.plan(robot, [start, start + np.array([0.5, 0.3, -0.4, 0.5, 0.3, 0.2, 0.3])])
    return robot.simulate(start, None, plan.duration, cr.ComputedTorque(robot, plan)), plan


@pytest.fixture(scope="module")
def saturated():
    robot = cr.load("planar_2r").edit(joints={"joint1": {"effort": 5.0, "velocity": 1.0, "lower": -1.0, "upper": 0.5}})
    return robot.simulate([0.0, 0.0], None, 0.6, cr.PD(robot, [0.4, 0.3], [500.0, 500.0], [20.0, 20.0]))


def test_a_motion_has_one_legend_and_one_color_for_a_joint(panda_motion):
    motion, _ = panda_motion
    figure = motion.plot()
    assert len(figure.legends) == 1
    assert all(axes.get_legend() is None for axes in figure.axes)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[:7] == list(motion.robot.joint_names)
    assert len(labels) == len(set(labels))
    colors = [[line.get_color() for line in axes.lines[:7]] for axes in figure.axes[:3]]
    assert colors[0] == colors[1] == colors[2]
    marks = [line.get_marker() for line in figure.axes[0].lines[:7]]
    assert len(set(marks)) == 7


def test_colors_of_joints_agree_where_q_has_quaternions():
    robot = cr.load("panda").floating()
    figure = robot.simulate(robot.home(), None, 0.01).plot(joints=["panda_joint1", "panda_joint2"])
    colors = [[line.get_color() for line in axes.lines[:2]] for axes in figure.axes[:3]]
    assert colors[0] == colors[1] == colors[2]


def test_limits_near_the_curves_are_drawn_and_samples_beyond_marked(saturated):
    figure = saturated.plot()
    values = {line.get_ydata()[0] for line in by_gid(figure, "limit tau")}
    assert values & {5.0, -5.0}
    bands = by_gid(figure, "at limit tau")
    assert len(bands) == 1
    marked = np.isfinite(bands[0].get_ydata())
    assert (marked == (np.abs(saturated.tau[:, 0]) >= 5.0 * (1 - 1e-9))).all()
    assert marked.any()
    assert not by_gid(saturated.plot(limits=False), "limit")
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "at or beyond a limit" in words
    assert "limit" in words


def test_limits_far_away_do_not_flatten_the_curves():
    robot = cr.load("planar_2r").edit(joints={"*": {"effort": 1e5, "velocity": 1e4, "lower": -300.0, "upper": 300.0}})
    assert not by_gid(robot.simulate([0.3, 0.2], None, 0.2).plot(), "limit")


def test_references_are_drawn_dashed(panda_motion):
    motion, plan = panda_motion
    assert len(by_gid(motion.plot(reference=plan), "reference")) == 14
    assert len(by_gid(motion.plot(reference=motion), "reference")) == 21
    assert len(by_gid(motion.plot(reference=motion.q[-1]), "reference")) == 7
    with pytest.raises(cr.ShapeError, match="must have 7 numbers"):
        motion.plot(reference=[0.0, 1.0])
    other = cr.load("planar_2r").simulate([0.1, 0.1], None, 0.01)
    with pytest.raises(cr.ShapeError, match="must be a motion of robot 'panda'"):
        motion.plot(reference=other)


def test_rows_quantities_axes_and_sizes():
    robot = cr.load("double_pendulum")
    batch = robot.simulate([[0.1, 0.2], [0.7, 0.8]], None, 0.05)
    figure = batch.plot(row=1, quantities=["q"], size=(4, 2))
    assert figure.axes[0].lines[0].get_ydata()[0] == 0.7
    assert figure.get_size_inches().tolist() == [4, 2]
    assert batch.plot(quantities=["q"]).axes[0].lines[0].get_ydata()[0] == 0.1
    given = Figure().subplots(2, 1)
    assert batch.plot(quantities=["q", "energy"], ax=given).axes == list(given)
    for options, message in [
        ({"row": 5}, "outside the batch"),
        ({"row": (0, 0)}, "row takes 1 indices"),
        ({"quantities": ["color"]}, "no quantity named 'color'"),
        ({"quantities": []}, "at least one"),
        ({"ax": given}, "ax must be 4 axes"),
        ({"joints": ["knee"]}, "no joint named 'knee'"),
    ]:
        with pytest.raises(cr.ChainruleError, match=message):
            batch.plot(**options)
    with pytest.raises(cr.ShapeError, match="has no samples"):
        batch[:0].plot()


def heights(area, t):
    """The extent of a stacked area at times t."""
    corners = area.get_paths()[0].vertices
    found = []
    for time in t:
        at = corners[np.abs(corners[:, 0] - time) < 1e-9, 1]
        found.append(np.ptp(at))
    return np.array(found)


def test_stacked_areas_are_the_causes_of_the_torque(panda_motion):
    motion, _ = panda_motion
    figure = motion.plot_torque_terms(joints=["panda_joint2"])
    terms = motion.robot.torque_terms(motion.q, motion.qd, motion.qdd)
    at = motion.t[[50, 200, 333]]
    for area in by_gid(figure, "term "):
        name = area.get_gid().removeprefix("term ")
        wanted = np.maximum(terms[name][[50, 200, 333], 1], 0)
        assert heights(area, at) == pytest.approx(wanted, abs=1e-9)
    (total,) = [line for line in figure.axes[0].lines if line.get_linewidth() == 1.5]
    assert np.allclose(total.get_ydata(), terms["total"][:, 1])
    assert {"gravity", "inertial", "sum"} <= {text.get_text() for text in figure.legends[0].get_texts()}


def test_a_row_that_is_no_number_is_refused(panda_motion):
    endless: list = []
    endless.append(endless)
    for row in (endless, [[0]], "0", {}):
        with pytest.raises(cr.ShapeError, match="plot: row must be"):
            panda_motion[0].plot_phase(row=row)


def test_closed_loops_have_their_own_cause():
    robot = cr.load("four_bar")
    figure = robot.simulate(robot.home(), None, 0.05, [0.5, 0.0, 0.0]).plot_torque_terms()
    assert "forces of closed loops" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_torque_over_speed_lies_in_its_envelope(saturated):
    figure = saturated.plot_torque_speed()
    (frame,) = by_gid(figure, "envelope")  # the second joint has no limits
    assert np.abs(frame.get_xdata()).max() == 1.0
    assert np.abs(frame.get_ydata()).max() == 5.0
    assert by_gid(figure, "at limit")
    assert any("100 % of torque" in text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text")))


def test_phase_portraits_show_where_a_single_joint_goes():
    swing = cr.load("pendulum").simulate([1.0], None, 1.0)
    figure = swing.plot_phase()
    line = figure.axes[0].lines[0]
    assert np.allclose(line.get_xdata(), swing.q[:, 0])
    assert np.allclose(line.get_ydata(), swing.qd[:, 0])
    assert "without torque" in [text.get_text() for text in figure.legends[0].get_texts()]
    two = cr.load("double_pendulum").simulate([1.0, 0.0], None, 0.1).plot_phase()
    assert len(two.axes) == 2
    floating = cr.load("panda").floating()
    assert len(floating.simulate(floating.home(), None, 0.01).plot_phase().axes) == 7
    with pytest.raises(cr.ShapeError, match="ax must be 2 axes"):
        cr.load("double_pendulum").simulate([1.0, 0.0], None, 0.1).plot_phase(ax=Figure().add_subplot())


def test_many_joints_are_chosen_by_name(monkeypatch, panda_motion):
    motion, _ = panda_motion
    monkeypatch.setattr("chainrule.plots.motion_planes.MAX_PANELS", 5)
    with pytest.raises(cr.ShapeError, match="7 panels are too many for one figure; name at most 5 joints"):
        motion.plot_torque_speed()
    assert len(motion.plot_torque_speed(joints=["panda_joint3"]).axes) == 1


def test_pictures_of_reach_and_manipulability_on_given_axes():
    cloud = cr.load("ur5").workspace(2000)
    solid = Figure().add_subplot(projection="3d")
    box = [(-2, 2), (-2, 2), (-1, 2)]
    cloud.plot(ax=solid, limits=box, view=(10, 20))
    assert solid.get_xlim() == (-2, 2)
    assert (solid.elev, solid.azim) == (10, 20)
    flat = Figure().add_subplot()
    cloud.plot(ax=flat)
    assert flat.collections
    assert cloud.plot(size=(6, 3)).get_size_inches().tolist() == [6, 3]
    rows = Figure().subplots(3, 1)
    way = np.stack([np.zeros(20), np.linspace(0.1, 1, 20)], axis=1)
    cr.load("planar_2r").analysis.plot(way, ax=rows)
    assert all(axes.lines for axes in rows)
    with pytest.raises(cr.ShapeError, match="ax must be 3 axes"):
        cr.load("planar_2r").analysis.plot(way, ax=rows[:2])
