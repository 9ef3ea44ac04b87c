"""Closed forms at and near singular postures: every pose that the arm takes has a branch, and free angles are told."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr

HALF = np.pi / 2


def robot_of(rows):
    """An arm of rows (a, alpha, d), without masses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)
        return cr.Robot.from_dh([(*row, 0.0) for row in rows], convention="standard")


def ur_type(offset=0.109, fore=-0.392):
    """The UR5's axes by Denavit and Hartenberg, with another offset of the shoulder or another forearm."""
    links = (0, HALF, 0.089), (-0.425, 0, 0), (fore, 0, 0)
    return robot_of([*links, (0, HALF, offset), (0, -HALF, 0.095), (0, 0, 0.082)])


def with_wrist(*arm):
    """An arm with a spherical wrist, of three rows (a, alpha, d) for its first joints."""
    return robot_of([*arm, (0, HALF, 0.4), (0, -HALF, 0), (0, 0, 0.1)])


UR_TYPE = {"ur5": cr.load("ur5"), "ur5 by rows": ur_type(), "equal": ur_type(fore=-0.425), "no offset": ur_type(0.0)}
SPHERICAL = {
    "puma560": cr.load("puma560"),
    "equal links": with_wrist((0, HALF, 0.3), (0.4, 0, 0), (0, -HALF, 0)),
    "equal links and an offset": with_wrist((0, HALF, 0.3), (0.4, 0, 0.1), (0, -HALF, 0)),
    "second axis beside the first": with_wrist((0.15, HALF, 0.3), (0.4, 0, 0), (0.05, -HALF, 0)),
    "first axes meet at an angle": with_wrist((0, 0.8, 0.3), (0.4, 0.3, 0.1), (0.05, -HALF, 0.1)),
    "skew axes": with_wrist((0.2, 0.7, 0.3), (0.4, 1.1, 0.1), (0.05, -HALF, 0.1)),
    "first axes parallel": with_wrist((0.4, 0, 0.3), (0.4, HALF, 0.1), (0.05, -HALF, 0.1)),
}
ARMS = UR_TYPE | SPHERICAL
WITH_SHOULDER = ["ur5 by rows", "equal", "no offset", *list(SPHERICAL)[:4]]
"""Arms by rows of Denavit and Hartenberg whose second and third axes are parallel."""


def center_of(name):
    """The link that has its origin where the last two axes meet."""
    return "link5" if name in UR_TYPE else "link4"


def elbow_in_line(name):
    """The third angle that brings what the first links carry nearest to the second axis; half a turn away is straight."""
    if name in UR_TYPE:
        return np.pi
    arm = SPHERICAL[name]
    second, third, center = (arm.pose(arm.neutral(), link) for link in ("link1", "link2", "link4"))
    axes = third[:3, :3]
    tip, shoulder = (axes.T @ (T[:3, 3] - third[:3, 3]) for T in (center, second))
    return np.arctan2(shoulder[1], shoulder[0]) - np.arctan2(tip[1], tip[0])


def over_the_first_axis(name, q):
    """q with second angles that bring the wrist as near to the first axis as they can: a + b cos q2 + c sin q2 = 0."""
    arm, q = ARMS[name], q.copy()
    q[:, 0] = 0.0
    forward = []
    for angle in (0.0, HALF, np.pi):
        q[:, 1] = angle
        forward.append(arm.pose(q, center_of(name))[:, 0, 3])
    at_0, at_quarter, at_half = forward
    a, b = (at_0 + at_half) / 2, (at_0 - at_half) / 2
    c = at_quarter - a
    with np.errstate(invalid="ignore"):  # too far out to be over the axis
        q[:, 1] = np.arctan2(c, b) + np.arccos(-a / np.hypot(b, c))
    return q[np.isfinite(q).all(axis=1)]


def best_errors(arm, q):
    """The largest entry by which the pose of the best branch differs from that of q, for each q."""
    T = arm.pose(q)
    found = arm.ik.branches(T)
    apart = np.abs(arm.pose(found.q) - T[:, None]).max(axis=(-1, -2))
    return np.where(found.exists, apart, np.inf).min(axis=-1)


NEAR = st.sampled_from([0.0, *(10.0**-k for k in range(3, 17))])
ANGLES = st.sampled_from([None, 0.0, np.pi])


@pytest.mark.parametrize("name", ARMS)
@settings(max_examples=25)
@given(near=NEAR, elbow=ANGLES, wrist=ANGLES, seed=st.integers(0, 2**32 - 1))
def test_wrists_and_elbows_in_line_have_a_branch(name, near, elbow, wrist, seed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (100, 6))
    for joint, angle in ((2, elbow), (4, wrist)):
        if angle is not None:
            middle = elbow_in_line(name) if joint == 2 else 0.0
            q[:, joint] = middle + angle + near * rng.choice([-1, 1], len(q))
    assert best_errors(ARMS[name], q).max() < 1e-9


