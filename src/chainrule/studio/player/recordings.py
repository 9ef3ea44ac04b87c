"""Motions from files and from the library's study: whatever can be seen again on the page."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from chainrule.errors import ChainruleError, FormatError, ShapeError, visible
from chainrule.motion.files import SUFFIXES as TABLES
from chainrule.robot.robot import Robot
from chainrule.simulation.files import import_parquet, is_own
from chainrule.simulation.trajectory import Trajectory
from chainrule.studio.uploads import MAX_UPLOAD_BYTES

MARKERS = (".trc", ".c3d", ".bvh")
"""Endings of files of markers, which are followed by the human arm."""

SUFFIXES = (*TABLES, ".parquet", ".npz", ".npy", *MARKERS)
"""Endings of files that hold a motion."""

MAX_SAMPLES = 2_000_000
"""Samples of a recording that are replayed."""

MAX_TITLE_LENGTH = 80

MAX_UNPACKED_BYTES = 512 * 2**20
"""What a compressed file may unpack to."""

UP_IS_Z = "the z axis of the markers is taken to point up; for another, cr.study.solve_markers(..., up=...) and save it"
"""A note on every file of markers: none says its axis, and the page does not ask."""

STUDY_RATE_HZ = 100.0
"""Samples in a second of the study's motions."""


class Recording(NamedTuple):
    """A motion, or a batch of them, to be seen again."""

    title: str
    motion: Trajectory
    notes: tuple[str, ...] = ()
    """What was found in the file, and what was assumed."""

    @property
    def robot(self) -> Robot:
        """The robot that moves."""
        robot = self.motion.robot
        return robot if isinstance(robot, Robot) else Robot(robot.model)


def read_recording(path: Path, robot: Robot, title: str | None = None) -> Recording:
    """The motion in a file: one that `trajectory.save` wrote, a table of joint positions, or markers.

    A saved trajectory has its own robot, if its joints are not those of the robot that is shown; a table needs the one
    shown; markers are followed by the human arm.
    """
    name = path.name if title is None else title
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FormatError(f"{name}: a motion is read from {', '.join(SUFFIXES)}")
    _refuse_bomb(path, name)
    motion = _read_markers(path) if suffix in MARKERS else _read_motion(path, robot)
    if len(motion) < 2:
        raise FormatError(f"{name}: a motion has at least two samples, and this one has {len(motion)}")
    if motion.q.size // motion.robot.nq > MAX_SAMPLES:
        raise FormatError(f"{name} has more than {MAX_SAMPLES:,} samples; cut it into parts")
    return Recording(name, motion, motion.notes)


def read_upload(name: str, content: bytes, robot: Robot) -> Recording:
    """The motion in a file that a page has sent: written under another name, into a folder that is removed again."""
    title = visible(name)[:MAX_TITLE_LENGTH]
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise FormatError(f"{title}: a motion is read from {', '.join(SUFFIXES)}")
    if len(content) > MAX_UPLOAD_BYTES:
        raise FormatError(f"{title} has {len(content) >> 20} MiB; at most {MAX_UPLOAD_BYTES >> 20} MiB are taken")
    with TemporaryDirectory(prefix="chainrule-studio-") as folder:
        path = Path(folder) / f"motion{suffix}"
        path.write_bytes(content)
        try:
            return read_recording(path, robot, title)
        except ChainruleError as error:
            raise type(error)(str(error).replace(str(path), title).replace(path.name, title)) from error


def _refuse_bomb(path: Path, name: str) -> None:
    """Refuse a small file that would unpack to a very large one."""
    unpacked = 0
    try:
        if path.suffix.lower() == ".npz":
            with zipfile.ZipFile(path) as archive:
                unpacked = sum(entry.file_size for entry in archive.infolist())
        elif path.suffix.lower() == ".parquet":
            _, parquet = import_parquet()
            facts = parquet.read_metadata(path)
            unpacked = 8 * facts.num_rows * facts.num_columns
    except (zipfile.BadZipFile, OSError, ValueError):
        return  # what it is instead is for its reader to say
    if unpacked > MAX_UNPACKED_BYTES:
        most = MAX_UNPACKED_BYTES / 2**20
        raise FormatError(f"{name} would unpack to {unpacked / 2**20:,.0f} MiB; at most {most:,.0f} MiB are read")


def _read_motion(path: Path, robot: Robot) -> Trajectory:
    """A saved trajectory or a table."""
    if path.suffix.lower() in (".npz", ".parquet") and is_own(path):
        motion = Trajectory.load(path)
        same = motion.robot.coordinate_names == robot.coordinate_names
        return Trajectory.load(path, robot) if same else motion
    return Trajectory.load(path, robot)


def _read_markers(path: Path) -> Trajectory:
    from chainrule import study

    motion = study.solve_markers(study.Subject.human(), study.read_markers(path), up="z").trajectory
    return replace(motion, notes=(UP_IS_Z, *motion.notes))


def activities() -> dict[str, str]:
    """The activities of the library's study: titles and names."""
    from chainrule import study  # it imports much

    return {activity.title: activity.name for activity in map(study.activities().__getitem__, study.activities())}


def study_recording(activity: str) -> Recording:
    """The motion of an activity in the study of the human arm, with its torques. It is synthetic."""
    from chainrule import study

    result = study.run(study.Subject.human(), activities=[activity], rate=STUDY_RATE_HZ, progress=False)
    found = result.examples[activity]
    motion, n = found.motion, len(found.motion)
    robot = found.subject.robot
    trajectory = Trajectory(
        robot, motion.t, motion.q, motion.qd, motion.qdd, found.total, np.zeros((n, robot.nv)), np.zeros((n, 3)),
        np.zeros((n, 0)), method="study",
    )  # fmt: skip
    return Recording(result.titles[activity], trajectory, ("a synthetic motion, made from way-points", *motion.notes))


def rows(motion: Trajectory, most: int) -> list[Trajectory]:
    """The motions of a batch, at most so many, spread over it; one motion is a list of one."""
    if not motion.batch:
        return [motion]
    count = int(np.prod(motion.batch, dtype=int))
    if count < 1:
        raise ShapeError("the file holds a batch without motions")
    chosen = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    return [motion.row(*(int(i) for i in np.unravel_index(k, motion.batch))) for k in chosen]
