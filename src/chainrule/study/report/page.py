"""The page: text, tables, drawings and figures of a study in one file of HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from chainrule import __version__
from chainrule.display.tables import escape
from chainrule.study.report import figures
from chainrule.study.report.postures import Paper
from chainrule.study.report.words import name_of, steps, summary, terms_of
from chainrule.study.sizing import Sizing
from chainrule.study.study import Result
from chainrule.study.tracking import Followed

MAX_POSTURES = 24


class ReportPage:
    """Sections of HTML, and the figures that fill their places."""

    def __init__(self) -> None:
        self.sections: list[tuple[str, str, str]] = []
        self.figures: dict[str, figures.Figure] = {}

    def section(self, anchor: str, title: str, *content: str) -> None:
        """Add a section."""
        self.sections.append((anchor, title, "".join(content)))

    def plot(self, anchor: str, figure: figures.Figure) -> str:
        """The place of a figure."""
        self.figures[anchor] = figure
        return f'<div class="plot" id="{anchor}"></div>'


def html(
    result: Result,
    *,
    title: str,
    sizing: Sizing | None = None,
    balanced: Sizing | None = None,
    followed: Mapping[str, Followed] | None = None,
    settings: Mapping[str, str] | None = None,
) -> str:
    """The whole page."""
    page = ReportPage()
    labels = {joint: name_of(joint) for joint in result.joints}
    angular = [place.unit == "rad" for place in result.robot.model.layout.velocities]
    page.section("summary", "Summary", *(f"<p>{escape(text)}</p>" for text in summary(result, sizing, balanced)))
    page.section("joints", "Joints over all activities", _joint_table(result, labels))
    page.section("postures", "Postures", _postures(result))
    page.section("histories", "Time histories", _history_places(result, labels))
    page.section("distributions", "Distributions", *_distributions(page, result, labels))
    page.section(
        "map", "Peak torques", page.plot("heat", figures.heat_map(result, labels)),
    )  # fmt: skip
    page.section("gravity", "Gravity and dynamics", *_finding(page, result, labels))
    if sizing is not None:
        page.section("drives", "Drives", *_drives(page, sizing, balanced, labels))
    if followed:
        page.section("control", "Position control on these drives", _control(followed, result, labels, angular))
    page.section("method", "How this was computed", _list(steps(result, settings or {})))
    content = {
        "figures": page.figures,
        "histories": {
            name: figures.histories(torques, angular, result.parts) for name, torques in result.examples.items()
        },
        "torques": [[name, figures.COLORS[name]] for name in (*result.parts, "total")],
        "units": [_units(turns) for turns in angular],
    }
    return _document(title, page.sections, content)


def _document(title: str, sections: Sequence[tuple[str, str, str]], content: Mapping[str, Any]) -> str:
    own = resources.files("chainrule.study.report")
    css, script = (own.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    plotly = resources.files("plotly").joinpath("package_data/plotly.min.js").read_text("utf-8")
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    links = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name, _ in sections)
    body = "".join(f'<section id="{anchor}"><h2>{escape(name)}</h2>{text}</section>' for anchor, name, text in sections)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{css}</style></head><body><h1>{escape(title)}</h1>"
        f'<p class="about">Torque study by chainrule {escape(__version__)}.</p><nav>{links}</nav>{body}'
        f'<script type="application/json" id="data">{data}</script>'
        f"<script>{plotly}</script><script>{script}</script></body></html>\n"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[object]], text: Sequence[int] = (0,)) -> str:
    """A table whose cells are escaped; the columns in `text` are set as text, the others as numbers."""
    kind = [' class="text"' if k in text else "" for k in range(len(header))]
    head = "".join(f"<th{kind[k]}>{escape(cell)}</th>" for k, cell in enumerate(header))
    lines = [
        "<tr>" + "".join(f"<td{kind[k]}>{escape(_cell_text(cell))}</td>" for k, cell in enumerate(row)) + "</tr>"
        for row in rows
    ]
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _cell_text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _list(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _units(turns: bool) -> list[str]:
    return ["deg", "deg/s", "deg/s²", "N m"] if turns else ["m", "m/s", "m/s²", "N"]


def _joint_table(result: Result, labels: Mapping[str, str]) -> str:
    header = (
        "joint", "peak torque", "RMS torque", "1 %", "median", "99 %", "peak speed", "speed at peak torque",
        "peak power", "work, J a motion", "regenerated, J", "loaded", *result.parts,
    )  # fmt: skip
    rows = [
        (
            labels[joint], cell.peak_torque, cell.rms_torque, cell["torque"].quantile(0.01), cell["torque"].median,
            cell["torque"].quantile(0.99), cell["speed"].peak, cell.speed_at_peak_torque, cell["power"].maximum,
            cell.work, cell.regenerated, f"{cell.duty_cycle:.0%}",
            *(f"{cell.share(part):.0%}" for part in result.parts),
        )
        for joint, cell in result.overall.items()
    ]  # fmt: skip
    note = (
        "Torques in N m, speeds in rad/s, power in W (of sliding joints N and m/s). Loaded: the share of the time "
        f"with a torque beyond a tenth of its peak. {', '.join(result.parts).capitalize()}: shares in the sum of the "
        "mean magnitudes of all terms."
    )
    return table(header, rows) + f'<p class="note">{escape(note)}</p>'


def _postures(result: Result) -> str:
    """The arm at the largest torque of each activity, measured by the joint that needs most."""
    most = max(range(len(result.joints)), key=lambda j: result.overall[result.joints[j]].peak_torque)
    examples = list(result.examples.items())[:MAX_POSTURES]
    places = [int(np.abs(torques.total[:, most]).argmax()) for _, torques in examples]
    paper = Paper(result.robot, [torques.motion.q[k] for (_, torques), k in zip(examples, places, strict=True)])
    drawings = [paper.draw(k, result.titles[name]) for k, (name, _) in enumerate(examples)]
    note = f"Each activity at its largest torque of {name_of(result.joints[most])}, seen from the front and the right."
    return f'<p class="note">{escape(note)}</p><div class="postures">{"".join(drawings)}</div>'


def _history_places(result: Result, labels: Mapping[str, str]) -> str:
    options = "".join(
        f'<option value="{escape(name)}">{escape(title)}</option>' for name, title in result.titles.items()
    )
    rows = "".join(
        f'<div class="joint"><h3>{escape(labels[joint])}</h3><div class="grid four">'
        + "".join(f'<div class="plot" id="history-{j}-{name}"></div>' for name in ("q", "qd", "qdd", "tau"))
        + "</div></div>"
        for j, joint in enumerate(result.joints)
    )
    first = next(iter(result.titles.values()))
    names = {part: ", ".join(terms_of(result, part)) for part in result.parts} | {"total": "total"}
    key = "".join(f'<span style="color:{figures.COLORS[part]}"></span>{escape(name)}' for part, name in names.items())
    return (
        f'<p class="choose"><label>Activity: <select id="activity">{options}</select></label></p>'
        f'<p class="note">On paper: {escape(first)}. Position, speed, acceleration and torque of each joint.'
        f'<span class="key">{key}</span></p>{rows}'
    )


def _distributions(page: ReportPage, result: Result, labels: Mapping[str, str]) -> list[str]:
    titles = list(result.titles.values())
    parts = []
    for j, joint in enumerate(result.joints):
        cells = [result.cell(activity, joint) for activity in result.titles]
        what, unit = ("force", "N") if joint in result.sliding else ("torque", "N m")
        figure = figures.boxes(titles, [cell["torque"] for cell in cells], unit)
        parts.append(_with_title(f"{labels[joint]}: {what}", page.plot(f"box-{j}", figure)))
    turning = [joint for joint in result.joints if joint not in result.sliding]
    loads = {unit: [(part, unit) for part in result.parts] for unit in ("N m", "N")}
    kinds = (
        (turning, "", ("angle", "deg"), ("speed", "deg/s"), *loads["N m"]),
        (result.sliding, " where joints slide", ("angle", "m"), ("speed", "m/s"), *loads["N"]),
    )
    for joints, where, *pairs in kinds:
        for quantity, unit in pairs if joints else ():
            factor = float(np.degrees(1.0)) if unit.startswith("deg") else 1.0
            found = [result.overall[joint][quantity] for joint in joints]
            figure = figures.boxes([labels[joint] for joint in joints], found, unit, factor)
            name = "position" if unit == "m" else quantity
            anchor = f"{'slides' if where else 'turns'}-{quantity}"
            parts.append(_with_title(f"all activities: {name}{where}", page.plot(anchor, figure)))
    return parts


def _with_title(title: str, content: str) -> str:
    """A figure that stays with its title on paper."""
    return f'<div class="joint"><h3>{escape(title)}</h3>{content}</div>'


def _finding(page: ReportPage, result: Result, labels: Mapping[str, str]) -> list[str]:
    parts = [f"<p>{escape(result.finding(measure))}</p>" for measure in ("peak", "rms")]
    exceptions = result.finding().exceptions
    if exceptions:
        rows = [
            (labels[c.joint], result.titles[c.activity], c.gravity, c.dynamic, c.critical_pace) for c in exceptions[:12]
        ]
        unit = "N m, N" if result.sliding else "N m"
        header = ("joint", "activity", f"gravity, {unit}", f"dynamic, {unit}", "pace at which both are equal")
        parts.append(table(header, rows, (0, 1)))
    note = (
        "Inertial, centrifugal and Coriolis torques grow with the square of the pace, that of gravity stays: so the "
        "pace at which both are equal follows from one run."
    )
    return [*parts, page.plot("pace", figures.pace_curve(result)), f'<p class="note">{escape(note)}</p>']


def _drives(page: ReportPage, sizing: Sizing, balanced: Sizing | None, labels: Mapping[str, str]) -> list[str]:
    def drive_table(one: Sizing) -> str:
        rows = [
            (
                labels[joint], "none is enough" if choice.drive is None else choice.drive.name,
                "" if choice.drive is None else choice.drive.mass, f"{choice.use:.0%}", choice.limit,
                "" if choice.balancer is None else choice.balancer.strength,
            )
            for joint, choice in one.choices.items()
        ]  # fmt: skip
        header = ("joint", "drive", "mass, kg", "used", "limited by", "spring, N m")
        return table(header, rows, (0, 1, 4))

    note = (
        f"Chosen by {sizing.objective} with a safety factor of {sizing.safety:g}; rotor inertia, friction and losses "
        f"of the gears, and the drives' own mass on the arm, are in it; the choice stayed after {sizing.rounds} rounds."
    )
    parts = [drive_table(sizing), f'<p class="note">{escape(note)}</p>']
    if balanced is not None:
        parts += ["<h3>With springs that balance weight</h3>", drive_table(balanced)]
    planes = "".join(
        page.plot(f"plane-{j}", figures.torque_speed(choice, sizing.loads[joint], labels[joint]))
        for j, (joint, choice) in enumerate(sizing.choices.items())
    )
    return [*parts, f'<div class="grid two">{planes}</div>']


def _control(
    followed: Mapping[str, Followed], result: Result, labels: Mapping[str, str], angular: Sequence[bool]
) -> str:
    scale = np.where(angular, np.degrees(1.0), 1000.0)
    names = [
        f"{labels[joint]}, {'deg' if turns else 'mm'}" for joint, turns in zip(result.joints, angular, strict=True)
    ]
    rows = [
        (result.titles[name], *map(float, one.rms_error * scale), float(one.energy.sum()), f"{one.saturated.max():.0%}")
        for name, one in followed.items()
    ]
    note = (
        "Root mean square of each joint's error, electric energy of all drives, and the largest share of the time in "
        "saturation, of the example of each activity."
    )
    return table(("activity", *names, "energy, J", "saturated"), rows) + f'<p class="note">{escape(note)}</p>'
