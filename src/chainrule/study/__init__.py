"""Torque studies: from motions of an arm to what each joint must deliver.

>>> from chainrule import study
>>> result = study.run(study.Subject.human(mass=80, height=1.8), activities=["drink_with_cup", "comb_hair"])
>>> round(result.overall["elbow_flexion"].peak_torque, 1)
5.2
"""

import sys
from types import ModuleType
from typing import NoReturn

from chainrule.errors import UnknownAttributeError
from chainrule.study.activities import Activities, Activity, activities
from chainrule.study.drives import Catalogue, Drive, Gear, Motor, drives
from chainrule.study.finding import GravityFinding
from chainrule.study.markers import Markers, SolvedMarkers, Trunk, calibrate, read_markers, solve_markers
from chainrule.study.motions import Motion, Recorded
from chainrule.study.report import write_report
from chainrule.study.series_elastic import MotorSide, best_stiffness, on_springs
from chainrule.study.sizing import Balancer, Choice, Sizing, size
from chainrule.study.statistics import JointStatistics
from chainrule.study.study import Result, Study, run
from chainrule.study.subjects import Person, Population, Subject, percentile, population
from chainrule.study.synthesis import Synthetic, Variation
from chainrule.study.torques import MotionTorques
from chainrule.study.tracking import Followed, follow

__all__ = [
    "Activities", "Activity", "Balancer", "Catalogue", "Choice", "Drive", "Followed", "Gear", "GravityFinding",
    "JointStatistics", "Markers", "Motion", "MotionTorques", "Motor", "MotorSide", "Person", "Population", "Recorded",
    "Result", "Sizing", "SolvedMarkers", "Study", "Subject", "Synthetic", "Trunk", "Variation", "activities",
    "best_stiffness", "calibrate", "drives", "follow", "on_springs", "percentile", "population", "read_markers", "run",
    "size", "solve_markers", "write_report",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


class _Study(ModuleType):
    """This package, which may be called: `cr.study(robot, motions=...)` is `cr.study.run`."""

    __call__ = staticmethod(run)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnknownAttributeError.of("function", name, __all__, "cr.study")


sys.modules[__name__].__class__ = _Study
