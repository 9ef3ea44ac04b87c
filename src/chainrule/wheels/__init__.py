"""Wheeled bases in the plane: wheels to motion and back, odometry, and arms on wheels.

A pose is (x, y, theta), in m and rad; a body twist (vx, vy, omega), forwards, to the left, and anticlockwise, in m/s
and rad/s. Leading dimensions are a batch, as everywhere.
"""

from typing import NoReturn

from chainrule.errors import advice_on
from chainrule.wheels.bases import Base, Car, DifferentialDrive, Unicycle
from chainrule.wheels.encoders import encoder_speed
from chainrule.wheels.mobile import MobileManipulator
from chainrule.wheels.odometry import Track, odometry
from chainrule.wheels.omnidirectional import Omnidirectional
from chainrule.wheels.plane import pose_after

__all__ = [
    "Base", "Car", "DifferentialDrive", "MobileManipulator", "Omnidirectional", "Track", "Unicycle", "encoder_speed",
    "odometry", "pose_after",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(name) if name.startswith("_") else advice_on(__name__, name)
