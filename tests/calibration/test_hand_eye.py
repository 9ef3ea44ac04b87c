"""Hand-eye calibration: known cameras are found, their errors are as large as said, and bad poses are named."""

import numpy as np
import pytest
from refusals import refused
from scipy.spatial.transform import Rotation

import chainrule as cr
from chainrule.calibration.hand_eye import inverse, small_motion

pytestmark = pytest.mark.interpreted


def poses(rng, count, place=1.0):
    T = np.tile(np.eye(4), (count, 1, 1))
    T[:, :3, :3] = Rotation.random(count, random_state=rng).as_matrix()
    T[:, :3, 3] = place * rng.normal(size=(count, 3))
    return T


def seen(A, X, Y, camera):
    """What a camera at X sees of a target at Y."""
    return inverse(A @ X) @ Y if camera == "hand" else inverse(X) @ A @ Y


def noisy(rng, C, turn=2e-3, place=1e-3):
    return C @ np.array([small_motion(np.r_[turn * rng.normal(size=3), place * rng.normal(size=3)]) for _ in C])


@pytest.mark.parametrize("camera", ["hand", "fixed"])
def test_exact_poses_give_the_exact_camera(camera):
    rng = np.random.default_rng(0)
    A, (X, Y) = poses(rng, 3), poses(rng, 2)
    found = cr.hand_eye(A, seen(A, X, Y, camera), camera=camera)
    np.testing.assert_allclose(found.camera, X, atol=1e-12)
    np.testing.assert_allclose(found.target, Y, atol=1e-12)
    np.testing.assert_allclose(A @ np.asarray(found), A @ X, atol=1e-12)


@pytest.mark.parametrize("camera", ["hand", "fixed"])
def test_errors_of_noisy_poses_are_distributed_as_the_covariance_says(camera):
    rng = np.random.default_rng(1)
    A, (X, Y) = poses(rng, 15), poses(rng, 2)
    squares, noise = [], []
    for _ in range(100):
        found = cr.hand_eye(A, noisy(rng, seen(A, X, Y, camera)), camera=camera)
        d = inverse(X) @ found.camera
        e = np.r_[Rotation.from_matrix(d[:3, :3]).as_rotvec(), d[:3, 3]]
        squares.append(e @ np.linalg.solve(found.covariance[:6, :6], e))
        noise.append(found.deviations)
    # a chi-squared variable of six degrees, the variance itself being estimated: mean 6, standard error 0.35
    assert 5.0 < np.mean(squares) < 7.5
    np.testing.assert_allclose(np.sqrt(np.mean(np.square(noise), axis=0)), [1e-3, 2e-3], rtol=0.05)


def test_pairs_that_do_not_fit_are_left_out_and_named():
    rng = np.random.default_rng(2)
    A, (X, Y) = poses(rng, 30), poses(rng, 2)
    C = noisy(rng, seen(A, X, Y, "hand"))
    C[[4, 20]] = C[[4, 20]] @ small_motion(np.array([0.3, 0, 0, 0.1, 0, 0]))
    found = cr.hand_eye(A, C)
    assert found.outliers == (4, 20)
    assert np.abs(found.camera[:3, 3] - X[:3, 3]).max() < 5 * found.standard_deviations[3:].max()
    assert "left out: 4, 20" in str(found).replace("\n ", "")


def test_turns_about_one_axis_are_refused_with_what_they_leave_open():
    rng = np.random.default_rng(3)
    X, Y = poses(rng, 2)
    A = poses(rng, 20)
    A[:, :3, :3] = Rotation.from_rotvec(rng.uniform(-1, 1, (20, 1)) * [[0.0, 0.6, 0.8]]).as_matrix()
    C = noisy(rng, seen(A, X, Y, "hand"))
    refused(
        lambda: cr.hand_eye(A, C), cr.ShapeError, r"about one axis, \(-?0, -?0.6, -?0.8\) in the base.*place of the"
    )
    A[:, :3, :3] = np.eye(3)
    C = noisy(rng, seen(A, X, Y, "fixed"))
    refused(lambda: cr.hand_eye(A, C, camera="fixed"), cr.ShapeError, "the hand turns by 0 rad.*place cannot be found")


A = poses(np.random.default_rng(4), 12)
X, Y = poses(np.random.default_rng(5), 2)
C = noisy(np.random.default_rng(6), seen(A, X, Y, "hand"))
MM, NAN = C.copy(), C.copy()
MM[:, :3, 3] *= 1000
NAN[7, 0, 3] = np.nan


@pytest.mark.parametrize(
    ("robot_poses", "camera_poses", "options", "error", "message"),
    [
        (A, MM, {}, cr.ShapeError, "lengths in camera_poses are .* by 1000 if they are in mm"),
        (A, inverse(C), {}, cr.ShapeError, "would fit with camera='fixed', or with the inverses of camera_poses"),
        (A, C, {"camera": "fixed"}, cr.ShapeError, "would fit with camera='hand'"),
        (A, C[::-1], {}, cr.ShapeError, "of the same moments, in the same order"),
        (A, C.swapaxes(1, 2), {}, cr.ShapeError, r"camera_poses must have the last row 0 0 0 1.*it is transposed"),
        (A, NAN, {}, cr.ShapeError, "camera_poses has numbers that are not finite in row 7"),
        (A[:2], C[:2], {}, cr.ShapeError, "2 pairs of poses do not determine a camera"),
        (A[:9], C, {}, cr.ShapeError, "robot_poses has 9 poses and camera_poses 12"),
        (A[0], C[0], {}, cr.ShapeError, r"robot_poses must be a list of poses \(k, 4, 4\)"),
        (A, C, {"camera": "eye"}, cr.UnknownNameError, "no camera named 'eye'; there are: 'hand', 'fixed'"),
    ],
)
def test_bad_poses_are_named(robot_poses, camera_poses, options, error, message):
    refused(lambda: cr.hand_eye(robot_poses, camera_poses, **options), error, message)
