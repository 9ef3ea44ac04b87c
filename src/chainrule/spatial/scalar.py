"""The functions of a scalar that the algorithms need, for every kind of scalar.

A *scalar* is whatever supports ``+ - * /`` and has an entry here: a float, a NumPy array (one scalar for each
state of a batch), a CasADi ``SX``, a SymPy expression, a JAX tracer, a Torch tensor, a pint quantity. The class of a
scalar decides which functions serve it. Classes of other packages are known by their names, so that a package is
imported only when one of its scalars turns up.

How to add a kind of scalar: give its class to `register` with its `ScalarFunctions`; subclasses are served too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

Scalar: TypeAlias = Any


class Wrapped:
    """A scalar that is made of other scalars, and chooses between two of its kind whatever the condition is."""

    __slots__ = ()

    def choose(self, condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """`a` where `condition` holds, else `b`."""
        raise NotImplementedError


def _without_exponential(x: Scalar) -> Scalar:
    raise TypeError(f"no exponential function serves scalars of the class {type(x).__name__}")


class ScalarFunctions(NamedTuple):
    """The functions that serve one class of scalars."""

    sin: Callable[[Scalar], Scalar]
    cos: Callable[[Scalar], Scalar]
    sqrt: Callable[[Scalar], Scalar]
    atan2: Callable[[Scalar, Scalar], Scalar]
    where: Callable[[Scalar, Scalar, Scalar], Scalar]
    exp: Callable[[Scalar], Scalar] = _without_exponential


def _choose(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    return a if condition else b


def _or_nan(function: Callable[[float], float]) -> Callable[[float], float]:
    """The function with nan for infinite and nan arguments, as in an array, where ``math`` would raise."""
    return lambda x: function(x) if math.isfinite(x) else math.nan


def _exponential(x: float) -> float:
    """exp(x), infinite where it overflows, as in an array."""
    return math.exp(x) if not x > 709.0 else math.inf


_FLOAT = ScalarFunctions(
    _or_nan(math.sin),
    _or_nan(math.cos),
    lambda x: math.sqrt(x) if x >= 0 else math.nan,
    math.atan2,
    _choose,
    _exponential,
)


def _at_zero(value: int, function: Callable[[float], float]) -> Callable[[int], float]:
    """The function of a whole number, with the exact value at zero."""
    return lambda x: value if x == 0 else function(x)


def _root(x: int) -> float:
    """The square root of a whole number, whole where it is."""
    whole = math.isqrt(x) if x >= 0 else 0
    return whole if whole * whole == x else _FLOAT.sqrt(x)


_INT = _FLOAT._replace(sin=_at_zero(0, math.sin), cos=_at_zero(1, math.cos), sqrt=_root)


def _fraction() -> ScalarFunctions:
    """Functions of fractions where their values are fractions; elsewhere they are refused, never rounded."""
    fraction = import_module("fractions").Fraction

    def refusal(name: str, x: Scalar) -> TypeError:
        return TypeError(f"{name}({x}) is no fraction; take float({x}), or sympy.Rational({str(x)!r}) to keep it exact")

    def at_zero(name: str, value: int) -> Callable[[Scalar], Scalar]:
        def function(x: Scalar) -> Scalar:
            if x != 0:
                raise refusal(name, x)
            return fraction(value)

        return function

    def sqrt(x: Scalar) -> Scalar:
        root = fraction(math.isqrt(abs(x.numerator)), math.isqrt(x.denominator))
        if root * root != x:
            raise refusal("sqrt", x)
        return root

    def atan2(y: Scalar, x: Scalar) -> Scalar:
        if y != 0 or x < 0:
            raise refusal("atan2", y)
        return fraction(0)

    return ScalarFunctions(at_zero("sin", 0), at_zero("cos", 1), sqrt, atan2, _choose)


def _numpy() -> ScalarFunctions:
    np = import_module("numpy")
    return ScalarFunctions(np.sin, np.cos, np.sqrt, np.arctan2, np.where, np.exp)


def _pint() -> ScalarFunctions:
    return _numpy()._replace(where=_choose)


def _casadi() -> ScalarFunctions:
    ca = sys.modules["casadi"]
    return ScalarFunctions(ca.sin, ca.cos, ca.sqrt, ca.atan2, ca.if_else, ca.exp)


def _sympy() -> ScalarFunctions:
    sp = import_module("sympy")
    return ScalarFunctions(sp.sin, sp.cos, sp.sqrt, sp.atan2, lambda c, a, b: sp.Piecewise((a, c), (b, True)), sp.exp)


def _jax() -> ScalarFunctions:
    jnp = import_module("jax.numpy")
    return ScalarFunctions(jnp.sin, jnp.cos, jnp.sqrt, jnp.arctan2, jnp.where, jnp.exp)


def _torch() -> ScalarFunctions:
    torch = import_module("torch")

    def tensor(x: Scalar) -> Scalar:
        return x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.float64)

    return ScalarFunctions(
        torch.sin,
        torch.cos,
        torch.sqrt,
        lambda y, x: torch.atan2(tensor(y), tensor(x)),
        lambda c, a, b: torch.where(c, tensor(a), tensor(b)),
        torch.exp,
    )


_KNOWN: dict[tuple[str, str], Callable[[], ScalarFunctions]] = {
    ("builtins", "float"): lambda: _FLOAT,
    ("builtins", "int"): lambda: _INT,
    ("fractions", "Fraction"): _fraction,
    ("numpy", "ndarray"): _numpy,
    ("numpy", "generic"): _numpy,
    ("pint", "PlainQuantity"): _pint,
    ("casadi", "SX"): _casadi,
    ("casadi", "MX"): _casadi,
    ("casadi", "DM"): _casadi,
    ("sympy", "Basic"): _sympy,
    ("jax", "Array"): _jax,
    ("jax", "Tracer"): _jax,
    ("jaxlib", "Array"): _jax,
    ("jaxlib", "ArrayImpl"): _jax,
    ("torch", "Tensor"): _torch,
}
"""Makers of functions by (package, class name), for classes that must not be imported to be known."""

_REGISTERED: dict[type | str, ScalarFunctions] = {}
_SERVED: dict[type, ScalarFunctions] = {}
"""What `functions_of` has found, by class."""


def register(scalar: type | str, functions: ScalarFunctions) -> None:
    """Serve scalars of a class, and of its subclasses, with `functions`.

    The name of a package in place of a class registers all classes that the package defines.
    """
    _REGISTERED[scalar] = functions
    _SERVED.clear()


def functions_of(kind: type) -> ScalarFunctions:
    """The functions that serve scalars of the class `kind`."""
    if kind not in _SERVED:
        _SERVED[kind] = _look_up(kind)
    return _SERVED[kind]


def _look_up(kind: type) -> ScalarFunctions:
    """The functions of the first class among `kind` and its bases that is registered or known."""
    for base in kind.__mro__:
        package = (base.__module__ or "").partition(".")[0]  # None for the class of SymPy's Function("theta")
        functions = _REGISTERED.get(base) or _REGISTERED.get(package)
        if functions is not None:
            return functions
        if (package, base.__qualname__) in _KNOWN:
            return _KNOWN[package, base.__qualname__]()
    known = ", ".join(sorted({package for package, _ in _KNOWN}))
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


def exp(x: Scalar) -> Scalar:
    return functions_of(type(x)).exp(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    kind = type(x) if isinstance(y, (int, float)) or isinstance(x, Wrapped) else type(y)
    return functions_of(kind).atan2(y, x)


def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """`a` where `condition` holds, else `b`; both are evaluated, so guard what may divide by zero."""
    for branch in (a, b):
        if isinstance(branch, Wrapped):
            return branch.choose(condition, a, b)
    return functions_of(type(condition)).where(condition, a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    return where(a > b, a, b)


def is_zero(x: Scalar) -> bool:
    """Whether `x` is the plain number zero, whatever the state: a zero of the structure, not of a value."""
    return isinstance(x, (int, float)) and x == 0
