"""The diagnosis of a robot, or of a file that is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chainrule.core.mechanism import Mechanism
from chainrule.doctor.checks import CHECKS
from chainrule.doctor.findings import MAX_NAMED, Diagnosis, Finding
from chainrule.model import Model


def doctor(robot: Mechanism) -> Diagnosis:
    """Everything that looks wrong with the robot, ranked "serious", "suspicious" and "note".

    Impossible or implausible inertias, masses like grams, lengths like millimeters, angles like degrees, centers of
    mass outside, limits that are missing, left and right that differ, meshes that are not there, problems of the file.

    >>> import chainrule as cr
    >>> len(cr.load("panda").doctor().serious)
    0
    """
    return diagnose(robot.model)


def diagnose(model: Model) -> Diagnosis:
    """Everything that looks wrong with a model."""
    alike: dict[Finding, list[str]] = {}
    for check in CHECKS:
        for finding in check(model):
            alike.setdefault(replace(finding, element=""), []).append(finding.element)
    return Diagnosis(model.name, (replace(finding, element=_join(names)) for finding, names in alike.items()))


def _join(elements: Sequence[str]) -> str:
    """Elements with the same finding, in words."""
    named = list(dict.fromkeys(elements))
    more = f", ... ({len(named)} in all)" if len(named) > MAX_NAMED else ""
    return ", ".join(named[:MAX_NAMED]) + more


def diagnose_error(name: str, error: Exception) -> Diagnosis:
    """The diagnosis of a file that cannot be loaded."""
    why = "There is no robot to look at until this is mended"
    return Diagnosis(name, [Finding("serious", "the file", f"cannot be loaded: {error}", why)])
