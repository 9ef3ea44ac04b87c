"""Robots that travel: a small pickle, and one object for it in each process.

A task on a cluster brings its robot along. What the robot has computed and compiled stays with the object, so that the
second task that brings the same robot finds it warm.
"""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections import OrderedDict
from typing import Any
from weakref import WeakValueDictionary

from chainrule.core.derived import backend_of, remember
from chainrule.lazy import ForkLock

MAX_KEPT_ROBOTS = 16
"""Robots that came by pickle and stay at hand although nobody holds them: those that came last."""

Key = tuple[type, bool, str]
"""The class of a robot, whether it is compiled, and the digest of its model."""

_robots: WeakValueDictionary[Key, Any] = WeakValueDictionary()
_latest: OrderedDict[Key, Any] = OrderedDict()
_lock = ForkLock()


class Packed:
    """The model of a robot as bytes, and their digest: equal digests mean that nothing differs."""

    __slots__ = ("content", "digest")

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.digest = hashlib.sha256(content).hexdigest()


def pack_model(robot: Any) -> Packed | None:
    """The model of a robot as bytes; None where only the pickler that asks may know how, as of a local function."""
    model: Packed | None = remember(robot, "packed", lambda: _pack(robot))
    return model


def _pack(robot: Any) -> Packed | None:
    try:
        return Packed(zlib.compress(pickle.dumps(robot.model, protocol=5)))
    except Exception:  # a friction law that is a lambda, which cloudpickle takes
        return None


def reduce_robot(robot: Any) -> tuple[Any, ...] | None:
    """The function and arguments that `pickle` writes for a robot, or None where its model cannot be packed."""
    model = pack_model(robot)
    return None if model is None else (restore_robot, (type(robot), backend_of(robot).compiles, model.content))


def restore_robot(kind: type, compiles: bool, content: bytes) -> Any:
    """The robot of a pickle: the one that came before, if it is still here."""
    model = Packed(content)
    key = (kind, compiles, model.digest)
    found = _robots.get(key)
    if found is None:
        robot: Any = object.__new__(kind)
        robot.__setstate__({"model": pickle.loads(zlib.decompress(content)), "compiled": compiles})
        remember(robot, "packed", lambda: model)  # so that it travels on as the same
    with _lock:
        found = _robots.setdefault(key, robot) if found is None else found
        _latest[key] = found
        _latest.move_to_end(key)
        while len(_latest) > MAX_KEPT_ROBOTS:
            _latest.popitem(last=False)
    return found
