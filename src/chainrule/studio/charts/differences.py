"""The differences of two robots as a table."""

from __future__ import annotations

from chainrule.robot.comparison import Comparison
from chainrule.robot.parts import short
from chainrule.studio.charts.style import in_frame, safe

MAX_ROWS = 60
"""Differences that the table shows."""


def differences_table(comparison: Comparison) -> str:
    """A table of what differs, with the effect on torques and poses above it; all names letter by letter."""
    first, second = safe(comparison.first), safe(comparison.second)
    if not comparison:
        return in_frame(f"<b>{first}</b> and <b>{second}</b> do not differ.")
    rows = []
    last = ""
    for difference in comparison.differences[:MAX_ROWS]:
        if difference.element != last:
            rows.append(f'<tr><th colspan="4">{safe(difference.element)}</th></tr>')
            last = difference.element
        apart = "" if difference.size is None else f"{short(difference.size)} {difference.unit}".rstrip()
        cells = (difference.quantity, difference.first, difference.second, apart)
        rows.append(f"<tr>{''.join(f'<td>{safe(cell)}</td>' for cell in cells)}</tr>")
    count = len(comparison)
    more = f'<div class="dim">and {count - MAX_ROWS} more</div>' if count > MAX_ROWS else ""
    effect = f"<div>{safe(str(comparison.effect))}</div>" if comparison.effect is not None else ""
    hints = "".join(f'<div class="dim">{safe(hint)}</div>' for hint in comparison.hints)
    heading = f"<div><b>{first}</b> and <b>{second}</b> differ in {count} place{'' if count == 1 else 's'}.</div>"
    names = f"<tr><th>what</th><th>{first}</th><th>{second}</th><th>apart</th></tr>"
    table = f'<div class="wide"><table class="grid">{names}{"".join(rows)}</table></div>'
    return in_frame(f"{heading}{effect}{hints}{table}{more}")
