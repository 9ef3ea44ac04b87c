"""Torques of all joints as bars that are split by cause."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.robot.robot import Robot
from chainrule.studio.charts.style import css_color, in_frame, number, safe
from chainrule.studio.scene.torque_marks import share_colors, share_of_limit

CAUSES = {
    "gravity": "#4f86e8",
    "inertial": "#f0953f",
    "centrifugal": "#9a6ad6",
    "coriolis": "#df5f9f",
    "friction": "#a5825a",
    "spring": "#2fb3a0",
    "damper": "#7ea64f",
    "external": "#e5484d",
    "loop": "#8d99aa",
}
"""Colors of the terms of a torque, in the order of the chart's key."""

MAX_ROWS = 40
"""Joints that the chart has rows for."""


@dataclass(frozen=True, eq=False)
class TorqueChart:
    """Torques of one state, by cause, with what their chart needs."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    """"N m" or "N"."""
    terms: Mapping[str, Array]
    """(n,) for each cause."""
    total: Array
    effort: Array
    share: Array
    """Of the effort limit; nan where there is none."""


def torques(robot: Robot, terms: Mapping[str, Array]) -> TorqueChart:
    """The torques that robot.torque_terms gives, without causes that make none."""
    total = np.asarray(terms["total"])
    causes = {name: np.asarray(terms[name]) for name in CAUSES if name in terms}
    named = {name: values for name, values in causes.items() if np.abs(values).max(initial=0.0) > 0}
    units = tuple("N m" if v.unit == "rad" else "N" for v in robot.model.layout.velocities)
    return TorqueChart(robot.velocity_names, units, named, total, robot.limits.effort, share_of_limit(robot, total))


def round_up(x: float) -> float:
    """The next larger of 1, 2 or 5 times a power of ten; 1 for 0.

    >>> round_up(0.3), round_up(12.0), round_up(50.0), round_up(0.0)
    (0.5, 20.0, 50.0, 1.0)
    """
    if not 0 < x < math.inf:
        return 1.0
    power = 10.0 ** math.floor(math.log10(x))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= x * (1 - 1e-12))


def full_scales(found: TorqueChart, *, of_limit: bool = False) -> Array:
    """The torque (n,) at the end of each bar: one for all joints of a unit, or each joint's limit where it has one."""
    values = np.array(list(found.terms.values())).reshape(len(found.terms), len(found.names))
    ends = np.maximum(np.maximum(values, 0.0).sum(axis=0), -np.minimum(values, 0.0).sum(axis=0))
    scales = np.ones(len(ends))
    for unit in set(found.units):
        same = np.array([u == unit for u in found.units])
        scales[same] = round_up(float(ends[same].max()))
    limited = np.isfinite(found.effort) & (found.effort > 0)
    return np.where(limited, found.effort, scales) if of_limit else scales


def torque_chart(found: TorqueChart, *, of_limit: bool = False) -> str:
    """The chart: a row for each joint with its causes, total, limit and share of the limit."""
    scales = full_scales(found, of_limit=of_limit)
    hues = [css_color(color) for color in share_colors(found.share)]
    rows = [_row(found, i, float(scales[i]), hues[i]) for i in range(min(len(found.names), MAX_ROWS))]
    more = len(found.names) - len(rows)
    rest = f'<div class="dim">and {more} more joints</div>' if more > 0 else ""
    return in_frame(_key(found) + "".join(rows) + rest + _scale(found, scales, of_limit=of_limit))


def _key(found: TorqueChart) -> str:
    if not found.terms:
        return '<div class="key dim">no torques in this state</div>'
    causes = "".join(f'<span><i style="background:{CAUSES[name]}"></i>{name}</span>' for name in found.terms)
    return f'<div class="key">{causes}</div>'


def _row(found: TorqueChart, i: int, scale: float, hue: str) -> str:
    """Positive causes to the right of the middle, negative ones to the left, one after the other."""
    parts, ends = [], {1: 50.0, -1: 50.0}
    for name, values in found.terms.items():
        x = float(values[i])
        width = 50.0 * abs(x) / scale
        if width < 0.05:
            continue
        side = 1 if x > 0 else -1
        start = ends[side] if x > 0 else ends[side] - width
        ends[side] += side * width
        parts.append(f'<i style="left:{start:.2f}%;width:{width:.2f}%;background:{CAUSES[name]}"></i>')
    limit = 50.0 * float(found.effort[i]) / scale
    marks = [f'<s style="left:{50 + side * limit:.2f}%"></s>' for side in (-1, 1) if 0 < limit < 49]
    total = float(found.total[i])
    at = min(max(50 + 50 * total / scale, 0.5), 99.5)
    share = float(found.share[i])
    unit = f" {found.units[i]}" if len(set(found.units)) > 1 else ""
    return (
        f'<div class="row" title="{safe(found.names[i])}"><span class="name">{safe(found.names[i])}</span>'
        f'<div class="bar">{"".join(parts)}<b></b>{"".join(marks)}<u style="left:{at:.2f}%"></u></div>'
        f'<span class="num">{number(total)}{unit}</span>'
        f'<span class="pct" style="color:{hue}">{percent(share)}</span></div>'
    )


def percent(share: float) -> str:
    """A share of a limit in words: "12 %"; "" where there is no limit, "passive" where nothing drives the joint."""
    if math.isnan(share):
        return ""
    if math.isinf(share):
        return "passive"
    return f"{100 * share:.0f} %" if share < 9.995 else "> 999 %"


def _scale(found: TorqueChart, scales: Array, *, of_limit: bool) -> str:
    if not len(found.names):
        return ""
    if of_limit:
        return '<div class="scale dim"><span>-100 %</span><span>0</span><span>100 % of limit</span></div>'
    ends = {unit: float(scales[found.units.index(unit)]) for unit in dict.fromkeys(found.units)}
    low = ", ".join(f"-{number(end)}" for end in ends.values())
    high = ", ".join(f"{number(end)} {unit}" for unit, end in ends.items())
    return f'<div class="scale dim"><span>{low}</span><span>0</span><span>{high}</span></div>'


def torque_table(found: TorqueChart) -> str:
    """The numbers of the chart: a row for each joint, a column for each cause."""
    columns: Sequence[tuple[str, Array]] = [*found.terms.items(), ("total", found.total)]
    head = "".join(f"<th>{name}</th>" for name, _ in columns)
    rows = "".join(
        f"<tr><th>{safe(name)}</th>{''.join(f'<td>{number(float(values[i]))}</td>' for _, values in columns)}"
        f'<td class="dim">{found.units[i]}</td></tr>'
        for i, name in enumerate(found.names[:MAX_ROWS])
    )
    return in_frame(f'<div class="wide"><table class="grid"><tr><th></th>{head}<th></th></tr>{rows}</table></div>')