@pytest.mark.parametrize("name", WITH_SHOULDER)
@settings(max_examples=25)
@given(near=NEAR, elbow=ANGLES, wrist=ANGLES, seed=st.integers(0, 2**32 - 1))
def test_wrists_over_the_first_axis_have_a_branch(name, near, elbow, wrist, seed):
    """With two singularities at once too; where all three meet, or nearly, rounding counts by its root."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (40, 6))
    if elbow is not None:
        q[:, 2] = elbow_in_line(name) + elbow + near * rng.choice([-1, 1], len(q))
    if wrist is not None:
        q[:, 4] = wrist + near * rng.choice([-1, 1], len(q))
    q = over_the_first_axis(name, q)
    q[:, 1] += near * rng.choice([-1, 1], len(q))
    q[:, 0] = rng.uniform(-np.pi, np.pi, len(q))
    if len(q):
        assert best_errors(ARMS[name], q).max() < 1e-8


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r"])
@settings(max_examples=25)
@given(near=NEAR, angle=st.sampled_from([0.0, np.pi]), seed=st.integers(0, 2**32 - 1))
def test_planar_arms_in_line_have_a_branch(name, near, angle, seed):
    arm = cr.load(name)
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (100, arm.nq))
    q[:, 1] = angle + near
    T = arm.pose(q)[:, :3, 3:] if arm.nq == 2 else arm.pose(q)[:, :3]
    found = arm.ik.branches(arm.pose(q))
    apart = np.abs(arm.pose(found.q)[..., :3, -T.shape[-1] :] - T[:, None]).max(axis=(-1, -2))
    assert np.where(found.exists, apart, np.inf).min(axis=-1).max() < 1e-9


FREE = {
    "last joint of a UR": ("ur5", [0.4, -1.0, 1.3, 0.3, 0.0, 0.7], 5),
    "last joint of a UR, turned over": ("ur5", [0.4, -1.0, 1.3, 0.3, np.pi, 0.7], 5),
    "straight wrist": ("puma560", [0.4, -1.0, 0.3, 0.6, 0.0, 0.7], 3),
    "wrist over the first axis": ("equal links", [0.4, None, 1.0, 0.6, 0.9, 0.7], 0),
    "wrist of a UR over the first axis": ("no offset", [0.4, None, 1.0, 0.6, 0.9, 0.7], 0),
    "folded links": ("equal links and an offset", [0.4, 0.7, None, 0.6, 0.9, 0.7], 1),
    "folded links of a UR": ("equal", [0.4, 0.7, np.pi, 0.6, 0.9, 0.7], 1),
}


@pytest.mark.parametrize("case", FREE)
def test_a_free_angle_is_told_and_can_be_changed(case):
    """With the free joint locked somewhere else, the search still finds the others."""
    name, posture, joint = FREE[case]
    arm = ARMS[name]
    q = np.array([[0.0 if x is None else x for x in posture]])
    if posture[2] is None:
        q[:, 2] = elbow_in_line(name)
    if posture[1] is None:
        q = over_the_first_axis(name, q)
        q[:, 0] = posture[0]
    target = arm.pose(q[0])
    found = arm.ik.branches(target)
    told = found.valid & found.free[:, joint]
    assert told.any()
    assert not np.delete(found.free[told], joint, axis=-1).any()
    branch = found.q[told][0]
    for change in (-0.2, 0.2):
        locked = arm.lock({arm.coordinate_names[joint]: branch[joint] + change})
        assert locked.inverse_kinematics(target, np.delete(branch, joint)).success


def test_folded_equal_links_of_a_planar_arm_turn_freely():
    arm = cr.load("planar_2r")
    found = arm.ik.branches(arm.pose([0.8, np.pi]))
    assert found.free[found.valid].tolist() == [[True, False]]


@pytest.mark.parametrize("name", ARMS)
def test_no_angle_is_free_elsewhere(name):
    arm = ARMS[name]
    found = arm.ik.branches(arm.pose(np.random.default_rng(3).uniform(-np.pi, np.pi, (200, 6))))
    assert found.exists.any(axis=-1).all()
    assert not found.free.any()


@pytest.mark.parametrize("elbow", [0.0, None])
def test_an_undecided_angle_is_the_nearest_to_zero_with_which_the_arm_reaches(elbow):
    """The angle that the pose came from reaches, so that none that is chosen is farther from 0."""
    arm = cr.load("ur5")
    q = np.random.default_rng(5).uniform(-np.pi, np.pi, (300, 6))
    q[:, 4] = 0.0
    if elbow is not None:
        q[:, 2] = elbow
    found = arm.ik.branches(arm.pose(q))
    chosen = np.where(found.free[..., 5], np.abs(found.q[..., 5]), 0.0).max(axis=-1)
    assert (chosen <= np.abs(q[:, 5]) + 1e-6).all()
    assert (chosen < 1e-12).any()
    assert (chosen > 0.1).any()
