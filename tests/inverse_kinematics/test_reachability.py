"""Maps of reachability: each target is that of the inverse kinematics, in any division."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import chainrule as cr
from chainrule.cluster import reach
from chainrule.inverse_kinematics import reachability
from chainrule.inverse_kinematics.reachability import read_volume

TURNS = Rotation.from_euler("z", [[0.0], [40.0], [170.0]], degrees=True)


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_2r")


@pytest.fixture(scope="module")
def found(arm):
    return arm.ik.reachability([0, 0, 0], [2, 2, 0], 0.25)


def test_a_planar_arm_reaches_its_disk(found):
    x, y, z = found.coordinates()
    inside = np.hypot(*np.meshgrid(x, y, indexing="ij")) < 2
    assert_array_equal(found.share[:, :, 0] == 1, inside)
    assert_array_equal(z, [0.0])
    assert found.shape == (8, 8, 1)
    assert found.reasons == {"not reached": int((~inside).sum())}
    assert found.success_rate == inside.mean()
    assert found.reached_volume() == pytest.approx(inside.sum() * 0.25**3)
    assert_array_equal(found.to_pandas()["share"], inside.ravel())
    assert_allclose(found.to_pandas()["position.x"].unique(), x)


def test_each_orientation_has_its_share(monkeypatch):
    robot = cr.load("planar_3r")
    volume = ([-1, 0, 0], [3, 2, 0], 0.4)
    monkeypatch.setattr(reachability, "CELLS_AT_A_TIME", 8)
    monkeypatch.setattr(reachability, "BLOCK_TARGETS", 16)
    monkeypatch.setattr(reach, "BLOCK_TARGETS", 16)
    monkeypatch.setattr(reach, "TARGET_TASK_BLOCKS", 2)
    found = robot.ik.reachability(*volume, TURNS, restarts=30)
    assert found.targets == 10 * 5 * 3
    x, y, _ = found.coordinates()
    T = np.zeros((10, 5, 3, 4, 4))
    T[..., :3, :3], T[..., 3, 3] = TURNS.as_matrix(), 1.0
    T[..., 0, 3], T[..., 1, 3] = x[:, None, None], y[None, :, None]
    one_by_one = robot.inverse_kinematics(T, restarts=30).success
    assert_allclose(found.share[:, :, 0], one_by_one.mean(axis=-1))
    assert_allclose(found.by_orientation, one_by_one.mean(axis=(0, 1)))
    assert found.reached_volume(1 / 3) == pytest.approx(one_by_one.any(axis=-1).sum() * 0.4**3)
    assert sum(found.reasons.values()) == (~one_by_one).sum()


def test_a_direction_alone_is_reached_in_more_places():
    robot = cr.load("planar_3r")
    pose = robot.ik.reachability([0, 0, 0], [3, 3, 0], 0.5, np.eye(3))
    pointing = robot.ik.reachability([0, 0, 0], [3, 3, 0], 0.5, np.eye(3), task="axis")  # z stays z: any turn will do
    assert pose.success_rate < pointing.success_rate
    assert "1 orientations" in repr(pose)


def test_boxes_need_not_be_whole_cells():
    volume = read_volume([0, 0, 1], [1, 0.3, 1], 0.25, None)
    assert volume.shape == (4, 2, 1)
    assert_allclose(volume.coordinates(0), [0.125, 0.375, 0.625, 0.875])
    assert_allclose(volume.coordinates(1), [0.025, 0.275])
    assert_allclose(volume.coordinates(2), [1.0])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 0], [1, 1, 1], 0.1), {}, "low must have 3 numbers"),
        ((np.zeros((2, 3)), [1, 1, 1], 0.1), {}, "low must be a point"),
        (([0, 0, 0], [1, 1, np.inf], 0.1), {}, "high must be finite"),
        (([0, 0, 0], [1, -1, 1], 0.1), {}, "high must not be below low"),
        (([0, 0, 0], [1, 1, 1], 0), {}, "cell must be a positive length"),
        (([0, 0, 0], [1, 1, 1], 1e-5), {}, "more than 8,000,000,000 targets; take cells of about 0.0005 m or more"),
        (([0, 0, 0], [1, 1, 1], 0.5, np.ones((3, 3))), {}, "orientations is not a rigid transform"),
        (
            ([0, 0, 0], [1, 1, 1], 0.5, np.ones(3)),
            {},
            r"orientations must be rotation matrices \(3, 3\) or \(K, 3, 3\)",
        ),
        (([0, 0, 0], [1, 1, 1], 0.5), {"restart": 3}, "no option named 'restart'; did you mean 'restarts'"),
        (([0, 0, 0], [1, 1, 1], 0.5), {"task": "pose"}, "target"),
        (([0, 0, 0], [1, 1, 1], 0.5), {"tolerance": -1}, "tolerance"),
    ],
)
def test_what_is_wrong_is_named(arm, arguments, options, message):
    with pytest.raises(cr.ChainruleError, match=message):
        arm.ik.reachability(*arguments, **options)


def test_a_share_is_between_nothing_and_all(found):
    with pytest.raises(cr.ShapeError, match="share must be above 0 and at most 1, got 0"):
        found.reached_volume(0)
