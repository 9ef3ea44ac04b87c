import numpy as np
import pytest

import chainrule as cr
from chainrule import study


def panels(figure):
    """Axes of the curves, by row and column, and those of the boxes, by row and kind."""
    left, right = figure.subfigs
    return np.reshape(left.axes, (4, -1)), np.reshape(right.axes, (4, -1))


def test_curves_and_boxes_of_an_activity_are_its_numbers(few, tmp_path):
    path = tmp_path / "door.png"
    curves, boxes = panels(few.plot("Open door", path))
    assert path.read_bytes().startswith(b"\x89PNG")
    assert curves.shape == (4, 7)
    assert boxes.shape == (4, 1)
    door = few.examples["open_door"]
    for j, joint in enumerate(few.joints):
        for row, values in enumerate((door.motion.q, door.motion.qd, door.motion.qdd)):
            (line,) = curves[row, j].lines
            np.testing.assert_allclose(line.get_ydata(), np.degrees(values[:, j]))
        by_part = {line.get_gid(): line.get_ydata() for line in curves[3, j].lines}
        assert list(by_part) == ["total", "gravity", "dynamic", "contact"]
        np.testing.assert_allclose(by_part["contact"], door.contact[:, j])
        np.testing.assert_allclose(sum(by_part[part] for part in ("gravity", "dynamic", "contact")), by_part["total"])
        box = few.cell("open_door", joint)["torque"].box_plot()
        middle = [line for line in boxes[3, 0].lines if {*line.get_ydata()} == {box.median}]
        assert any(np.allclose(np.mean(line.get_xdata()), j + 1) for line in middle)
    labels = [tick.get_text() for tick in boxes[3, 0].get_xticklabels()]
    assert labels == [joint.replace("_", " ") for joint in few.joints]


def test_contact_is_no_curve_where_the_hand_pushes_nothing(few):
    curves, _ = panels(few.plot("reach_head_level", joints=["elbow_flexion", "shoulder_flexion"]))
    assert curves.shape == (4, 2)
    assert [line.get_gid() for line in curves[3, 0].lines] == ["total", "gravity", "dynamic"]


def test_joints_that_slide_have_boxes_of_their_own_and_of_many_joints_the_largest_are_drawn():
    scara, t = cr.load("scara"), np.linspace(0, 1, 21)
    motion = cr.Trajectory.from_samples(scara, t, scara.home() - 0.08 * np.sin(t)[:, None])
    curves, boxes = panels(study.run(scara, motions=motion).plot())
    assert boxes.shape == (4, 2)
    assert [axis.get_ylabel() for axis in boxes[:, 1]] == [
        "position, m",
        "speed, m/s",
        "acceleration, m/s²",
        "force, N",
    ]
    assert curves[0, 2].get_ylabel() == "position, m"
    robot = cr.load("quadruped")
    q = np.array([robot.integrate(robot.neutral(), np.full(robot.nv, 0.2 * np.sin(3 * x))) for x in t])
    result = study.run(robot, motions=cr.Trajectory.from_samples(robot, t, q))
    figure = result.plot()
    assert "8 of 18 joints, those with the largest torques" in figure.get_suptitle()
    least = min(result.overall.values(), key=lambda cell: cell.peak_torque).joint
    assert least.replace("_", " ") not in [axis.get_title() for axis in panels(figure)[0][0]]


def test_wrong_arguments_are_told(few):
    with pytest.raises(cr.UnknownNameError, match="did you mean 'open_door'"):
        few.plot("open_dor")
    with pytest.raises(cr.UnknownNameError, match="joint"):
        few.plot("open_door", joints=["elbow"])
    with pytest.raises(cr.ShapeError, match="at least one"):
        few.plot("open_door", joints=[])
    with pytest.raises(cr.ShapeError, match=r"\.png, \.pdf or \.svg"):
        few.plot("open_door", "door.docx")
