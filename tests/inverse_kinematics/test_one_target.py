"""One target alone, a few, and many: the same results, and requests that are read once."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import chainrule as cr
from chainrule.arguments import rigid_transforms
from chainrule.core.derived import remember
from chainrule.inverse_kinematics.request import MAX_KNOWN_REQUESTS
from chainrule.inverse_kinematics.rigid import numbers_of_one, orthonormalize, pose_numbers
from chainrule.inverse_kinematics.search import BestSoFar

FIELDS = ("q", "success", "error", "iterations", "reason")


@pytest.fixture(scope="module")
def arm():
    return cr.load("panda")


@pytest.fixture(scope="module")
def targets(arm):
    """Poses, one beyond the reach and one that is not finite, and starts not far from their solutions."""
    rng = np.random.default_rng(3)
    q = arm.random_state(rng, 60)
    T = arm.pose(q)
    T[7, 0, 3], T[9] = 5.0, np.nan
    return T, q + 0.7 * rng.standard_normal(q.shape)


def assert_equal(one, many, rows):
    for name in FIELDS:
        a, b = getattr(one, name), getattr(many, name)[rows]
        assert type(a) is type(b)
        assert np.array_equal(a, b, equal_nan=name in ("q", "error")), name


@pytest.mark.parametrize("has_start", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"restarts": 0},
        {"restarts": 1},
        {"restarts": 5, "max_iterations": 9},
        {"limits": False},
        {"task": "axis", "axis": (1, 0, 0)},
        {"method": "transpose", "restarts": 2},
    ],
)
def test_a_result_does_not_depend_on_how_many_targets_there_are(arm, targets, options, has_start):
    T, starts = targets
    q0 = starts if has_start else None
    many = arm.inverse_kinematics(T, q0, **options)
    for size in (1, 2, 11):
        for first in range(0, len(T) - size, size):
            rows = first if size == 1 else slice(first, first + size)
            assert_equal(arm.inverse_kinematics(T[rows], None if q0 is None else q0[rows], **options), many, rows)


def test_other_starts_do_not_depend_on_how_many_rows_are_left(arm, targets):
    """A hard target takes the same way through its restarts in a lane of its own and in a crowd."""
    T, _ = targets
    crowd = np.repeat(T[:7], 30, axis=0)
    many = arm.inverse_kinematics(crowd)
    for k in range(7):
        assert_equal(arm.inverse_kinematics(T[k]), many, 30 * k + 17)


def test_several_links_have_errors_of_their_own():
    robot = cr.load("planar_3r")
    links = [robot.link_names[2], robot.end_effector]
    q = np.array([[0.3, 0.4, 0.5], [0.1, -0.4, 0.2]])
    goals = {link: robot.pose(q, link)[:, :3, 3] for link in links}
    many = robot.inverse_kinematics(goals, q + 0.1, task="position")
    one = robot.inverse_kinematics({link: p[0] for link, p in goals.items()}, q[0] + 0.1, task="position")
    assert_equal(one, many, 0)
    assert list(one.errors) == links
    for link in links:
        np.testing.assert_array_equal(one.errors[link], many.errors[link][0])


# --- requests are read once ---


def test_an_option_of_another_class_is_not_taken_for_the_one_that_is_known(arm, targets):
    T = targets[0][0]
    arm.inverse_kinematics(T, restarts=1, seed=1)
    with pytest.raises(cr.ShapeError, match="restarts"):
        arm.inverse_kinematics(T, restarts=True, seed=1)
    with pytest.raises(cr.ShapeError, match="seed"):
        arm.inverse_kinematics(T, restarts=1, seed=True)


def test_errors_of_targets_are_told_by_a_known_request_too(arm, targets):
    T = targets[0][0]
    arm.inverse_kinematics(T)
    with pytest.raises(cr.ShapeError, match=r"inverse_kinematics: target must be poses \(\.\.\., 4, 4\)"):
        arm.inverse_kinematics(np.zeros((3, 3)))
    with pytest.raises(cr.ShapeError, match="its rotation mirrors"):
        arm.inverse_kinematics(np.diag([1.0, 1.0, -1.0, 1.0]))
    with pytest.raises(cr.ShapeError, match="must have the last row 0 0 0 1"):
        arm.inverse_kinematics(T + np.outer([0, 0, 0, 1], [0.1, 0, 0, 0]))
    with pytest.raises(cr.ShapeError, match=r"\(row 1\): its rotation is off by"):
        arm.inverse_kinematics(np.stack([T, T * [[1.1], [1], [1], [1]]]))


def test_known_requests_are_bounded(targets):
    robot = cr.load("planar_2r")
    for k in range(MAX_KNOWN_REQUESTS + 5):
        robot.inverse_kinematics([0.5, 0.5, 0.0], [0.1, 0.2], task="position", tolerance=1e-6 * (1 + k))
    known = remember(robot, "requests of inverse kinematics", dict)
    assert 0 < len(known) <= MAX_KNOWN_REQUESTS


def test_switching_compiled_code_off_counts_at_once(arm, targets, monkeypatch):
    T, starts = targets
    compiled = arm.inverse_kinematics(T[0], starts[0])
    monkeypatch.setenv("CHAINRULE_KERNELS", "off")
    interpreted = arm.inverse_kinematics(T[0], starts[0])
    assert compiled.success
    assert interpreted.success
    np.testing.assert_allclose(interpreted.q, compiled.q, atol=1e-6)
    assert len(remember(arm, "requests of inverse kinematics", dict)) <= MAX_KNOWN_REQUESTS


def test_threads_have_arrays_of_their_own(arm, targets):
    T, starts = targets
    expected = arm.inverse_kinematics(T[:6], starts[:6]).q
    wrong = []

    def work(k):
        for _ in range(50):
            if not np.array_equal(arm.inverse_kinematics(T[k], starts[k]).q, expected[k]):
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_results_are_no_part_of_what_is_used_again(arm, targets):
    T, starts = targets
    first = arm.inverse_kinematics(T[0], starts[0])
    kept = {name: np.copy(getattr(first, name)) for name in ("q", "error")}
    arm.inverse_kinematics(T[1], starts[1])
    for name, value in kept.items():
        np.testing.assert_array_equal(getattr(first, name), value)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_start_that_is_not_finite_is_told(arm, targets, bad):
    T, starts = targets
    q0 = starts[0].copy()
    q0[2] = bad
    result = arm.inverse_kinematics(T[0], q0)
    assert not result.success
    assert result.reason == "not finite"


def test_a_start_in_degrees_is_told_in_a_call_for_one_target(arm, targets):
    T = targets[0][0]
    with pytest.warns(cr.ModelWarning, match="inverse_kinematics: joint .* if these are degrees"):
        arm.inverse_kinematics(T, np.array([0.0, 20.0, 0.0, -90.0, 0.0, 100.0, 0.0]))


def test_numbers_that_overflow_warn_of_nothing(arm):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (1e160, 1e300):
            T = np.eye(4)
            T[0, 3] = size
            assert arm.inverse_kinematics(T, restarts=2).reason == "not reached"


# --- poses of targets ---


def test_rotations_are_corrected_row_by_row(arm):
    T = arm.pose(arm.random_state(np.random.default_rng(0), 30))
    rounded = np.concatenate([T[:15], T[15:].round(7)])
    numbers = pose_numbers(rounded, "target")
    np.testing.assert_array_equal(numbers[:15, :9].reshape(-1, 3, 3), T[:15, :3, :3])
    np.testing.assert_allclose(numbers[15:, :9].reshape(-1, 3, 3), orthonormalize(rounded[15:, :3, :3]), atol=1e-15)
    for one, expected in zip(rounded, numbers, strict=True):
        np.testing.assert_array_equal(numbers_of_one(one), expected)


@pytest.mark.parametrize(("size", "is_rigid"), [(1e-5, False), (1.00001e-6, False), (9.9999e-7, True), (1e-9, True)])
def test_compiled_checks_refuse_what_the_written_ones_refuse(size, is_rigid):
    T = np.eye(4)
    T[0, 1] = size
    assert (numbers_of_one(T) is not None) == is_rigid
    for check in (pose_numbers, rigid_transforms):
        if is_rigid:
            check(T, "target")
        else:
            with pytest.raises(cr.ShapeError, match="target is not a rigid transform: its rotation is off by"):
                check(T, "target")


# --- other starts ---


def test_starts_of_several_rounds_are_compared_round_by_round():
    rng = np.random.default_rng(0)
    for near in (None, rng.standard_normal((5, 2))):
        for _ in range(50):
            rounds, rows = [1, 2, 4], 5
            count = sum(rounds) * rows
            miss = rng.choice([0.5, 2.0], count, p=[0.2, 0.8])
            found = BestSoFar(rng.standard_normal((count, 2)), miss, rng.uniform(0, 1, count), np.ones(count))
            together = found.best_of_rounds(rounds, near)
            for row in range(rows):
                spent, first, chosen = 0, 0, None
                while first < 7 and chosen is None:
                    size = rounds[len(np.flatnonzero(np.cumsum(rounds) <= first))]
                    starts = [rows * k + row for k in range(first, first + size)]
                    solved = [k for k in starts if miss[k] <= 1]
                    if solved and near is None:
                        chosen = solved[0]
                    elif solved:
                        chosen = min(solved, key=lambda k: np.abs(found.q[k] - near[row]).max())
                    first, spent = first + size, spent + size
                if chosen is None:
                    chosen = min(range(row, count, rows), key=lambda k: found.cost[k])
                np.testing.assert_array_equal(together.q[row], found.q[chosen])
                assert together.iterations[row] == spent
