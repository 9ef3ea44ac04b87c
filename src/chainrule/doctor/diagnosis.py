"""The diagnosis of a robot, or of a file that is none."""

from __future__ import annotations

from chainrule.core.mechanism import Mechanism
from chainrule.doctor.checks import CHECKS
from chainrule.doctor.findings import Diagnosis, Finding
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
    return Diagnosis(model.name, (finding for check in CHECKS for finding in check(model)))


def diagnose_error(name: str, error: Exception) -> Diagnosis:
    """The diagnosis of a file that cannot be loaded."""
    why = "There is no robot to look at until this is mended"
    return Diagnosis(name, [Finding("serious", "the file", f"cannot be loaded: {error}", why)])
