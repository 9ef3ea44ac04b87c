"""The check of the model: what looks wrong, why it matters, what to do; a click shows the element in the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.display.tables import escape
from chainrule.doctor.findings import Diagnosis, Finding
from chainrule.studio.charts.style import STYLE, css_color, in_frame
from chainrule.studio.panels.panel import Panel
from chainrule.studio.scene.elements import Elements, elements_of, joint_lines, middles

if TYPE_CHECKING:
    from chainrule.studio.session import Session

COLORS = {"serious": (214, 28, 24), "suspicious": (224, 134, 26), "note": (38, 104, 224)}
"""Colors of findings by severity."""

MAX_FINDINGS = 60
"""Findings that are listed."""

MAX_LABELS = 8
"""Elements that get a label with their name."""


def card(finding: Finding) -> str:
    """A finding as HTML, letter by letter."""
    lines = [f"<p><b>{escape(finding.element)}</b> {escape(finding.what)}</p>"]
    lines += [f"<p>{escape(text)}.</p>" for text in (finding.why, finding.advice) if text]
    hue, kind = css_color(np.array(COLORS[finding.severity])), f'<p class="dim">{finding.severity}</p>'
    return in_frame(f'<div class="note" style="--hue:{hue}">{kind}{"".join(lines)}</div>')


def headline(found: Diagnosis) -> str:
    """The number of findings of each severity as HTML."""
    if not len(found):
        return in_frame('<div class="note" style="--hue:#10945c"><p>Nothing looks wrong with this model.</p></div>')
    counts = (f"{len(found.serious)} serious", f"{len(found.suspicious)} suspicious", f"{len(found.notes)} to note")
    more = f'<p class="dim">The first {MAX_FINDINGS} are listed.</p>' if len(found) > MAX_FINDINGS else ""
    return in_frame(f"<p><b>{', '.join(counts)}</b></p>{more}")


class DoctorPanel(Panel):
    """Everything that looks wrong with the model, the worst first."""

    title = "Doctor"
    tab = "Robot"
    open = False

    def draws(self, session: Session) -> bool:
        """Whether elements are marked in the scene."""
        return bool(self._shown) or self._lines is not None

    def build(self, session: Session) -> None:
        """Examine the robot and list the findings."""
        gui, robot = session.client.gui, session.robot
        self._shown, self._color = Elements(), COLORS["note"]
        self._lines: Any = None
        self._labels: list[Any] = []
        found = self.diagnosis = robot.doctor()
        gui.add_html(STYLE)
        gui.add_html(headline(found))
        for finding in found.findings[:MAX_FINDINGS]:
            gui.add_html(card(finding))
            elements = elements_of(robot, finding)
            if elements:
                button = gui.add_button(_button_text(elements), icon="focus-2", color="gray")
                button.on_click(session.guarded(lambda _, e=elements, f=finding: self._show(session, e, f)))
        self._hide = gui.add_button("Hide the marks", visible=False)
        self._hide.on_click(session.guarded(lambda _: self._show(session, Elements(), None)))

    def _show(self, session: Session, elements: Elements, finding: Finding | None) -> None:
        """Mark elements in the scene, in place of those marked before: links stand out, joints get a ring."""
        self._shown = elements
        self._color = COLORS[finding.severity if finding else "note"]
        self._hide.visible = bool(elements)
        session.drawn.highlight(elements.links)
        session.move()

    def update(self, session: Session) -> None:
        """Draw rings around joints and names at all marked elements, where they are now."""
        lines = joint_lines(session.robot, self._shown.joints, session.poses).astype(np.float32)
        if self._lines is None and len(lines):
            self._lines = session.client.scene.add_line_segments(
                "/doctor/lines", lines, colors=self._color, thickness=3.0, thickness_units="screen"
            )
        if self._lines is not None:
            self._lines.visible = bool(len(lines))
            if len(lines):
                self._lines.points = lines
                self._lines.colors = np.array(self._color, dtype=np.uint8)
        self._name(session)

    def _name(self, session: Session) -> None:
        """Put names at the marked elements."""
        places = middles(session.robot, self._shown, session.poses)[:MAX_LABELS]
        while len(self._labels) < len(places):
            self._labels.append(session.client.scene.add_label(f"/doctor/label{len(self._labels)}", ""))
        for label, (name, place) in zip(self._labels, places, strict=False):
            label.text, label.position, label.visible = name, place, True
        for label in self._labels[len(places) :]:
            label.visible = False

    def close(self) -> None:
        """Remove the marks."""
        for node in (*self._labels, *([] if self._lines is None else [self._lines])):
            node.remove()


def _button_text(elements: Elements) -> str:
    names = [*elements.links, *elements.joints]
    return f"Show {names[0]}" if len(names) == 1 else f"Show all {len(names)}"
