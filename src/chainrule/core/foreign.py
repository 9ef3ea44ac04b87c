"""Symbols and tensors with gradients of other packages: where functions take them."""

from __future__ import annotations

from typing import Any

from chainrule.errors import ShapeError
from chainrule.functions.table import FUNCTIONS


def refuse_symbols(value: Any, what: str) -> None:
    """Raise where a value, or the first of a list, has no numbers, or numbers whose gradients would be lost.

    `what` begins with the name of the function that was called. Packages are not imported: classes are known by name.
    """
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    package = type(first).__module__.partition(".")[0]
    if package not in _DESCRIPTIONS:
        return
    described = _DESCRIPTIONS[package](first)
    if described is not None:
        raise ShapeError(f"{what} {described} {_door(package, what.partition(':')[0])}")


def _tensor(value: Any) -> str | None:
    needs = getattr(value, "requires_grad", False) is True
    return "is a tensor of PyTorch that requires grad, which would be lost:" if needs else None


def _tracer(value: Any) -> str | None:
    is_tracer = any(kind.__name__ == "Tracer" for kind in type(value).__mro__)
    return "is a tracer of JAX, which has no numbers:" if is_tracer else None


def _casadi(value: Any) -> str | None:
    return "is a symbol of CasADi, which has no numbers:" if type(value).__name__ in ("SX", "MX") else None


def _sympy(value: Any) -> str | None:
    is_symbol = not getattr(value, "is_number", False)
    return "is an expression of SymPy, which has no numbers:" if is_symbol else None


_DESCRIPTIONS = {"torch": _tensor, "jax": _tracer, "jaxlib": _tracer, "casadi": _casadi, "sympy": _sympy}


def _door(package: str, function: str) -> str:
    """What to call instead."""
    if package == "sympy":
        return "robot.equations() has the functions in symbols"
    attribute = "jax" if package == "jaxlib" else package
    own = f".{function}" if function in FUNCTIONS else ""
    return f"call robot.{attribute}{own}"
