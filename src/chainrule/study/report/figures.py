"""Figures of the report, as Plotly reads them: data and layout. Colors are safe for color-blind eyes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.statistics.statistics import Statistics
from chainrule.study.sizing import Choice, Load
from chainrule.study.study import Result
from chainrule.study.torques import MotionTorques

Figure = dict[str, Any]

BLACK, MAGENTA, CYAN, BLUE, ORANGE, GREEN, GREY = (
    "#000000", "#cc79a7", "#56b4e9", "#0072b2", "#e69f00", "#009e73", "#999999",
)  # fmt: skip
"""After Okabe and Ito."""

COLORS = {"gravity": BLACK, "dynamic": MAGENTA, "contact": ORANGE, "other": GREEN, "total": CYAN}
"""Those of the torque and its parts."""

MAX_POINTS = 240
"""Points of a curve on the page."""

TICKS = (0.25, 0.5, 1, 2, 4, 8)

MAX_OPERATING_POINTS = 1500
"""Points in a torque-speed plane."""


def short_numbers(values: Array | Sequence[float], digits: int = 4) -> list[float | None]:
    """Numbers with few digits, which keep the page small; those that are not finite are left out."""
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in np.asarray(values, dtype=float)]


def histories(torques: MotionTorques, angular: Sequence[bool], parts: Sequence[str]) -> dict[str, Any]:
    """The curves of one activity: for each joint angle, speed, acceleration, the parts of the torque and their sum."""
    motion = torques.motion
    places = np.unique(np.linspace(0, len(motion) - 1, min(MAX_POINTS, len(motion))).round().astype(int))
    scale = np.where(angular, np.degrees(1.0), 1.0)
    positions = torques.angles * scale
    loads = (getattr(torques, part) for part in parts)
    curves = (positions, motion.qd * scale, motion.qdd * scale, *loads, torques.total)
    return {
        "t": short_numbers(motion.t[places] - motion.t[0]),
        "joints": [[short_numbers(curve[places, j]) for curve in curves] for j in range(len(angular))],
    }


def boxes(names: Sequence[str], columns: Sequence[Statistics], unit: str, scale: float = 1.0) -> Figure:
    """Box plots: median, quartiles, whiskers at 1.5 interquartile ranges, outliers as crosses, each times a scale."""
    plots = [column.box_plot() for column in columns]
    lines = np.array([(plot.low, plot.q1, plot.median, plot.q3, plot.high) for plot in plots]).T * scale
    keys = ("lowerfence", "q1", "median", "q3", "upperfence")
    box = {
        "type": "box", "x": list(names),
        **{key: short_numbers(line) for key, line in zip(keys, lines, strict=True)},
        "line": {"color": BLUE, "width": 1.2}, "fillcolor": "#e8eff5", "showlegend": False, "name": "",
    }  # fmt: skip
    crosses = {
        "type": "scatter", "mode": "markers", "hoverinfo": "y", "showlegend": False,
        "x": [name for name, plot in zip(names, plots, strict=True) for _ in plot.outliers],
        "y": short_numbers(np.concatenate([plot.outliers * scale for plot in plots]), 3),
        "marker": {"symbol": "x-thin", "size": 4, "line": {"width": 0.7, "color": GREY}},
    }  # fmt: skip
    return {
        "data": [box, crosses],
        "layout": {"yaxis": {"title": {"text": unit}, "zeroline": True}, "xaxis": {"tickangle": -45}, "height": 330},
    }


def heat_map(result: Result, labels: Mapping[str, str]) -> Figure:
    """The peak torque of each joint in each activity."""
    values = [[result.cell(activity, joint).peak_torque for activity in result.titles] for joint in result.joints]
    return {
        "data": [
            {
                "type": "heatmap", "x": list(result.titles.values()), "y": [labels[j] for j in result.joints],
                "z": [short_numbers(row, 3) for row in values], "text": [[f"{x:.2g}" for x in row] for row in values],
                "texttemplate": "%{text}", "textfont": {"size": 9}, "colorscale": "Cividis", "reversescale": True,
                "colorbar": {"title": {"text": "N m, N" if result.sliding else "N m"}, "thickness": 12},
            }
        ],
        "layout": {
            "height": 120 + 34 * len(result.joints), "yaxis": {"autorange": "reversed"}, "xaxis": {"tickangle": -45},
        },
    }  # fmt: skip


def pace_curve(result: Result) -> Figure:
    """The share of joints in activities where gravity exceeds the dynamic terms, over the pace."""
    paces = np.geomspace(0.25, 8, 121)
    curves = []
    for measure, color in (("peak", BLACK), ("rms", MAGENTA)):
        finding = result.finding(measure)
        shares = [100 * finding.share_at(pace) for pace in paces]
        curves.append({
            "type": "scatter", "mode": "lines", "name": f"by {measure}", "x": short_numbers(paces),
            "y": short_numbers(shares), "line": {"color": color},
        })  # fmt: skip
    return {
        "data": curves,
        "layout": {
            "height": 320, "legend": {"x": 0.02, "y": 0.05},
            "xaxis": {
                "type": "log", "title": {"text": "pace, times that of the motions"}, "tickvals": TICKS,
                "range": [-0.65, 0.92],
            },
            "yaxis": {"title": {"text": "% of joints and activities"}, "range": [0, 103]},
            "shapes": [{"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 103, "line": {"color": GREY, "dash": "dot"}}],
        },
    }  # fmt: skip


def torque_speed(choice: Choice, load: Load, title: str) -> Figure:
    """The operating points of a joint, and the envelope of its drive, at the joint."""
    states = list(load.steady.values())
    torque, speed, acceleration = (np.concatenate([state[k] for state in states]) for k in range(3))
    every = max(1, len(torque) // MAX_OPERATING_POINTS)
    torque, speed, acceleration = (
        np.concatenate([array[::every], extreme])
        for array, extreme in zip((torque, speed, acceleration), load.extreme[:3], strict=True)
    )
    drive = choice.drive
    needed = torque if drive is None else drive.motor_torque(torque, speed, acceleration) * drive.gear.ratio
    data: list[dict[str, Any]] = [{
        "type": "scatter", "mode": "markers", "name": "operating points", "x": short_numbers(speed, 3),
        "y": short_numbers(needed, 3), "marker": {"size": 3, "color": BLUE, "opacity": 0.5}, "hoverinfo": "x+y",
    }]  # fmt: skip
    if drive is not None:
        ratio = drive.gear.ratio
        fastest = min(drive.motor.max_speed, drive.gear.max_input_speed)
        omega = np.linspace(0, fastest, 60)
        upper = drive.motor.available_torque(omega) * ratio
        omega, upper = np.append(omega, fastest), np.append(upper, 0.0)
        for sign, shown in ((1, True), (-1, False)):
            x = sign * omega / ratio
            data.append({
                "type": "scatter", "mode": "lines", "name": "peak", "x": short_numbers(np.concatenate([x, x[::-1]])),
                "y": short_numbers(np.concatenate([upper, -upper[::-1]])), "line": {"color": BLACK, "width": 1.4},
                "showlegend": shown, "hoverinfo": "skip",
            })  # fmt: skip
        steady = drive.motor.continuous_torque * ratio
        for sign in (1, -1):
            data.append({
                "type": "scatter", "mode": "lines", "name": "continuous",
                "x": short_numbers([-fastest / ratio, fastest / ratio]), "y": short_numbers([sign * steady] * 2),
                "line": {"color": ORANGE, "dash": "dash", "width": 1.2}, "showlegend": sign > 0, "hoverinfo": "skip",
            })  # fmt: skip
    return {
        "data": data,
        "layout": {
            "title": {"text": title, "font": {"size": 13}}, "height": 300,
            "xaxis": {"title": {"text": "speed (rad/s)"}},
            "yaxis": {"title": {"text": "motor torque at the joint (N m)"}},
            "legend": {"orientation": "h", "y": -0.28, "font": {"size": 10}},
        },
    }  # fmt: skip
