"""Torque studies: from motions of an arm to what each joint must deliver.

>>> from chainrule import study
>>> result = study.run(study.Subject.human(mass=80, height=1.8), activities=["drink_with_cup", "comb_hair"])
>>> round(result.overall["elbow_flexion"].peak_torque, 1)
5.5
"""

from chainrule.study.activities import Activities, Activity, activities
from chainrule.study.finding import Finding
from chainrule.study.motions import Motion, Recorded
from chainrule.study.statistics import JointStatistics
from chainrule.study.study import Result, Study, run
from chainrule.study.subjects import Body, Subject, percentile, population
from chainrule.study.synthesis import Synthetic, Variation
from chainrule.study.torques import MotionTorques

__all__ = [
    "Activities", "Activity", "Body", "Finding", "JointStatistics", "Motion", "MotionTorques", "Recorded", "Result",
    "Study", "Subject", "Synthetic", "Variation", "activities", "percentile", "population", "run",
]  # fmt: skip
