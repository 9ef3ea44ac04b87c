"""Everything that looks wrong with a robot, ranked: findings, and the checks that make them."""

from chainrule.doctor.diagnosis import diagnose, diagnose_error, doctor
from chainrule.doctor.findings import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose", "diagnose_error", "doctor"]
