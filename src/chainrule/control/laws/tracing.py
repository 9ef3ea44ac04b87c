"""Tracing of control laws, and the keys by which their compiled code is known.

Two controllers share compiled code only if their laws are the same arithmetic. A law of this package depends on a few
attributes, which are compared as they are now. Any other law is traced: called once with symbols, and known by the
arithmetic that comes out. The trace is kept for as long as nothing that the law can read has changed; where that cannot
be seen, the law is traced each time.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.symbol_array import with_symbols
from chainrule.compile.traced_function import TracedFunction, refuse_difference, trace_of_user
from chainrule.control.laws.targets import ControlTarget
from chainrule.core.derived import fingerprint
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, short_repr
from chainrule.model import Model

OWN_LAWS = "chainrule.control.laws."
"""The package of the laws that are known to depend on their attributes alone."""

MAX_TRACES = 64
"""Traces that are kept; the oldest goes first."""

PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
"""Types whose values never change."""

PURE_PACKAGES = ("chainrule", "numpy", "math", "builtins", "typing", "abc")
"""Packages whose functions and classes stay as they are."""

_traces: OrderedDict[Hashable, TracedFunction] = OrderedDict()


class Law:
    """The base of controllers, by which one that another holds is known."""

    __slots__ = ()


class UnknownContentError(Exception):
    """The value holds something whose changes cannot be seen."""


def law_key(controller: Any) -> tuple[Hashable, ...]:
    """A key of the arithmetic of `controller.torque`: equal keys mean equal arithmetic of (q, qd, z, s, p)."""
    kind: Any = type(controller)
    if is_own_law(controller):
        try:
            return (kind, *_attributes_of(controller, values=False))
        except UnknownContentError:
            pass
    return (kind, traced_law(controller).fingerprint)


def traced_law(controller: Any) -> TracedFunction:
    """The law as a function of (q, qd, z, s, p), and of the time where it takes that: the torques, then dz/dt."""
    seen = content_of_law(controller)
    if seen is None:
        return trace(controller)
    if seen not in _traces:
        _traces[seen] = trace(controller)
        while len(_traces) > MAX_TRACES:
            _traces.popitem(last=False)
    return _traces[seen]


def content_of_law(controller: Any) -> Hashable:
    """All that the law can read, by value; None where its changes cannot be seen."""
    kind: Any = type(controller)
    try:
        return (kind, _attributes_of(controller, values=True), *_methods_of(kind))
    except (UnknownContentError, RecursionError):
        return None


def is_of_package(kind: type) -> bool:
    """Whether a class of controllers is one of this package."""
    return kind.__module__.startswith(OWN_LAWS)


def is_own_law(controller: Any) -> bool:
    """Whether the law is one of this package, unchanged."""
    kind = type(controller)
    return (
        is_of_package(kind)
        and getattr(kind.torque, "__module__", "").startswith(OWN_LAWS)
        and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
        and all(_is_known(value) for value in _own_values(controller))
    )


def _is_known(value: Any) -> bool:
    """Whether no code hides in an attribute: a target, a law of this package, or nothing to call."""
    return is_own_law(value) if isinstance(value, Law) else isinstance(value, ControlTarget) or not callable(value)


def _own_values(controller: Any) -> Iterator[Any]:
    """The attributes of an object that are not its robot."""
    return (value for value in vars(controller).values() if not isinstance(value, (Mechanism, Model)))


# --- contents, by value ---


def _attributes_of(controller: Any, values: bool) -> tuple[Hashable, ...]:
    """All attributes by value; of parameters and targets, which are arguments of the law, the lengths will do."""
    found: list[Hashable] = []
    for name, value in sorted(vars(controller).items()):
        if name == "parameters" and not values:
            found.append((name, value.shape[-1]))
        elif name == "_arrays" and not values:
            found.append((name, tuple((key, array.shape[-1]) for key, array in value.items())))
        elif isinstance(value, ControlTarget) and not values:
            found.append((name, type(value), value.key))
        elif isinstance(value, Law) and not values:
            found.append((name, law_key(value)))
        else:
            found.append((name, _content(value)))
    return tuple(found)


def _content(value: Any) -> Hashable:
    """A value as something hashable that differs wherever the value does."""
    if isinstance(value, PLAIN):
        return (type(value), repr(value))  # 0.0 and -0.0, 1 and True differ
    if type(value) is np.ndarray and value.dtype != object:
        return ("array", str(value.dtype), value.shape, value.tobytes())
    if type(value) in (tuple, list):
        return (type(value), tuple(_content(item) for item in value))
    if type(value) is dict:
        return ("dict", tuple((_content(key), _content(item)) for key, item in value.items()))
    if type(value) in (set, frozenset):
        return (type(value), frozenset(_content(item) for item in value))
    if isinstance(value, slice):
        return ("slice", _content([value.start, value.stop, value.step]))
    if isinstance(value, Mechanism):
        return ("robot", fingerprint(value))
    if isinstance(value, Model):
        return ("model", value.digest())
    if isinstance(value, Law) and (content := content_of_law(value)) is not None:
        return ("law", content)
    if isinstance(value, ControlTarget) and type(value).__module__.startswith(OWN_LAWS):
        return (type(value), value.key, _content(value.parameters), id(getattr(value, "_reference", None)))
    if isinstance(value, (ModuleType, type, BuiltinFunctionType, np.ufunc)) and _is_pure(value):
        return ("known", id(value))
    if isinstance(value, FunctionType):
        return ("known", id(value)) if _is_pure(value) else _function_content(value)
    raise UnknownContentError


def _is_pure(value: Any) -> bool:
    """Whether a function, class or module belongs to a package that stays as it is."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or "numpy"
    return name.partition(".")[0] in PURE_PACKAGES


