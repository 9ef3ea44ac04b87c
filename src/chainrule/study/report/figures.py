"""Numbers of the report's figures, which the script of the page draws."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.statistics.statistics import Statistics
from chainrule.study.finding import MEASURES
from chainrule.study.report.wireframe import Wireframe
from chainrule.study.sizing import Choice, Load
from chainrule.study.study import Result
from chainrule.study.torques import MotionTorques

Figure = dict[str, Any]

MAX_POINTS = 160
"""Points of a curve on the page, besides those of the largest torques."""

MAX_POSTURES = 80
"""Postures of a motion that is replayed, besides that of its largest torque."""

MAX_OUTLIERS = 12
"""Outliers that are drawn of each box, evenly chosen in their order."""

MAX_OPERATING_POINTS = 600
"""Points in a torque-speed plane."""

PACES = np.geomspace(0.25, 8, 121)


def short_numbers(values: Array | Sequence[float], digits: int = 4) -> list[float | None]:
    """Numbers with few digits, which keep the page small; those that are not finite are left out."""
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in np.asarray(values, dtype=float).ravel()]


def pack(values: Array) -> Figure:
    """An array as 16-bit integers in base64, least value and step: a third of the size of its text."""
    finite = np.nan_to_num(np.asarray(values, dtype=float))
    low = float(finite.min(initial=np.inf)) if finite.size else 0.0
    step = (float(finite.max(initial=-np.inf)) - low) / 65535 if finite.size else 0.0
    counts = np.round((finite - low) / step) if step else np.zeros_like(finite)
    text = b64encode((counts - 32768).astype("<i2").tobytes()).decode("ascii")
    return {"low": low, "step": step, "data": text}


def some_of(count: int, most: int, always: Iterable[int] = ()) -> Array:
    """Indices evenly spread over `count` samples, at most so many, and those that are always among them."""
    even = np.linspace(0, count - 1, min(most, count)).round().astype(int)
    return np.union1d(even, np.fromiter(always, dtype=int))


def motion(
    torques: MotionTorques, angular: Sequence[bool], parts: Sequence[str], scene: Wireframe, most: int
) -> Figure:
    """One activity: curves of each joint over time, and postures, that of the largest torque of joint `most` marked.

    The curves of a joint are its position, speed, acceleration and the parts of its torque, whose sum is the torque.
    """
    run = torques.motion
    peaks = np.abs(torques.total).argmax(axis=0)
    shown = some_of(len(run), MAX_POINTS, peaks)
    scale = np.where(angular, np.degrees(1.0), 1.0)
    loads = [getattr(torques, part) for part in parts]
    curves = np.stack([torques.angles * scale, run.qd * scale, run.qdd * scale, *loads])[:, shown]
    postures = some_of(len(run), MAX_POSTURES, [peaks[most]])
    return {
        "t": short_numbers(run.t[shown] - run.t[0]),
        "joints": [[pack(curve) for curve in curves[:, :, j]] for j in range(len(angular))],
        "times": short_numbers(run.t[postures] - run.t[0]),
        "points": pack(scene.points(run.q[postures])),
        "peak": int(np.searchsorted(postures, peaks[most])),
    }


def boxes(columns: Sequence[Statistics], scale: float = 1.0) -> list[Figure]:
    """Box plots: median, quartiles, whiskers at 1.5 interquartile ranges, and some of the outliers, times a scale."""
    found = []
    for column in columns:
        plot = column.box_plot()
        chosen = plot.outliers[some_of(len(plot.outliers), MAX_OUTLIERS)] if len(plot.outliers) else plot.outliers
        lines = np.array([plot.low, plot.q1, plot.median, plot.q3, plot.high])
        found.append({"lines": short_numbers(lines * scale), "outliers": short_numbers(chosen * scale, 3)})
    return found


def pace_curves(result: Result) -> Figure:
    """The share of joints in activities where gravity exceeds the dynamic terms, in percent, over the pace."""
    shares = {
        measure: short_numbers([100 * result.finding(measure).share_at(pace) for pace in PACES]) for measure in MEASURES
    }
    return {"pace": short_numbers(PACES), "shares": shares}


def torque_speed(choice: Choice, load: Load) -> Figure:
    """The operating points of a joint, and the envelope of its drive, at the joint: speeds in rad/s, torques in N m."""
    steady = [np.concatenate([state[k] for state in load.steady.values()]) for k in range(3)]
    shown = some_of(len(steady[0]), MAX_OPERATING_POINTS)
    outer = np.unique([np.abs(array).argmax() for array in load.extreme[:3]])
    torque, speed, acceleration = (
        np.concatenate([array[shown], extreme[outer]]) for array, extreme in zip(steady, load.extreme[:3], strict=True)
    )
    drive = choice.drive
    needed = torque if drive is None else drive.motor_torque(torque, speed, acceleration) * drive.gear.ratio
    figure: Figure = {"speed": pack(speed), "torque": pack(needed)}
    if drive is not None:
        ratio = drive.gear.ratio
        fastest = min(drive.motor.max_speed, drive.gear.max_input_speed)
        omega = np.linspace(0, fastest, 30)
        figure["envelope"] = {
            "speed": short_numbers(np.append(omega, fastest) / ratio),
            "peak": short_numbers(np.append(drive.motor.available_torque(omega), 0.0) * ratio),
            "continuous": float(f"{drive.motor.continuous_torque * ratio:.4g}"),
        }
    return figure
