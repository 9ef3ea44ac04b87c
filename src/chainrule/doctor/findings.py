"""Findings about a robot: what looks wrong, why it matters, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from chainrule.display.text import Shown

Severity = Literal["serious", "suspicious", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "suspicious", "note")
"""From the worst on."""

MAX_NAMED = 6
"""Elements that a finding about several of them names."""


@dataclass(frozen=True, repr=False)
class Finding(Shown):
    """Something that looks wrong with one element of a robot, or with several alike."""

    severity: Severity
    element: str
    what: str
    why: str = ""
    """Why it matters: what comes out wrong because of it."""
    advice: str = ""
    """What to do about it."""

    def _view(self) -> Iterator[str]:
        yield f"{self.severity}: {self.element} {self.what}".replace("  ", " ").replace(" : ", ": ")
        if self.why:
            yield f"  why: {self.why}"
        if self.advice:
            yield f"  do: {self.advice}"


class Diagnosis(Shown):
    """The findings about a robot, the worst first: a sequence that prints as a report."""

    def __init__(self, robot: str, findings: Iterable[Finding]) -> None:
        self.robot = robot
        self.findings = tuple(sorted(dict.fromkeys(findings), key=lambda finding: SEVERITIES.index(finding.severity)))

    def _of(self, severity: Severity) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def serious(self) -> tuple[Finding, ...]:
        """Findings that make results wrong."""
        return self._of("serious")

    @property
    def suspicious(self) -> tuple[Finding, ...]:
        """Findings that are probably not what was meant."""
        return self._of("suspicious")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Findings to know of."""
        return self._of("note")

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]

    def _view(self) -> Iterator[str]:
        counts = f"{len(self.serious)} serious, {len(self.suspicious)} suspicious, {len(self.notes)} to note"
        yield f"robot {self.robot!r}: {counts}"
        for finding in self.findings:
            yield from finding._view()

    def to_dict(self) -> dict[str, Any]:
        """The robot's name, the number of findings of each severity, and the findings, as plain values."""
        counts: dict[str, Any] = {severity: len(self._of(severity)) for severity in SEVERITIES}
        return {"robot": self.robot, **counts, "findings": [asdict(finding) for finding in self.findings]}


def name_all(kind: str, names: Iterable[str]) -> str:
    """Elements of a kind, in words: "joint 'a'", "joints 'a', 'b'"."""
    listed = list(names)
    text = ", ".join(repr(name) for name in listed[:MAX_NAMED])
    more = f", ... ({len(listed)} in all)" if len(listed) > MAX_NAMED else ""
    return f"{kind}{'s' if len(listed) > 1 else ''} {text}{more}"
