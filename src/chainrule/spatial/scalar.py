"""The few functions of a scalar that the algorithms need, for every kind of scalar.

A *scalar* is whatever supports ``+ - * /`` and has an entry here: a float, a NumPy array (one scalar for each
state of a batch), a CasADi ``SX``, a SymPy expression, a JAX tracer, a Torch tensor, a pint quantity. The package
that defines the scalar's type decides which functions serve it, and is imported only when such a scalar turns up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

Scalar: TypeAlias = Any


class Functions(NamedTuple):
    """What a package of scalars must offer."""

    sin: Callable[[Scalar], Scalar]
    cos: Callable[[Scalar], Scalar]
    sqrt: Callable[[Scalar], Scalar]
    atan2: Callable[[Scalar, Scalar], Scalar]
    where: Callable[[Scalar, Scalar, Scalar], Scalar]


def _choose(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    return a if condition else b


def _or_nan(function: Callable[[float], float]) -> Callable[[float], float]:
    """Let infinity give nan, as it does in an array, where ``math`` would raise."""
    return lambda x: function(x) if math.isfinite(x) else math.nan


_FLOAT = Functions(
    _or_nan(math.sin), _or_nan(math.cos), lambda x: math.sqrt(x) if x >= 0 else math.nan, math.atan2, _choose
)


def _numpy() -> Functions:
    np = import_module("numpy")
    return Functions(np.sin, np.cos, np.sqrt, np.arctan2, np.where)


def _pint() -> Functions:
    return _numpy()._replace(where=_choose)


def _casadi() -> Functions:
    ca = import_module("casadi")
    return Functions(ca.sin, ca.cos, ca.sqrt, ca.atan2, ca.if_else)


def _sympy() -> Functions:
    sp = import_module("sympy")
    return Functions(sp.sin, sp.cos, sp.sqrt, sp.atan2, lambda c, a, b: sp.Piecewise((a, c), (b, True)))


def _jax() -> Functions:
    jnp = import_module("jax.numpy")
    return Functions(jnp.sin, jnp.cos, jnp.sqrt, jnp.arctan2, jnp.where)


def _torch() -> Functions:
    torch = import_module("torch")

    def tensor(x: Scalar) -> Scalar:
        return x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.float64)

    return Functions(
        torch.sin,
        torch.cos,
        torch.sqrt,
        lambda y, x: torch.atan2(tensor(y), tensor(x)),
        lambda c, a, b: torch.where(c, tensor(a), tensor(b)),
    )


_PACKAGES: dict[str, Callable[[], Functions]] = {
    "builtins": lambda: _FLOAT,
    "numpy": _numpy,
    "pint": _pint,
    "casadi": _casadi,
    "sympy": _sympy,
    "jax": _jax,
    "jaxlib": _jax,
    "torch": _torch,
}
_SERVED: dict[type, Functions] = {}


def register(package: str, functions: Functions) -> None:
    """Serve the scalars whose type is defined in `package` with `functions`."""
    _PACKAGES[package] = lambda: functions
    _SERVED.clear()


def functions_of(kind: type) -> Functions:
    """The functions that serve scalars of type `kind`."""
    if kind not in _SERVED:
        _SERVED[kind] = _look_up(kind)
    return _SERVED[kind]


def _look_up(kind: type) -> Functions:
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        if package in _PACKAGES and base is not object:
            return _PACKAGES[package]()
    known = ", ".join(sorted(_PACKAGES))
    raise TypeError(
        f"{kind.__module__}.{kind.__qualname__} is not a scalar chainrule knows (it knows those of {known}); "
        "teach it with chainrule.spatial.scalar.register"
    )


def sin(x: Scalar) -> Scalar:
    return functions_of(type(x)).sin(x)


def cos(x: Scalar) -> Scalar:
    return functions_of(type(x)).cos(x)


def sqrt(x: Scalar) -> Scalar:
    return functions_of(type(x)).sqrt(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    kind = type(y) if not isinstance(y, (int, float)) else type(x)
    return functions_of(kind).atan2(y, x)


def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """`a` where `condition` holds, else `b`. Both are evaluated: guard what may divide by zero."""
    return functions_of(type(condition)).where(condition, a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    return where(a > b, a, b)


def is_zero(x: Scalar) -> bool:
    """Whether `x` is the number zero, known without looking at any state: structure, not a value."""
    return isinstance(x, (int, float)) and x == 0
