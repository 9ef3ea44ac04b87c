"""The report of an identification: one page without network or script, errors first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, file_path
from chainrule.display.tables import escape
from chainrule.errors import ChainruleError, ShapeError
from chainrule.study.report.figures import some_of
from chainrule.study.report.page import cards_of, document, table
from chainrule.study.report.words import number

if TYPE_CHECKING:
    from chainrule.identification.identify import Identification
    from chainrule.simulation.trajectory import Trajectory

MAX_POINTS = 500
"""Points of a curve on the page."""

WIDTH, HEIGHT = 560, 150
ALIKE = 0.95
"""Correlation from which two base parameters are said to be hard to tell apart."""
WEAK = 0.2
"""Standard deviation, as a share of the size in the file, from which a base parameter deserves another motion."""


def report(result: Identification, path: str | PathLike[str], *, title: str | None = None) -> Path:
    """Write the identification as a page (.html): torques, residuals, parameters with error bars, what to measure next.

    >>> result.report("fit.html")  # doctest: +SKIP
    """
    target = file_path(path, "report")
    if target.suffix.lower() != ".html":
        raise ShapeError(f"the report of an identification is written to .html, got {target.name!r}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(html(result, title or f"Identification of {result.robot.name}"), "utf-8")
    except OSError as error:
        raise ChainruleError(f"the report cannot be written to {target}: {error}") from error
    return target


def html(result: Identification, title: str) -> str:
    """The whole page."""
    sections = [
        ("errors", "Errors of each joint", _errors(result)),
        ("torques", "Measured and predicted torques", "".join(_figures(result))),
        ("parameters", "Parameters", _parameters(result)),
        ("base", "Combinations that torques depend on", _base(result)),
        ("next", "What to measure next", _next(result)),
    ]
    method = '<section id="method"><h2>How this was computed</h2><ul>' + "".join(
        f"<li>{escape(note)}</li>" for note in result.notes
    ) + "</ul></section>"  # fmt: skip
    return document(title, _cards(result), sections, method, "Identification")


def _cards(result: Identification) -> str:
    before, after = result.errors["original"], result.errors["identified"]
    names = result.robot.model.layout.velocity_names
    k = int(np.nanargmax(after / np.maximum(result.noise, 1e-300)))
    sure = sum(result.identifiable.values())
    cards = [
        ("error of predicted torques", f"{np.nanmedian(after / before):.2g} of before", "median of joints, RMS"),
        ("worst joint", f"{after[k] / result.noise[k]:.2f} times its noise", names[k]),
        ("identified by themselves", f"{sure} of {len(result.parameters)}", "parameters; the others fit together"),
        ("condition number", f"{result.condition:.3g}", "of the equations, in sizes of base parameters"),
    ]
    return cards_of(cards)


def _errors(result: Identification) -> str:
    names = result.robot.model.layout.velocity_names
    header = ("joint", *(f"error, {k}" for k in result.errors), "noise of the fit", "outliers, %")
    rows = [
        (name, *(float(result.errors[k][i]) for k in result.errors), float(result.noise[i]),
         float(100 * result.outliers[i]))
        for i, name in enumerate(names)
    ]  # fmt: skip
    note = "RMS without outliers, in the unit of the recording. Masses of least squares may be negative."
    return table(header, rows) + f'<p class="note">{escape(note)}</p>'


def _figures(result: Identification) -> Iterator[str]:
    """Torques and residuals of the first motion, a picture for each joint."""
    motion: Trajectory = result.motions[0]
    if motion.batch:
        motion = motion.row(*(0 for _ in motion.batch))
    shown = some_of(len(motion), MAX_POINTS)
    part = type(motion)(**{**vars(motion), **{k: getattr(motion, k)[shown] for k in ("t", "q", "qd", "qdd", "tau")}})
    predicted = result.torques(part)
    before = result.original.inverse_dynamics(part.q, part.qd, part.qdd)
    has_gains = any(name.endswith(".gain") for name in result.parameters)
    key = [("measured", "--faint"), ("identified", "--accent"), *([] if has_gains else [("original", "--contact")])]
    yield '<p class="key">' + "".join(
        f'<b><span style="border-top-color:var({color})"></span>{name}</b> ' for name, color in key
    ) + "</p>"  # fmt: skip
    for k, name in enumerate(motion.robot.model.layout.velocity_names):
        curves = [part.tau[:, k], predicted[:, k], *([] if has_gains else [before[:, k]])]
        yield f"<h3>{escape(name)}</h3>"
        yield _picture(part.t, curves, [color for _, color in key], "torque")
        yield _picture(part.t, [part.tau[:, k] - predicted[:, k]], ["--faint"], "residual")


def _picture(t: Array, curves: Sequence[Array], colors: Sequence[str], label: str) -> str:
    """Curves over time as a picture; outliers beyond the frame are cut."""
    known = np.concatenate([y[np.isfinite(y)] for y in curves])
    low, high = np.quantile(known, [0.005, 0.995]) if len(known) else (0.0, 1.0)
    margin = 0.15 * (high - low) + 1e-9
    low, high = float(low - margin), float(high + margin)
    left, bottom, height = 60, 18, HEIGHT if label == "torque" else HEIGHT * 0.6
    x = left + (t - t[0]) / max(t[-1] - t[0], 1e-300) * (WIDTH - left - 5)

    def line(y: Array, color: str) -> str:
        v = np.clip((high - y) / (high - low), 0, 1) * (height - bottom - 5) + 5
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, v, strict=True) if np.isfinite(b))
        return f'<polyline points="{points}" fill="none" stroke="var({color})" stroke-width="1.2"/>'

    ticks = "".join(
        f'<text x="{left - 4}" y="{y:.0f}" text-anchor="end" font-size="11" fill="currentColor">{number(value)}</text>'
        for value, y in ((high, 12), (low, height - bottom))
    )
    seconds = "".join(
        f'<text x="{place}" y="{height - 3:.0f}" text-anchor="{anchor}" font-size="11" fill="currentColor">'
        f"{text}</text>"
        for place, anchor, text in ((left, "start", f"{t[0]:.3g} s"), (WIDTH - 5, "end", f"{t[-1]:.3g} s"))
    )
    frame = (
        f'<rect x="{left}" y="5" width="{WIDTH - left - 5}" height="{height - bottom - 5:.0f}" fill="none" '
        'stroke="var(--rule)"/>'
    )
    drawn = "".join(line(y, color) for y, color in zip(curves, colors, strict=True))
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" width="100%" style="max-width:46rem" role="img" '
        f'aria-label="{label} over time">{frame}{drawn}{ticks}{seconds}</svg>'
    )


def _parameters(result: Identification) -> str:
    before = result.before
    rows = [
        (
            name, f"{before[name]:.4g}" if name in before else "", f"{x:.4g}",
            f"{result.standard_deviations[name]:.2g}" if np.isfinite(result.standard_deviations[name]) else "unknown",
            "yes" if result.identifiable[name] else "no",
        )
        for name, x in result.parameters.items()
    ]  # fmt: skip
    note = (
        "Standard deviations are those of the data alone. Where they say little, the number is near the robot's file, "
        "and such that the combinations below are right and every body can exist."
    )
    return (
        table(("parameter", "before", "after", "standard deviation", "by itself"), rows) + f'<p class="note">{note}</p>'
    )


def _base(result: Identification) -> str:
    rows = [
        (name, f"{x:.4g}", f"{s:.2g}")
        for name, x, s in zip(result.base_names, result.base_values, result.base_standard_deviations, strict=True)
    ]
    pairs = np.argwhere(np.triu(np.abs(result.correlations) > ALIKE, 1))
    alike = [
        (result.base_names[i], result.base_names[j], f"{result.correlations[i, j]:.3f}") for i, j in pairs[:20].tolist()
    ]
    text = table(("combination", "value", "standard deviation"), rows)
    return text + (
        "<h3>Hard to tell apart</h3>" + table(("one", "other", "correlation"), alike, (0, 1)) if alike else ""
    )


def _next(result: Identification) -> str:
    share = result.base_standard_deviations / result.base_sizes
    weak = [k for k in np.argsort(-share) if share[k] > WEAK][:12]
    if not weak:
        return "<p>The motions show every combination to a fifth of its size in the robot's file or better.</p>"
    rows = [
        (result.base_names[k], f"{result.base_values[k]:.3g}", f"{result.base_standard_deviations[k]:.2g}")
        for k in weak
    ]
    return (
        "<p>These are known least, against their size in the robot's file. Record motions in which their joints and "
        "those before them move at once, fast and far, with other directions of gravity in their links.</p>"
        + table(("combination", "value", "standard deviation"), rows)
    )
