"""Inverse kinematics in closed form: every branch of every arm that has one."""

import numpy as np
import pytest

import chainrule as cr


def turned_apart(q, branches):
    """The largest angle between a configuration and each branch, whole turns aside."""
    return np.abs(np.angle(np.exp(1j * (branches - q[..., None, :])))).max(axis=-1)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_two_links_by_hand():
    arm = cr.load("planar_2r")
    found = arm.ik.branches(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [3.0, 0.0, 0.0]]))
    expected = [
        [[0, np.pi / 2], [np.pi / 2, -np.pi / 2]],
        [[np.pi / 6, 2 * np.pi / 3], [5 * np.pi / 6, -2 * np.pi / 3]],
    ]
    for q, pair in zip(found.q, expected, strict=False):
        assert min(np.abs(q - pair).max(), np.abs(q[::-1] - pair).max()) < 1e-9
    assert found.exists.tolist() == [[True, True], [True, True], [False, False]]
    np.testing.assert_allclose(found.error[2, :, 0], 1.0, atol=1e-9)


def test_three_links_by_hand():
    """Links of 1 and 0.8 m: the other elbow is the first one's mirror image at the line to the wrist."""
    arm = cr.load("planar_3r")
    found = arm.ik.branches(arm.pose([0.0, np.pi / 2, -np.pi / 2]))
    best = np.abs(found.q - [0.0, np.pi / 2, -np.pi / 2]).max(axis=-1)
    assert best.min() < 1e-9
    assert found.exists.all()
    other = found.q[best.argmax()]
    shoulder = 2 * np.arctan2(0.8, 1.0)
    np.testing.assert_allclose(other, [shoulder, -np.pi / 2, np.pi / 2 - shoulder], atol=1e-9)


@pytest.mark.parametrize("name", ["puma560", "ur5", "planar_2r", "planar_3r"])
def test_every_configuration_is_among_the_branches_of_its_pose(name, rng):
    arm = cr.load(name)
    q = arm.random_state(rng, 400)
    T = arm.pose(q)
    found = arm.ik.branches(T)
    turned = turned_apart(q, found.q)
    assert turned.min(axis=1).max() < 1e-6
    rows = np.nonzero(found.exists)
    first = 3 if name == "planar_2r" else 0  # the orientation of two links is not theirs to choose
    np.testing.assert_allclose(arm.pose(found.q[rows])[:, :3, first:], T[rows[0]][:, :3, first:], atol=2e-6)
    assert found.valid.any(axis=1).all()
    kept = found.q[found.valid]
    assert ((kept >= arm.limits.lower) & (kept <= arm.limits.upper)).all()


TWISTS = {
    "axes that meet": (0.0, np.pi / 2, 0.3, 0.0),
    "axes apart": (0.1, np.pi / 2, 0.3, 0.1),
    "skew axes": (0.2, 0.7, 1.1, 0.1),
    "parallel axes": (0.2, 0.0, np.pi / 2, 0.1),
    "elbow": (0.15, np.pi / 2, 0.0, 0.0),
}


@pytest.mark.parametrize("case", TWISTS)
@pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")
def test_spherical_wrists_on_any_arm(case, rng):
    a, first, second, d = TWISTS[case]
    half = np.pi / 2
    rows = [
        (a, first, 0.3, 0.0),
        (0.4, second, 0.1, 0.0),
        (0.05, -half, d, 0.0),
        (0, half, 0.4, 0.0),
        (0, -half, 0, 0.0),
        (0, 0, 0.1, 0.0),
    ]
    arm = cr.Robot.from_dh(rows, convention="standard")
    q = arm.random_state(rng, 200)
    found = arm.ik.branches(arm.pose(q))
    assert found.kind == "spherical wrist"
    turned = turned_apart(q, found.q)
    assert turned.min(axis=1).max() < 1e-6


def test_closed_form_and_search_agree(rng):
    arm = cr.load("puma560")
    T = arm.pose(arm.random_state(rng, 60))
    searched, found = arm.inverse_kinematics(T), arm.ik.branches(T)
    turned = turned_apart(searched.q, found.q)
    assert np.median(turned.min(axis=1)) < 1e-9
    assert turned.min(axis=1).max() < 1e-2  # near singular poses, a micrometre is a wide range of angles


def test_a_singular_wrist_has_branches_without_nan():
    arm = cr.load("puma560")
    found = arm.ik.branches(arm.pose([0.2, 0.3, 0.4, 0.5, 0.0, 0.6]))
    assert found.valid.any()
    assert np.isfinite(found.q).all()


@pytest.mark.parametrize(("name", "words"), [("panda", "7 joints"), ("stanford", "joint3.*prismatic")])
def test_arms_without_closed_form_are_sent_to_the_search(name, words):
    with pytest.raises(cr.ModelError, match=f"{words}.*robot.inverse_kinematics"):
        cr.load(name).ik.branches(np.eye(4))
