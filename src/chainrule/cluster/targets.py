"""Targets of the inverse kinematics in Parquet files: poses and points, a few rows at a time, and their solutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array, pose_matrices
from chainrule.cluster.reading import is_list, read_list, read_numbers
from chainrule.core.mechanism import Mechanism
from chainrule.errors import FormatError, UnknownNameError, quoted
from chainrule.inverse_kinematics.solve import inverse_kinematics
from chainrule.kinematics.configurations import home
from chainrule.kinematics.poses import pose
from chainrule.motion.angles import FULL_TURN, SHARE
from chainrule.motion.findings import Findings

ROWS_AT_A_TIME = 1 << 16
"""Targets that are solved together."""

POSITION = (("x", "y", "z"), ("position.x", "position.y", "position.z"))
QUATERNION = (("qx", "qy", "qz", "qw"), ("orientation.x", "orientation.y", "orientation.z", "orientation.w"))
ANGLES = (("roll", "pitch", "yaw"),)
"""Names of columns, in any of these spellings."""

OPTIONS = (
    "link", "method", "limits", "task", "axis", "weights", "tolerance", "posture", "restarts", "max_iterations", "seed",
)  # fmt: skip
"""Options of inverse_kinematics that targets in files take."""

LISTS = ("pose", "target")
"""Names of a column of lists."""

LENGTHS = {3: "x, y, z", 6: "x, y, z, roll, pitch, yaw", 7: "x, y, z, qx, qy, qz, qw", 16: "the rows of a matrix"}
"""What lists of so many numbers hold."""


class Targets(NamedTuple):
    """Some targets, a row each, and the columns that are handed on with them."""

    values: Array
    """Points (rows, 3), pose vectors (rows, 6) or poses (rows, 4, 4)."""
    kept: dict[str, Any]
    """Columns of pyarrow by name."""


@dataclass(frozen=True)
class TargetReading:
    """The columns of targets: those of names that are known, or that `columns` gives for them."""

    columns: Mapping[str, str] = field(default_factory=dict)
    degrees: bool | None = None
    keep: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """The same in plain values."""
        return {"targets": asdict(self)}

    def check(self, robot: Mechanism) -> None:
        """Nothing is wrong with targets before they are read."""

    def holds_states(self, robot: Mechanism, schema: Any) -> bool:
        """Whether rows can be read on their own, as they always can."""
        return True

    def states(self, robot: Mechanism, file: Any, groups: range, notes: Findings) -> Iterator[Targets]:
        """The targets of some row groups of an open Parquet file."""
        names = file.schema_arrow.names
        for name in self.keep:
            if name not in names:
                raise UnknownNameError.of("column", name, names, "the file")
        parts = self._find(file.schema_arrow)
        wanted = list(dict.fromkeys([*self.keep, *(title for part in parts for title in part)]))
        for batch in file.iter_batches(ROWS_AT_A_TIME, row_groups=list(groups), columns=wanted, use_threads=False):
            yield Targets(self._values(batch, parts), {name: batch.column(name) for name in self.keep})

    def _find(self, schema: Any) -> list[tuple[str, ...]]:
        """The titles of the columns of a target: one list; or the position, and the orientation if there is one."""
        named = [self.columns[name] for name in LISTS if name in self.columns]
        for title in (*named, *LISTS):
            if title in schema.names and is_list(schema.field(title).type):
                return [(title,)]
        found = []
        for spellings in (POSITION, (*QUATERNION, *ANGLES)):
            titles = (tuple(self.columns.get(name, name) for name in names) for names in spellings)
            found.append(next((each for each in titles if all(title in schema.names for title in each)), None))
        position, orientation = found
        if position is None:
            raise FormatError(
                "there are no columns of targets: x, y, z and qx, qy, qz, qw or roll, pitch, yaw, or a column of lists "
                f"'pose'; there are {quoted(schema.names)}. Say which, with columns={{'x': '..', ...}}"
            )
        return [position] if orientation is None else [position, orientation]

    def _values(self, batch: Any, parts: list[tuple[str, ...]]) -> Array:
        if len(parts[0]) == 1:
            title = parts[0][0]
            numbers = read_list(batch.column(title), title, None)
            if numbers.shape[1] not in LENGTHS:
                known = ", ".join(f"{count} ({words})" for count, words in LENGTHS.items())
                raise FormatError(f"lists in column {title!r} have {numbers.shape[1]} numbers, and should have {known}")
        else:
            titles = [title for part in parts for title in part]
            numbers = np.stack([read_numbers(batch.column(title), title) for title in titles], axis=1)
        return self._targets(numbers.astype(float))

    def _targets(self, numbers: Array) -> Array:
        count = numbers.shape[1]
        if count == 16:
            return numbers.reshape(-1, 4, 4)
        if count == 6 and self.degrees is None and (np.abs(numbers[:, 3:]) > FULL_TURN).mean() > SHARE:
            raise FormatError(
                "nothing says whether roll, pitch and yaw are in degrees, and they reach "
                f"{np.nanmax(np.abs(numbers[:, 3:])):.4g}; say degrees=True or degrees=False"
            )
        if count == 6 and self.degrees:
            return np.concatenate([numbers[:, :3], np.radians(numbers[:, 3:])], axis=1)
        if count != 7:
            return numbers
        points, quaternions = numbers[:, :3].copy(), numbers[:, 3:].copy()
        lost = ~(np.isfinite(quaternions).all(axis=1) & (quaternions != 0).any(axis=1))
        quaternions[lost], points[lost] = (0, 0, 0, 1), np.nan  # so that the solution says "not finite"
        return np.asarray(pose_matrices((points, quaternions), "targets"))


@dataclass(frozen=True)
class Solving:
    """The inverse kinematics of targets, whose solutions are columns."""

    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = "inverse_kinematics"

    def check(self, robot: Mechanism) -> None:
        """Refuse options that are wrong for any target."""
        for name in self.options:
            if name not in OPTIONS:
                raise UnknownNameError.of("option", name, OPTIONS, "the inverse kinematics of a data set")
        link = self.options.get("link")
        inverse_kinematics(robot, pose(robot, home(robot), link), **{**self.options, "restarts": 0})

    def columns(self, robot: Mechanism, targets: Targets) -> dict[str, Any]:
        """The solutions: "q.JOINT", "success", "reason", errors in m and rad, and "iterations"."""
        answer = inverse_kinematics(robot, targets.values, **self.options)
        columns: dict[str, Any] = {f"q.{name}": answer.q[:, k] for k, name in enumerate(robot.coordinate_names)}
        return columns | {
            "success": answer.success, "reason": answer.reason, "error.position": answer.error[:, 0],
            "error.orientation": answer.error[:, 1], "iterations": answer.iterations,
        }  # fmt: skip
