"""chainrule: kinematics and dynamics of robots, each algorithm written once.

>>> import chainrule as cr
>>> robot = cr.load("planar_2r")
>>> robot.mass_matrix([0.0, 0.0]).tolist()
[[5.0, 2.0], [2.0, 1.0]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Robot": "chainrule.robot",
    "load": "chainrule.library",
    "robots": "chainrule.library",
    "human_arm": "chainrule.human",
    "set_threads": "chainrule.compile.threads",
    "ChainruleError": "chainrule.errors",
    "ModelError": "chainrule.errors",
    "FormatError": "chainrule.errors",
    "ShapeError": "chainrule.errors",
    "UnknownNameError": "chainrule.errors",
    "ModelWarning": "chainrule.errors",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (the names are strings)

if TYPE_CHECKING:
    from chainrule.compile.threads import set_threads as set_threads
    from chainrule.errors import (
        ChainruleError as ChainruleError,
    )
    from chainrule.errors import (
        FormatError as FormatError,
    )
    from chainrule.errors import (
        ModelError as ModelError,
    )
    from chainrule.errors import (
        ModelWarning as ModelWarning,
    )
    from chainrule.errors import (
        ShapeError as ShapeError,
    )
    from chainrule.errors import (
        UnknownNameError as UnknownNameError,
    )
    from chainrule.human import human_arm as human_arm
    from chainrule.library import load as load
    from chainrule.library import robots as robots
    from chainrule.robot import Robot as Robot


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chainrule' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
