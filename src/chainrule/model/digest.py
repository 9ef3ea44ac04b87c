"""The digest of a model: of every number and name that shapes its motion, by which compiled kernels are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from numbers import Real

from chainrule.errors import ModelError, short_repr

ANNOTATIONS = frozenset({"geometries", "configurations", "notes", "problems", "dh"})
"""Fields of models and joints that play no part in motions."""


def digest(model: object) -> str:
    """SHA-256 over the fields of a model, one a line; equal for models that move alike by the same names."""
    lines: list[str] = []
    _list(model, lines.append)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _list(value: object, say: Callable[[str], None]) -> None:
    if value is None or isinstance(value, (str, bool)):
        say(repr(value))
    elif isinstance(value, Real):
        say((float(value) + 0.0).hex())  # -0.0 is 0.0
    elif isinstance(value, (tuple, list)):
        say(f"{len(value)} items")
        for item in value:
            _list(item, say)
    elif hasattr(value, "fingerprint"):  # a friction law of the user's own
        say(f"law {value.fingerprint}")
    elif is_dataclass(value):
        kind = type(value)
        say(f"{kind.__module__}.{kind.__qualname__}")
        for field in fields(value):
            if field.name not in ANNOTATIONS:
                _list(getattr(value, field.name), say)
    else:
        raise ModelError(
            f"the digest of a model needs numbers, names, and dataclasses of these, got {short_repr(value)}; kinds of "
            "joints are frozen dataclasses"
        )
