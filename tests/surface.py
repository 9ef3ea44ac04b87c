"""The public functions of a robot: its own, and those of its subjects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pkgutil import iter_modules
from typing import Any

from chainrule.robot import subjects

SUBJECTS = tuple(module.name for module in iter_modules(subjects.__path__))


def functions(robot: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each public function, by its name as it is called on the robot: "pose", "loops.close"."""
    for prefix, owner in (("", robot), *((f"{name}.", getattr(robot, name)) for name in SUBJECTS)):
        for name in dir(type(owner)):
            if not name.startswith("_") and callable(getattr(type(owner), name, None)):
                yield prefix + name, getattr(owner, name)
