"""Targets that are recordings of motions: tables of joint angles, markers, and data sets of many files."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

import chainrule as cr
from chainrule.errors import ChainruleError
from fuzz import mutate
from fuzz.registry import SEEDS, WrongError, target

ROWS = 12


def _refuse_bad_motion(motion: Any) -> None:
    """What was read as a motion has times that grow, and numbers everywhere."""
    if not (np.diff(motion.t) > 0).all():
        raise WrongError(f"times that do not grow: {motion.t[:8].tolist()}")
    for name in ("q", "qd", "qdd"):
        array = np.asarray(getattr(motion, name))
        if array.shape[0] != len(motion.t) or not np.isfinite(array).all():
            raise WrongError(f"{name} of shape {array.shape} has numbers that are not finite")


@target(
    "motion", mutate.mixed((3, mutate.any_number), (3, mutate.any_token), (3, mutate.any_line), (1, mutate.any_bytes))
)
class MotionTable:
    """Recorded motions as text: commas, semicolons and tabs, units, OpenSim's headers."""

    def __init__(self, folder: Path) -> None:
        self.path, self.opensim = folder / "input.csv", folder / "input.mot"
        self.robot = cr.load("planar_2r").reference

    def seeds(self) -> list[bytes]:
        """The same motion as programs write it."""
        t = np.linspace(0.0, 1.1, ROWS)
        a, b = np.sin(t), 0.5 * np.cos(2 * t)
        plain = "".join(f"{x:.4f},{y:.6f},{z:.6f}\n" for x, y, z in zip(t, a, b, strict=True))
        german = "".join(f"{x:.4f};{y:.6f};{z:.6f}\n" for x, y, z in zip(t, a, b, strict=True)).replace(".", ",")
        stamps = "".join(f"{1.7e9 + x:.6f}\t{y:.6f}\t{z:.6f}\n" for x, y, z in zip(t, a, b, strict=True))
        degrees = "".join(
            f"{1000 * x:.0f} {np.degrees(y):.3f} {np.degrees(z):.3f}\n" for x, y, z in zip(t, a, b, strict=True)
        )
        rows = plain.replace(",", "\t")
        return [
            f"time,joint1,joint2\n{plain}".encode(),
            f"# robot: planar\r\nt [s];joint1 [rad];joint2 [rad]\r\n{german}".encode(),
            f"stamp\tq.joint1\tq.joint2\nsec\trad\trad\n{stamps}".encode(),
            f"t_ms joint1[deg] joint2[deg]\n{degrees}".encode(),
            f"swing\nversion=1\nnRows={ROWS}\nnColumns=3\ninDegrees=no\nendheader\ntime\tjoint1\tjoint2\n{rows}".encode(),
        ]

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Load the table as a motion of two joints."""
        path = self.opensim if b"endheader" in data else self.path
        path.write_bytes(data)
        motion = cr.Trajectory.load(path, self.robot, degrees=False if thorough else None)
        _refuse_bad_motion(motion)


class MarkerFile:
    """A file of markers, of one suffix."""

    suffix = ""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"input{self.suffix}"

    def seeds(self) -> list[bytes]:
        """The sample files."""
        return [path.read_bytes() for path in sorted(SEEDS.glob(f"*{self.suffix}"))]

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Read the markers."""
        from chainrule import study

        self.path.write_bytes(data)
        markers = study.read_markers(self.path, unit="cm" if thorough else None)
        if thorough:
            markers.findings()


@target("trc", mutate.text)
class Trc(MarkerFile):
    """Markers as tables of text."""

    suffix = ".trc"


@target("bvh", mutate.text)
class Bvh(MarkerFile):
    """Skeletons with motions, whose joints are taken for markers."""

    suffix = ".bvh"


@target("dataset", mutate.parquet)
class DatasetFile:
    """A file in a folder that is a data set."""

    def __init__(self, folder: Path) -> None:
        self.data, self.results = folder / "motions", folder / "results"
        self.data.mkdir()
        self.path = self.data / "input.parquet"
        self.robot = cr.load("planar_2r").reference

    def seeds(self) -> list[bytes]:
        """A file with states, and one with positions alone."""
        import pyarrow as pa
        from pyarrow import parquet

        t = np.linspace(0.0, 1.1, ROWS)
        kinds, joints = ("q", "qd", "qdd"), self.robot.joint_names
        states = {f"{kind}.{joint}": np.sin(t + k) for k, kind in enumerate(kinds) for joint in joints}
        found = []
        for columns in (states, {"time": t, "joint1": np.sin(t), "joint2": np.cos(t)}):
            parquet.write_table(pa.table(columns), self.path)
            found.append(self.path.read_bytes())
        return found

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Statistics of the data set, or its torques written to another."""
        import shutil

        self.path.write_bytes(data)
        dataset = cr.dataset(self.data)
        if thorough:
            shutil.rmtree(self.results, ignore_errors=True)
            dataset.torques(self.robot, self.results)
            with contextlib.suppress(ChainruleError):
                len(cr.dataset(self.results))
            left = [path.name for path in self.results.rglob(".unfinished-*")]
            if left:
                raise WrongError(f"unfinished files are left: {left}")
        else:
            found = dataset.statistics(self.robot)
            for quantity, statistics in found.items():
                if (np.isnan(statistics.mean) & (np.asarray(statistics.count) > 0)).any():
                    raise WrongError(f"the mean of {quantity} is no number")
