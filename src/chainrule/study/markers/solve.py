"""Joint angles from markers: at each time the configuration whose points are nearest to all markers together.

Levenberg and Marquardt's method on all frames at once: the frames are a batch. A marker that is not seen has no weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, one_of, positive, real_array
from chainrule.core.reading import read_state
from chainrule.display.text import Shown, Table
from chainrule.errors import ModelError, MotionWarning, ShapeError, UnknownNameError, warn_user
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.markers.cloud import Markers
from chainrule.study.markers.reading import plain_name
from chainrule.study.subjects import Subject

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot

MAX_ITERATIONS = 60
STEP_TOLERANCE = 1e-9
"""Steps of angles, in rad, after which a frame is solved."""

MAX_RESIDUAL_M = 0.03
"""A root mean square of the distances to a marker that is told as doubtful."""

MAX_DISTANCE_M = 0.1
"""The same beyond which the angles are those of another body or placement, and are refused."""

TRUNK_MOVES_DEG = 5.0
"""A trunk that turns by more is told: gravity is taken as fixed in its frame."""

UPRIGHT = {
    "z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)), "-z": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "y": ((1, 0, 0), (0, 0, -1), (0, 1, 0)), "-y": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "x": ((0, 0, -1), (0, 1, 0), (1, 0, 0)), "-x": ((0, 0, 1), (0, 1, 0), (-1, 0, 0)),
}  # fmt: skip
"""Rotations from the axes of markers, by the one that points up, to the base's, z up; x stays where it can."""

Point = tuple[str, "ArrayLike"]

JOINT_CENTERS = {
    "upper_arm": ("shoulder", "arm", "sho", "gh"),
    "elbow": ("elbow", "forearm", "elb", "ejc"),
    "wrist": ("wrist", "hand", "wri", "wjc"),
    "hand_tip": ("handend", "handtip", "fingertip", "fin", "mcp3"),
}
"""Links of the human arm whose origins are joint centers, and words by which files name these."""


class Trunk(NamedTuple):
    """Four markers from which the frame of the trunk follows: below and above on its axis, and both shoulders."""

    low: str
    high: str
    right: str
    left: str

    def frames(self, markers: Markers, side: str) -> tuple[Array, Array]:
        """Axes (T, 3, 3), forward, left and up in columns, and the shoulder of a side (T, 3)."""
        low, high, right, left = (markers.of(name) for name in self)
        up = _unit(high - low)
        across = left - right
        across = _unit(across - np.einsum("ti,ti->t", across, up)[:, None] * up)
        return np.stack([np.cross(across, up), across, up], axis=-1), right if side == "right" else left


