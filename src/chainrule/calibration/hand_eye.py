"""Cameras on robots: where a camera is, from poses of the hand and what the camera sees in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from chainrule.arguments import Array, one_of, pose_matrices, real_array, rigid_transforms
from chainrule.calibration.least_squares import fit
from chainrule.calls import explains_arguments
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CAMERAS = ("hand", "fixed")
MIN_POSES = 3
"""Poses of the hand: two motions, whose axes differ."""
MIN_TURN = 0.02
"""The angle in rad by which the hand must turn, and the axes of its turns must differ: (rms) about 1 degree."""
NOISE_MULTIPLE = 5
"""How many times the noise of the orientations those angles must be."""
FAR_OFF = 0.1
"""Orientations that differ by so many rad (median) are no noise of a camera."""
LIKELY_SCALES = (0.1, 10.0)
"""The scale of the camera's lengths, found with the rest, that no error of a camera in m explains."""
RESIDUALS = (1, 1, 1, 0, 0, 0)
"""Kinds of residuals: orientations are 1, positions 0."""


@dataclass(frozen=True, eq=False, repr=False)
class HandEye(Shown):
    """Poses of a camera and of what it looks at. Made by `cr.hand_eye`. `np.asarray(X)` is the pose of the camera."""

    camera: Array
    """The pose X of the camera (4, 4): in the hand, or in the base where the camera is fixed."""
    target: Array
    """The pose Y of what it sees (4, 4): in the base, or in the hand where the camera is fixed."""
    standard_deviations: Array
    """Of the camera's pose (6,): turns about its own axes in rad, places along them in m."""
    covariance: Array = field(repr=False)
    """Of the camera's pose, then the target's (12, 12): turns (rad) and places (m) in their own axes."""
    deviations: tuple[float, float]
    """Standard deviations of what the camera measured, in each direction: position (m) and orientation (rad)."""
    outliers: tuple[int, ...]
    """The pairs of poses that do not fit, and were left out."""
    residuals: Array = field(repr=False)
    """What remains of each measurement (k, 6): orientation (rad), position (m), in the target's axes."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.camera, dtype=dtype)

    def _view(self) -> Iterator[str | Table]:
        position, orientation = self.deviations
        yield (
            f"camera from {len(self.residuals)} pairs of poses; measured to {position:.3g} m and {orientation:.3g} rad"
            + (f"; left out: {', '.join(map(str, self.outliers))}" if self.outliers else "")
        )
        d, rows = self.standard_deviations, []
        for i, axis in enumerate("xyz"):
            rows.append((axis, *map(float, self.camera[i]), float(d[3 + i]), float(d[i])))
        yield Table(("camera", "x axis", "y axis", "z axis", "place, m", "s.d., m", "s.d., rad"), rows)


@explains_arguments
def hand_eye(robot_poses: ArrayLike, camera_poses: ArrayLike, *, camera: str = "hand") -> HandEye:
    """The pose X of a camera, from poses of the hand and of a target in the camera: AX = XB, and with Y, AX = YB.

    Closed-form start by the singular vectors of a Kronecker sum (Shah 2013), then least squares in both poses, with
    positions and orientations weighted by what they scatter, and pairs that do not fit left out.

    Parameters
    ----------
    robot_poses
        Poses of the hand in the base, A_i (k, 4, 4), three or more, whose turns have different axes.
    camera_poses
        Poses of the target in the camera, at the same moments (k, 4, 4), in m.
    camera
        "hand": it moves with the hand, and the target stands still. A_i X C_i = Y, so that with motions A and B from
        one moment to another AX = XB. "fixed": it stands still, and the target moves with the hand. A_i Y = X C_i: hand
        and eye in robot and world, AX = YB.

    Returns
    -------
    HandEye
        `camera` is X, `target` is Y. What motions do not determine is refused, and named.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm = cr.load("panda")
    >>> A = arm.pose(arm.random_state(np.random.default_rng(0), 8))
    >>> X, Y = arm.pose(arm.home()), arm.pose(arm.neutral())
    >>> found = cr.hand_eye(A, np.linalg.inv(A @ X) @ Y)
    >>> bool(np.allclose(found, X)), bool(np.allclose(found.target, Y))
    (True, True)
    """
    chosen = one_of(CAMERAS, camera, "camera", "hand_eye")
    hand, C = read_poses(robot_poses, "hand_eye: robot_poses"), read_poses(camera_poses, "hand_eye: camera_poses")
    if len(hand) != len(C):
        raise ShapeError(f"hand_eye: robot_poses has {len(hand)} poses and camera_poses {len(C)}; give pairs of them")
    if len(hand) < MIN_POSES:
        raise ShapeError(f"hand_eye: {len(hand)} pairs of poses do not determine a camera; at least {MIN_POSES} do")
    _refuse_parallel(hand, 0.0)
    A = inverse(hand) if chosen == "hand" else hand  # A_i target = camera C_i, either way
    target, found = _closed_form(A, C)
    noise = _orientation_noise(A, C, target, found)
    if noise > FAR_OFF:
        _refuse_inconsistent(A, C, chosen, noise)
    _refuse_parallel(hand, noise)

    def evaluate(x: tuple[Array, Array]) -> tuple[Array, Array]:
        return _residuals(A, C, *x)

    def step(x: tuple[Array, Array], d: Array) -> tuple[Array, Array]:
        return x[0] @ small_motion(d[:6]), x[1] @ small_motion(d[6:])

    best = fit(evaluate, step, _places(A, C, target, found), RESIDUALS)
    covariance = np.roll(best.covariance, (6, 6), axis=(0, 1))
    position, orientation = best.deviations.tolist()
    left_out = tuple(np.flatnonzero(best.outliers).tolist())
    deviations = np.sqrt(np.diag(covariance)[:6])
    return HandEye(best.x[1], best.x[0], deviations, covariance, (position, orientation), left_out, best.residuals)


def inverse(T: Array) -> Array:
    """Inverses of rigid transforms (..., 4, 4)."""
    inv = np.array(T)
    inv[..., :3, :3] = np.swapaxes(T[..., :3, :3], -1, -2)
    inv[..., :3, 3] = -(inv[..., :3, :3] @ T[..., :3, 3:])[..., 0]
    return inv


def small_motion(d: Array) -> Array:
    """The transform (4, 4) of a turn and a displacement in the axes of a frame (6,)."""
    T = np.eye(4)
    T[:3, :3] = scipy.spatial.transform.Rotation.from_rotvec(d[:3]).as_matrix()
    T[:3, 3] = d[3:]
    return T


def turns(R: Array) -> Array:
    """Rotation vectors (k, 3) of rotations (k, 3, 3)."""
    return np.asarray(scipy.spatial.transform.Rotation.from_matrix(R).as_rotvec())


def nearest_rotation(M: Array) -> Array:
    """The rotation nearest to a matrix (3, 3)."""
    U, _, Vt = np.linalg.svd(M)
    return np.asarray(U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt)


def refuse_nonfinite_rows(array: Array, what: str) -> None:
    """Refuse measurements that are not finite, and say which."""
    bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1)) if array.ndim else np.zeros(0)
    if len(bad):
        listed = ", ".join(map(str, bad[:8])) + ", ..." * (len(bad) > 8)
        raise ShapeError(f"{what} has numbers that are not finite in row {listed}; leave out these measurements")


def read_poses(value: Any, what: str) -> Array:
    """Rigid transforms (k, 4, 4) that a user gives, in whichever form."""
    T = real_array(pose_matrices(value, what), what).astype(float)
    refuse_nonfinite_rows(T, what)
    T = rigid_transforms(T, what)
    if T.ndim != 3:
        raise ShapeError(f"{what} must be a list of poses (k, 4, 4), got shape {T.shape}")
    return T


def _closed_form(A: Array, B: Array) -> tuple[Array, Array]:
    """X and Y of A_i X = Y B_i, but for their places: the sum of B (x) A maps R_X to k R_Y."""
    R_A, R_B = A[:, :3, :3], B[:, :3, :3]
    K = np.einsum("kij,kab->iajb", R_A, R_B).reshape(9, 9)
    U, _, Vt = np.linalg.svd(K)
    M_Y, M_X = U[:, 0].reshape(3, 3), Vt[0].reshape(3, 3)
    sign = np.sign(np.linalg.det(M_X)) or 1.0
    X, Y = np.eye(4), np.eye(4)
    X[:3, :3], Y[:3, :3] = nearest_rotation(sign * M_X), nearest_rotation(sign * M_Y)
    return X, Y


def _orientation_noise(A: Array, B: Array, X: Array, Y: Array) -> float:
    """The median angle by which orientations of pairs contradict X and Y."""
    E = A[:, :3, :3] @ X[:3, :3] @ np.swapaxes(Y[:3, :3] @ B[:, :3, :3], -1, -2)
    return float(np.median(np.linalg.norm(turns(E), axis=1)))


def _places(A: Array, B: Array, X: Array, Y: Array) -> tuple[Array, Array]:
    """The places of X and Y by linear least squares, R_A p_X + p_A = R_Y s p_B + p_Y; s says if B is in m."""
    k = len(A)
    turned = (Y[:3, :3] @ B[:, :3, 3:])[..., 0]
    M = np.concatenate([A[:, :3, :3], np.broadcast_to(-np.eye(3), (k, 3, 3)), -turned[..., None]], axis=-1)
    M, b = M.reshape(-1, 7), A[:, :3, 3].ravel()
    found, scaled = (np.linalg.lstsq(M[:, :n], -b + rest, rcond=None)[0] for n, rest in ((6, turned.ravel()), (7, 0.0)))
    scale = float(scaled[6])
    far = scale > 0 and not LIKELY_SCALES[0] < scale < LIKELY_SCALES[1]
    if far and np.linalg.norm(M @ scaled + b) < np.linalg.norm(M[:, :6] @ found + b - turned.ravel()) / 3:
        which = "camera_poses" if scale < 1 else "robot_poses"
        raise ShapeError(
            f"hand_eye: lengths in camera_poses are {1 / scale:.4g} times those in robot_poses, and both are taken in "
            f"m; divide the places in {which} by 1000 if they are in mm"
        )
    X, Y = X.copy(), Y.copy()
    X[:3, 3], Y[:3, 3] = found[:3], found[3:6]
    return X, Y


def _residuals(A: Array, B: Array, X: Array, Y: Array) -> tuple[Array, Array]:
    """Orientation and position of E_i = (Y B_i)^-1 A_i X (k, 6), and their derivatives by small motions of X and Y."""
    Z = inverse(B)
    E = Z @ inverse(Y) @ A @ X
    k, R_E, R_Z = len(A), E[:, :3, :3], Z[:, :3, :3]
    J = np.zeros((k, 6, 12))
    J[:, :3, :3], J[:, 3:, 3:6] = np.eye(3), R_E
    J[:, :3, 6:9], J[:, 3:, 9:] = -R_Z, -R_Z
    J[:, 3:, 6:9] = (cross_matrices(E[:, :3, 3]) - cross_matrices(Z[:, :3, 3])) @ R_Z
    w = turns(R_E)
    J[:, :3, :3] += cross_matrices(w) / 2
    J[:, :3, 6:9] += cross_matrices(w) @ R_Z / 2
    return np.concatenate([w, E[:, :3, 3]], axis=1), J


def cross_matrices(v: Array) -> Array:
    """Matrices (k, 3, 3) of v x for vectors (k, 3)."""
    return np.swapaxes(np.cross(v[:, None, :], np.eye(3)), -1, -2)


def _refuse_parallel(A: Array, noise: float) -> None:
    """Refuse motions whose turns have one axis, with what they leave open."""
    w = turns(A[:, :3, :3] @ np.swapaxes(nearest_rotation(A[:, :3, :3].mean(axis=0)), -1, -2))
    _, s, Vt = np.linalg.svd(w / np.sqrt(len(w)), full_matrices=False)
    least = max(MIN_TURN, NOISE_MULTIPLE * noise)
    if s[0] < least:
        raise ShapeError(
            f"hand_eye: the hand turns by {s[0]:.2g} rad (rms) in these poses, which does not say where the camera is: "
            "its place cannot be found; turn the hand by 0.5 rad and more between poses, about two axes at least"
        )
    if s[1] < least:
        axis = ", ".join(f"{x:g}" for x in Vt[0].round(3) + 0.0)
        raise ShapeError(
            f"hand_eye: all turns of the hand are about one axis, ({axis}) in the base, to {s[1]:.2g} rad (rms): the "
            "place of the camera along this axis cannot be found; turn the hand about another axis too"
        )


def _refuse_inconsistent(A: Array, B: Array, chosen: str, noise: float) -> None:
    """Refuse orientations that fit no camera, with what they would fit if they were given in another way."""
    other = inverse(B)
    if _orientation_noise(A, other, *_closed_form(A, other)) < noise / 5:
        to_do = (
            f"they would fit with camera={CAMERAS[1 - CAMERAS.index(chosen)]!r}, or with the inverses of camera_poses, "
        )
        to_do += (
            "which are poses of the target in the camera, or of robot_poses, which are poses of the hand in the base"
        )
    else:
        to_do = "are they of the same moments, in the same order, and the matrices not transposed?"
    raise ShapeError(
        f"hand_eye: robot_poses and camera_poses contradict each other by {noise:.2g} rad (median); {to_do}"
    )