def _methods_of(kind: type) -> Iterator[Hashable]:
    """The functions of a class and of its bases, with all that they read."""
    for base in kind.__mro__:
        if base is object or _is_pure(base):
            continue
        for name, value in sorted(vars(base).items()):
            if isinstance(value, property):
                yield (name, *(_content(f) for f in (value.fget, value.fset) if f is not None))
            elif isinstance(value, (staticmethod, classmethod)):
                yield (name, _content(value.__func__))
            elif not name.startswith("__") or isinstance(value, FunctionType):
                yield (name, _content(value) if name not in ("_abc_impl",) else None)


def _function_content(function: FunctionType, within: frozenset[int] = frozenset()) -> Hashable:
    """The code of a function, and the values of the names and variables that it reads from outside."""
    if id(function) in within:
        return ("again", function.__qualname__)
    deeper = within | {id(function)}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    world = function.__globals__
    outside = [world[name] for name in names if name in world]

    def content(value: Any) -> Hashable:
        if isinstance(value, FunctionType) and not _is_pure(value):
            return _function_content(value, deeper)
        return _content(value)

    def cell_content(value: Any) -> Hashable:  # super() keeps its class there, whose methods are looked at anyway
        return ("class", id(value)) if isinstance(value, type) else content(value)

    code = function.__code__
    return (
        "function", code.co_code, code.co_names, repr(code.co_consts), tuple(names),
        tuple(map(content, outside)), tuple(map(cell_content, cells)),
        tuple(map(content, function.__defaults__ or ())), _content(function.__kwdefaults__),
    )  # fmt: skip


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


# --- tracing ---


def trace(controller: Any) -> TracedFunction:
    """The law on symbols, compared with the law on numbers."""
    law, robot, what = controller.torque, controller.robot, f"{type(controller).__name__}: torque"
    lengths = [robot.nq, robot.nv, controller.states, controller.width, np.asarray(controller.parameters).shape[-1]]
    timed = takes_time(controller)
    lengths += [1] * timed
    counts = (robot.nv, controller.states)
    rng = np.random.default_rng(0)
    samples = [[rng.uniform(0.1, 1.0, size=n) for n in lengths] for _ in range(2)]
    expected = [_evaluate(law, [list(x) for x in sample], timed, counts, what) for sample in samples]
    symbolic = with_symbols(law)
    traced = trace_of_user(lambda *lists: [x for part in call_law(symbolic, lists, timed) for x in part], lengths, what)
    for sample, values in zip(samples, expected, strict=True):
        rounding = 1e-9 * (1 + np.abs(values[np.isfinite(values)]).max(initial=0))
        refuse_difference(traced, sample, values, what, rounding)
    return traced


def _evaluate(law: Callable[..., Any], arguments: list[Any], timed: bool, counts: tuple[int, int], what: str) -> Array:
    """The torques and rates of a law on numbers; its own errors are left to the user as they are."""
    with np.errstate(all="ignore"):
        found = call_law(law, arguments, timed)
    try:
        tau, rates = ([float(np.ravel(x)[0]) for x in part] for part in found)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} must return two lists, of torques and of dz/dt, got {short_repr(found)}") from None
    if (len(tau), len(rates)) != counts:
        raise ShapeError(
            f"{what} must return {counts[0]} torques and {counts[1]} rates dz/dt, got {len(tau)} and {len(rates)}"
        )
    return np.array([*tau, *rates])


def takes_time(controller: Any) -> bool:
    """Whether `torque` has a parameter named t, for the time."""
    code = getattr(getattr(controller.torque, "__func__", controller.torque), "__code__", None)
    return code is not None and "t" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def call_law(law: Callable[..., Any], arguments: Sequence[Any], timed: bool) -> Any:
    """The torques and dz/dt; the last argument is the list of the time, for a law that takes it."""
    return law(*arguments[:-1], t=arguments[-1][0]) if timed else law(*arguments)