def _unit(x: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return x / np.linalg.norm(x, axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False, repr=False)
class SolvedMarkers(Shown):
    """Joint angles that were found for markers."""

    trajectory: Trajectory
    """Smoothed and differentiated, with torques; `trajectory.notes` says how."""
    q: Array
    """The angles before smoothing (T, n); nan where too few markers were seen."""
    residuals: Array
    """The distance of each marker to its point on the arm (T, M), in m; nan where it was not seen."""
    names: tuple[str, ...]
    """The markers used."""
    notes: tuple[str, ...]

    def _view(self) -> Iterator[str | Table]:
        yield f"joint angles from {len(self.names)} markers in {len(self.q)} frames"
        yield f"distances of markers to the arm: {1e3 * self.rms_residual:.3g} mm RMS"
        seen = np.isfinite(self.residuals)
        found = np.where(seen, self.residuals, 0.0)
        rms = 1e3 * np.sqrt((found**2).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
        columns = (self.names, rms.tolist(), (1e3 * found.max(axis=0, initial=0.0)).tolist(), seen.sum(axis=0).tolist())
        yield Table(("marker", "RMS, mm", "largest, mm", "frames"), [*zip(*columns, strict=True)])
        yield from (f"note: {note}" for note in self.notes)

    @property
    def rms_residual(self) -> float:
        """Root mean square of all distances, in m."""
        return float(np.sqrt(np.nanmean(self.residuals**2)))


def calibrate(robot: Robot, markers: Markers, q: ArrayLike, frame: int = 0) -> dict[str, Point]:
    """Points on the arm for markers in its frame, each on the link that the name begins with: "forearm_1" on "forearm".

    q is the configuration (n,) at that frame, a static trial.
    """
    poses = dict(zip(robot.link_names, robot.poses(q), strict=True))
    placed: dict[str, Point] = {}
    for name in markers.names:
        link = next(
            (one for one in sorted(poses, key=len, reverse=True) if plain_name(name).startswith(plain_name(one))), None
        )
        if link is None:
            raise UnknownNameError(f"marker {name!r} begins with the name of no link; there are {list(poses)}")
        T = poses[link]
        placed[name] = (link, T[:3, :3].T @ (markers.of(name)[frame] - T[:3, 3]))
    return placed


def solve_markers(
    subject: Subject | Robot,
    markers: Markers,
    placement: Mapping[str, Point] | None = None,
    *,
    trunk: Trunk | None = None,
    up: str | None = None,
    q0: ArrayLike | None = None,
    cutoff: float | None = None,
    max_distance: float | None = MAX_DISTANCE_M,
) -> SolvedMarkers:
    """The motion of a robot whose points follow markers.

    Parameters
    ----------
    subject
        A subject of a study, or a robot.
    markers
        As of `read_markers`, in the frame of the robot's base, unless there is a trunk or `up` says otherwise.
    placement
        For each marker that is used, the link that it is on and its point there (3,), in m: see `calibrate`. Without
        it, markers whose names are those of joint centers of the arm are used: shoulder, elbow, wrist, hand end.
    trunk
        The markers from which the frame of a trunk follows, in which a human arm hangs. Gravity is along it.
    up
        The axis of the markers that points up, where there is no trunk: "x", "y", "z", "-x", "-y" or "-z". Files do not
        say it: OpenSim's and those of animations mostly have y up, laboratories often z. One of the two must be given.
    q0
        A configuration near the first frame; "home" unless given.
    cutoff
        The frequency in Hz above which the angles are noise; found unless given.
    max_distance
        The largest root mean square, over the frames, of a marker's distance to its point, in m. Motions whose markers
        are farther off are refused; None takes them all.

    Returns
    -------
    SolvedMarkers
    """
    if max_distance is not None:
        max_distance = positive(max_distance, "max_distance", "a positive number in m, or None", unit="m")
    person = subject if isinstance(subject, Subject) else Subject.of(subject)
    robot = person.robot
    if robot.nq != robot.nv or robot.model.constraints:
        raise ModelError(f"markers are solved for arms without quaternions and closed loops, which {robot.name!r} has")
    side = person.body.side if person.body else "right"
    placed = dict(placement) if placement is not None else _by_name(markers, robot, side)
    used = markers.only(placed)
    notes = [*markers.notes, *used.findings()]
    places = used.places
    if trunk is None:
        if up is None:
            raise ShapeError(
                "solve_markers: nothing says which axis of the markers points up, and gravity is along it; say up='y', "
                "as in files of OpenSim and of animations, up='z', as in many laboratories, or another axis; or "
                "trunk=... with four markers of the trunk (on the command line: --up, --trunk)"
            )
        axis = one_of(UPRIGHT, up, "axis that points up", "solve_markers")
        places = places @ np.array(UPRIGHT[axis]).T
    elif up is not None:
        raise ShapeError("solve_markers: the trunk's markers say where up is; leave out up=... or trunk=...")
    else:
        axes, shoulder = trunk.frames(markers, side)
        places = np.einsum("tji,tmj->tmi", axes, places - shoulder[:, None])
        turn = np.degrees(np.arccos(np.clip((np.nanmean(axes[:, :, 2], axis=0) * axes[:, :, 2]).sum(axis=-1), -1, 1)))
        if np.nanmax(turn) > TRUNK_MOVES_DEG:
            notes.append(
                f"the trunk leans by up to {np.nanmax(turn):.3g} degrees; gravity is taken along it, its motion is not"
            )
    q, residuals = _fit(robot, list(placed.values()), places, q0)
    rms = float(np.sqrt(np.nanmean(residuals**2))) if np.isfinite(residuals).any() else np.nan
    if not np.isfinite(q).any():
        raise ShapeError(f"no frame has enough markers to find {robot.nv} angles: {list(placed)} were used")
    notes.append(
        f"angles by inverse kinematics over {len(placed)} markers; root mean square distance {rms * 1000:.3g} mm"
    )
    distances = dict(zip(placed, np.sqrt(np.nanmean(residuals**2, axis=0)), strict=True))
    doubtful = _farther(distances, MAX_RESIDUAL_M)
    if max_distance is not None and (refused := _farther(distances, max_distance)):
        raise ShapeError(
            f"markers are too far from their points on the arm: {refused}, root mean squares over the frames, where at "
            f"most {1000 * max_distance:.3g} mm are taken. The body has another size, the placement or the axis that "
            "points up is wrong; or take them all the same with max_distance=None (on the command line: --far-markers)"
        )
    if doubtful:
        notes.append(f"markers far from their points: {doubtful}; another body size, or another placement")
    missing = int((~np.isfinite(q).all(axis=1)).sum())
    if missing:
        notes.append(f"{missing} frames had too few markers, and are filled in between")
    worrying = [
        *used.findings(),
        *([notes[-1]] if missing else []),
        *(note for note in notes if "far from" in note or "header states" in note),
    ]
    if worrying:
        warn_user("markers: " + "; ".join(dict.fromkeys(worrying)), MotionWarning)
    trajectory = Trajectory.from_samples(robot, used.t, _bridge_gaps(q), degrees=False, time_unit="s", cutoff=cutoff)
    return SolvedMarkers(trajectory, q, residuals, tuple(placed), tuple(notes))


def _farther(distances: Mapping[str, float], limit: float) -> str:
    """The markers that are farther from their points than a limit."""
    return ", ".join(f"{name!r} ({1000 * value:.3g} mm)" for name, value in distances.items() if value > limit)


def _by_name(markers: Markers, robot: Robot, side: str) -> dict[str, Point]:
    """Markers at joint centers, found by the words in their names."""
    known = {*robot.link_names, *robot.frames}
    found: dict[str, Point] = {}
    other = "left" if side == "right" else "right"
    for link, words in JOINT_CENTERS.items():
        if link not in known:
            continue
        for name in markers.names:
            bare = plain_name(name)
            bare = bare.removeprefix(side).removesuffix(side)
            short = bare[1:] if bare[:1] == side[0] else bare
            if other not in bare and ({bare, short} & set(words)):
                found[name] = (link, (0.0, 0.0, 0.0))
                break
    if len(found) < 2:
        raise ShapeError(
            f"no markers at joint centers were found by name among {list(markers.names)!s:.200}; "
            "give placement={marker: (link, point)}"
        )
    return found


def _bridge_gaps(q: Array) -> Array:
    """Angles with nan replaced by straight lines between their neighbors."""
    out, places = q.copy(), np.arange(len(q))
    for column in out.T:
        seen = np.isfinite(column)
        column[~seen] = np.interp(places[~seen], places[seen], column[seen])
    return out


def _fit(robot: Robot, points: list[Point], places: Array, q0: ArrayLike | None) -> tuple[Array, Array]:
    """Configurations (T, n) and distances (T, M)."""
    local = [(link, real_array(point, f"the point on {link!r}", "m").astype(float)) for link, point in points]
    for link, point in local:
        if point.shape != (3,):
            raise ShapeError(f"the point of a marker on {link!r} must be three numbers, got shape {point.shape}")
    seen = np.asarray(np.isfinite(places).all(axis=-1))
    target = np.where(seen[..., None], places, 0.0)
    weight = seen.astype(float)[..., None]
    low, high = robot.limits.lower, robot.limits.upper
    start = robot.home() if q0 is None else np.asarray(read_state(robot, "solve_markers", q=q0)[0], dtype=float)
    first = int(np.argmax(seen.sum(axis=1)))
    begin, _ = _iterate(robot, local, target[first][None], weight[first][None], start[None], low, high)
    q, misses = _iterate(robot, local, target, weight, np.repeat(begin, len(target), axis=0), low, high)
    distances = np.where(seen, np.linalg.norm(misses, axis=-1), np.nan)
    enough = 3 * seen.sum(axis=1) >= min(robot.nv, 3 * len(points))
    return np.where(enough[:, None], q, np.nan), distances


def _iterate(
    robot: Robot, points: list[tuple[str, Array]], target: Array, weight: Array, q: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """Levenberg and Marquardt's iterations from configurations (T, n), cut off at the limits."""
    damping = np.full(len(q), 1e-3)
    misses, jacobian = _look(robot, points, target, weight, q)
    cost = (misses**2).sum(axis=(1, 2))
    for _ in range(MAX_ITERATIONS):
        J = jacobian.reshape(len(q), -1, robot.nv)
        gradient = np.einsum("tki,tk->ti", J, misses.reshape(len(q), -1))
        H = np.einsum("tki,tkj->tij", J, J)
        H += (
            damping[:, None, None] * np.eye(robot.nv) * (np.trace(H, axis1=1, axis2=2) / robot.nv + 1e-9)[:, None, None]
        )
        new = np.clip(q + np.linalg.solve(H, gradient[..., None])[..., 0], low, high)
        step = np.abs(new - q).max(axis=1)
        new_misses, new_jacobian = _look(robot, points, target, weight, new)
        new_cost = (new_misses**2).sum(axis=(1, 2))
        better = new_cost <= cost
        q = np.where(better[:, None], new, q)
        misses = np.where(better[:, None, None], new_misses, misses)
        jacobian = np.where(better[:, None, None, None], new_jacobian, jacobian)
        cost = np.where(better, new_cost, cost)
        damping = np.where(better, np.maximum(damping / 4, 1e-9), np.minimum(damping * 6, 1e6))
        if (better.any() and (step[better] < STEP_TOLERANCE).all()) or not cost.any():
            break
    return q, misses


def _look(robot: Robot, points: list[tuple[str, Array]], target: Array, weight: Array, q: Array) -> tuple[Array, Array]:
    """From points to markers (T, M, 3), and the points' Jacobians (T, M, 3, n), both times the weights."""
    misses, jacobians = [], []
    for m, (link, point) in enumerate(points):
        T, J = robot.pose(q, link), robot.jacobian(q, link, frame="world")
        arm = np.einsum("tij,j->ti", T[:, :3, :3], point)
        misses.append(target[:, m] - T[:, :3, 3] - arm)
        jacobians.append(J[:, 3:] + np.cross(J[:, :3], arm[:, :, None], axisa=1, axisb=1, axisc=1))
    return np.stack(misses, axis=1) * weight, np.stack(jacobians, axis=1) * weight[..., None]
