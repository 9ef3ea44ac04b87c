"""The page: the answer first, then the motion, tables and figures of a study, in one file of HTML without network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from chainrule import __version__
from chainrule.display.tables import escape
from chainrule.study.finding import MEASURES, SLOWEST_PACE
from chainrule.study.report import figures
from chainrule.study.report.wireframe import Wireframe
from chainrule.study.report.words import cards, gravity_ratios, name_of, number, steps, summary, terms_of
from chainrule.study.sizing import Sizing
from chainrule.study.study import Result
from chainrule.study.tracking import CONTROLLERS, Followed

BOXES = ("angle", "speed", "acceleration", "torque")
"""Quantities of which an activity has box plots, as it has curves."""


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
    labels = {joint: name_of(joint) for joint in result.joints}
    most = result.joints[_main_joint(result)]
    order = sorted(result.titles, key=lambda name: result.cell(name, most).peak_torque, reverse=True)
    several = len(order) > 1
    sections = [
        ("motion", "The motion at its largest torque", _replay(result, order)),
        ("joints", "Joints over all activities" if several else "Joints", _joint_table(result, labels)),
        ("activities", "Peak torques, the worst activity first", _activity_table(result, order, labels)),
        ("histories", "Over time", _histories(result, labels)),
        ("boxes", "Distributions in this activity", _places(f"box-{name}" for name in BOXES)),
        ("distributions", "Distributions over all activities", _distributions(result, labels)),
        ("gravity", "Gravity and dynamics", _finding(result, labels)),
        ("drives", "Drives", _drives(sizing, balanced, labels)),
        ("control", "Position control on these drives", _control(followed, result, labels)),
    ]
    left_out = {"activities", "distributions"} if not several else set()
    shown = [section for section in sections if section[2] and section[0] not in left_out]
    words = "".join(f"<p>{escape(text)}</p>" for text in summary(result, sizing, balanced))
    answer = cards_of(cards(result, sizing)) + _details("summary", "In words", words)
    method = _details("method", "How this was computed", _list(steps(result, settings or {})), is_open=False)
    return document(title, answer, shown, method, "Torque study", _content(result, order, sizing))


def _main_joint(result: Result) -> int:
    """The joint of the largest torque; of joints that slide, only where none turns."""
    turning = [joint for joint in result.joints if joint not in result.sliding] or result.joints
    return result.joints.index(max(turning, key=lambda joint: result.overall[joint].peak_torque))


def _content(result: Result, order: Sequence[str], sizing: Sizing | None) -> dict[str, Any]:
    """What the script of the page draws."""
    turns = [joint not in result.sliding for joint in result.joints]
    scene = Wireframe(result.robot)
    most = _main_joint(result)

    def box(cells: Sequence[Any], quantity: str) -> list[figures.Figure]:
        in_degrees = quantity in ("angle", "speed", "acceleration")
        return [
            figures.boxes([cell[quantity]], float(np.degrees(1.0)) if in_degrees and turning else 1.0)[0]
            for cell, turning in zip(cells, turns, strict=True)
        ]

    def activity(name: str) -> dict[str, Any]:
        cells = [result.cell(name, joint) for joint in result.joints]
        return {
            "title": result.titles[name],
            **figures.motion(result.examples[name], turns, result.parts, scene, most),
            "boxes": {quantity: box(cells, quantity) for quantity in BOXES},
        }

    overall = list(result.overall.values())
    return {
        "joints": [{"label": name_of(joint), "turns": turn} for joint, turn in zip(result.joints, turns, strict=True)],
        "parts": result.parts,
        "most": most,
        "scene": {"lines": scene.lines, "bodies": scene.bodies(), "size": scene.skeleton.reach},
        "activities": [activity(name) for name in order],
        "overall": {quantity: box(overall, quantity) for quantity in (*BOXES, *result.parts, "power")},
        "pace": figures.pace_curves(result),
        "planes": []
        if sizing is None
        else [figures.torque_speed(choice, sizing.loads[joint]) for joint, choice in sizing.choices.items()],
    }


def document(
    title: str,
    answer: str,
    sections: Sequence[tuple[str, str, str]],
    method: str,
    what: str,
    content: Mapping[str, Any] | None = None,
) -> str:
    """A page of sections (anchor, title, HTML); `content` is what the script of a study draws."""
    own = resources.files("chainrule.study.report")
    css, script = (own.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    scripts = f'<script type="application/json" id="data">{data}</script><script>{script}</script>' if content else ""
    links = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name, _ in sections)
    body = "".join(f'<section id="{anchor}"><h2>{escape(name)}</h2>{text}</section>' for anchor, name, text in sections)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{css}</style></head><body><h1>{escape(title)}</h1>{answer}<nav>{links}</nav>{body}"
        f'{method}<footer>{escape(what)} by chainrule {escape(__version__)}. This page needs no network.</footer>'
        f"{scripts}</body></html>\n"
    )  # fmt: skip


def table(header: Sequence[str], rows: Iterable[Sequence[object]], text: Sequence[int] = (0,)) -> str:
    """A table whose cells are escaped; the columns in `text` are set as text, the others as numbers.

    What stands behind a comma in the header is the unit, in a line of its own. Numbers have three digits, and those
    below a ten-thousandth of the largest of their column are 0.
    """
    lines = list(rows)
    largest = [
        max((abs(cell) for row in lines if isinstance(cell := row[k], float)), default=0.0) for k in range(len(header))
    ]
    kind = [' class="text"' if k in text else "" for k in range(len(header))]
    head = "".join(f"<th{kind[k]}>{escape(cell).replace(', ', '<br>', 1)}</th>" for k, cell in enumerate(header))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{kind[k]}>{escape(number(cell, largest[k]) if isinstance(cell, float) else cell)}</td>"
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in lines
    )
    return _scroll(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _scroll(content: str) -> str:
    """A table that scrolls sideways by itself where it is wider than the window."""
    return f'<div class="scroll" tabindex="0">{content}</div>'


def _list(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _details(anchor: str, title: str, content: str, is_open: bool = True) -> str:
    """A section that is folded away by a click, and closed at first on a small screen; paper has it open."""
    return f'<section id="{anchor}">{_foldable(f"<h2>{escape(title)}</h2>", content, is_open)}</section>'


def _foldable(title: str, content: str, is_open: bool = True) -> str:
    return f"<details{' open' if is_open else ''}><summary>{title}</summary>{content}</details>"


def _places(anchors: Iterable[str]) -> str:
    """Places of figures, side by side; on a small screen they scroll sideways."""
    return '<div class="strip">' + "".join(f'<div class="plot" id="{anchor}"></div>' for anchor in anchors) + "</div>"


def cards_of(found: Iterable[tuple[str, str, str]]) -> str:
    """Cards with what they tell, its value and a detail."""
    text = "".join(
        f'<div class="card"><p>{escape(what)}</p><strong>{escape(value)}</strong><p>{escape(detail)}</p></div>'
        for what, value, detail in found
    )
    return f'<div class="cards">{text}</div>'


def _key(result: Result) -> str:
    names = {part: ", ".join(terms_of(result, part)) for part in result.parts} | {"total": "total"}
    return '<p class="key">' + "".join(
        f'<b><span class="{part}"></span>{escape(name)}</b> ' for part, name in names.items()
    ) + "</p>"  # fmt: skip


def _replay(result: Result, order: Sequence[str]) -> str:
    """The robot in motion, and the torque of each joint at that moment; the activities to choose from."""
    pictures = "".join(
        f'<button type="button" id="activity-{k}" aria-pressed="false"><svg aria-hidden="true"></svg>'
        f"<span>{escape(result.titles[name])}</span></button>"
        for k, name in enumerate(order)
    )
    choice = f'<div class="pictures">{pictures}</div>' if len(order) > 1 else ""
    joint = name_of(result.joints[_main_joint(result)])
    begins = "Each activity begins at its" if len(order) > 1 else "It begins at the"
    bars = " The bars of each joint have a scale of their own." if len(result.joints) > 1 else ""
    note = f"{begins} largest torque of {joint}. Drag the picture to turn it.{bars}"
    return (
        f'{choice}<div class="replay"><svg id="stage" role="img" aria-label="the robot in motion"></svg>'
        f'<div><h3 id="moment"></h3>{_key(result)}<div id="bars"></div></div></div>'
        '<p class="controls"><button type="button" id="play">Play</button>'
        '<input type="range" id="time" min="0" max="1000" value="0" aria-label="time"></p>'
        f'<div class="controls">{_note(note)}</div>'
    )


def _joint_table(result: Result, labels: Mapping[str, str]) -> str:
    force, speed = ("N m or N", "rad/s or m/s") if result.sliding else ("N m", "rad/s")
    header = (
        "joint", f"peak torque, {force}", f"RMS torque, {force}", f"1 %, {force}", f"median, {force}", f"99 %, {force}",
        f"peak speed, {speed}", f"speed at peak torque, {speed}", "peak power, W", "work a motion, J",
        "regenerated a motion, J", "loaded, % of time", *(f"{part}, % of terms" for part in result.parts),
    )  # fmt: skip
    rows = [
        (
            labels[joint], cell.peak_torque, cell.rms_torque, *map(float, cell["torque"].quantile([0.01, 0.5, 0.99])),
            float(cell["speed"].peak), cell.speed_at_peak_torque, float(cell["power"].maximum), cell.work,
            cell.regenerated, f"{100 * cell.duty_cycle:.0f}",
            *(f"{100 * cell.share(part):.0f}" for part in result.parts),
        )
        for joint, cell in result.overall.items()
    ]  # fmt: skip
    note = (
        "Loaded: the time with a torque beyond a tenth of its peak. The last columns are shares in the sum of the mean "
        "magnitudes of all terms."
    )
    return table(header, rows) + _note(note)


def _activity_table(result: Result, order: Sequence[str], labels: Mapping[str, str]) -> str:
    """The peak torque of each joint in each activity, shaded by its part of the joint's largest."""
    units = ["N" if joint in result.sliding else "N m" for joint in result.joints]
    head = "".join(f"<th>{escape(labels[j])}<br>{unit}</th>" for j, unit in zip(result.joints, units, strict=True))
    rows = []
    for activity in order:
        cells = []
        for joint in result.joints:
            peak, largest = result.cell(activity, joint).peak_torque, result.overall[joint].peak_torque
            cells.append(
                f'<td style="--part:{100 * peak / largest if largest else 0:.0f}%">{escape(number(peak, largest))}</td>'
            )
        rows.append(f'<tr><td class="text">{escape(result.titles[activity])}</td>{"".join(cells)}</tr>')
    content = (
        f'<table class="shaded"><thead><tr><th class="text">activity</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return _scroll(content) + _note("The more color, the nearer to the joint's largest torque of all activities.")


def _histories(result: Result, labels: Mapping[str, str]) -> str:
    options = "".join(f'<option value="{j}">{escape(labels[joint])}</option>' for j, joint in enumerate(result.joints))
    rows = "".join(
        f'<div class="joint" id="joint-{j}"><h3>{escape(labels[joint])}</h3><div class="strip">'
        + "".join(f'<div class="plot" id="history-{j}-{k}"></div>' for k in range(4))
        + "</div></div>"
        for j, joint in enumerate(result.joints)
    )
    choice = f'<p class="choose small"><label>Joint: <select class="joints">{options}</select></label></p>'
    return f'<p class="activity"></p>{choice if len(result.joints) > 1 else ""}{_key(result)}{rows}'


def _distributions(result: Result, labels: Mapping[str, str]) -> str:
    joints = "".join(f'<option value="{j}">{escape(labels[joint])}</option>' for j, joint in enumerate(result.joints))
    quantities = "".join(f"<option>{name}</option>" for name in ("torque", *BOXES[:3], *result.parts, "power"))
    return (
        f'<p class="choose"><label>Torque of <select class="joints">{joints}</select> in each activity</label></p>'
        '<div class="strip one"><div class="plot" id="by-activity"></div></div>'
        f'<p class="choose"><label>In all: <select id="quantity">{quantities}</select> of each joint</label></p>'
        '<div class="strip one"><div class="plot" id="by-joint"></div></div>'
    )


def _finding(result: Result, labels: Mapping[str, str]) -> str:
    if not gravity_ratios(result, "peak"):
        return ""  # where one of the two does not act there is nothing to compare
    finding = result.finding()
    parts = [f"<p>{escape(result.finding(measure).sentence(labels, result.titles))}</p>" for measure in MEASURES]
    if finding.exceptions:
        rows = [
            (
                labels[c.joint], result.titles[c.activity], number(c.gravity, c.dynamic), number(c.dynamic),
                number(c.critical_pace) if c.critical_pace >= SLOWEST_PACE else "none",
            )
            for c in finding.exceptions[:12]
        ]  # fmt: skip
        unit = "N m or N" if result.sliding else "N m"
        header = ("joint", "activity", f"gravity, {unit}", f"dynamic, {unit}", "equal at, times the pace")
        parts.append(table(header, rows, (0, 1)))
    note = (
        "Inertial, centrifugal and Coriolis torques grow with the square of the pace, that of gravity stays: so the "
        "pace at which both are equal follows from one run."
    )
    return "".join([*parts, '<div class="strip one"><div class="plot" id="pace"></div></div>', _note(note)])


def _drives(sizing: Sizing | None, balanced: Sizing | None, labels: Mapping[str, str]) -> str:
    if sizing is None:
        return ""

    def drive_table(one: Sizing) -> str:
        springs = any(choice.balancer for choice in one.choices.values())
        rows = [
            (
                labels[joint], "none is enough" if choice.drive is None else choice.drive.name,
                "" if choice.drive is None else choice.drive.mass, f"{100 * choice.use:.0f}", choice.limit,
                *([choice.balancer.strength if choice.balancer else ""] if springs else []),
            )
            for joint, choice in one.choices.items()
        ]  # fmt: skip
        header = ("joint", "drive", "mass, kg", "used, %", "limited by", *(["spring, N m"] if springs else []))
        return table(header, rows, (0, 1, 4))

    note = (
        f"Chosen by {sizing.objective} with a safety factor of {sizing.safety:g}; rotor inertia, friction and losses "
        f"of the gears, and the drives' own mass on the arm, are in it; the choice stayed after {sizing.rounds} rounds."
    )
    parts = [drive_table(sizing), _note(note)]
    if balanced is not None:
        parts.append(_foldable("<h3>With springs that balance weight</h3>", drive_table(balanced)))
    planes = _places(f"plane-{j}" for j in range(len(sizing.choices)))
    key = "Motor torque at the joint over speed: what motions ask for, and the drive's peak and continuous torque."
    return "".join([*parts, planes, _note(key)])


def _control(followed: Mapping[str, Followed] | None, result: Result, labels: Mapping[str, str]) -> str:
    if not followed:
        return ""
    sliding = [joint in result.sliding for joint in result.joints]
    scale = np.where(sliding, 1000.0, np.degrees(1.0))
    names = [
        f"{labels[joint]}, {'mm' if slides else 'deg'}" for joint, slides in zip(result.joints, sliding, strict=True)
    ]
    worst_first = sorted(followed.items(), key=lambda pair: float((pair[1].rms_error * scale).max()), reverse=True)
    rows = [
        (
            result.titles[name], *map(float, one.rms_error * scale), float(one.energy.sum()),
            f"{100 * one.saturated.max():.0f}",
        )
        for name, one in worst_first
    ]  # fmt: skip
    controllers = ", ".join(dict.fromkeys(CONTROLLERS[one.controller] for one in followed.values()))
    note = (
        f"Controller: {controllers}. Root mean square of each joint's error, electric energy of all drives, and the "
        "largest share of the time in saturation, of the example of each activity."
    )
    errors = table(("activity", *names, "energy, J", "saturated, % of time"), rows)
    return _foldable("<h3>Errors, the worst activity first</h3>", errors) + _note(note)
