"""The functions of the table as methods, with the arguments of the methods of a Robot, for any framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, NamedTuple

from chainrule.arguments import names
from chainrule.core.mechanism import Mechanism
from chainrule.core.products import TIP_WRENCH, WRENCH, call_for, inputs_of
from chainrule.errors import MissingPackageError, ShapeError, short_repr
from chainrule.frameworks.operators import Operator
from chainrule.functions.table import FUNCTIONS, Function


def import_framework(package: str, name: str, extra: str) -> Any:
    """A package that users install themselves, imported now."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingPackageError(f"robot.{extra} needs {name}: pip install 'chainrule[{extra}]'") from error


def signature_of(entry: Function) -> Signature:
    """The parameters of a function's method: its vectors, wrenches, options, and numbers of the robot."""
    plain, keyword = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    vectors = [Parameter(name, plain) for name in entry.arguments]
    options = [Parameter(name, plain, default=None) for name, option in entry.options.items() if option.is_public]
    if entry.acts:
        vectors.append(Parameter(TIP_WRENCH, plain))
        options.insert(0, Parameter("link", plain, default=None))
    elif entry.loaded:
        vectors += [Parameter(name, plain, default=None) for name in (TIP_WRENCH, "wrenches")]
    return Signature([*vectors, *options, Parameter("parameters", keyword, default=None)])


class Plan(NamedTuple):
    """The operator that computes a function, and what to hand to it."""

    key: str
    order: tuple[str, ...]
    signs: tuple[int, ...]
    lengths: tuple[int, ...]
    shape: tuple[int, ...]


class Functions(ABC):
    """Functions of a robot in a framework: each takes and gives that framework's arrays.

    The arguments are those of the Robot's methods of the same names. parameters={"link:forearm": numbers} besides gives
    numbers of the robot, as of `robot.kernel`, so that there are derivatives with respect to them.
    """

    framework: str
    """The attribute of a robot that has them."""

    def __init__(self, robot: Mechanism) -> None:
        self.robot = robot

    def __repr__(self) -> str:
        return f"<functions of robot {self.robot.name!r} for {self.framework}: {', '.join(FUNCTIONS)}>"

    @abstractmethod
    def vectors(self, given: Mapping[str, Any], lengths: Sequence[int]) -> list[Any]:
        """Arrays of the framework, of one type and with equal batch dimensions, each with its length last."""

    @abstractmethod
    def apply(self, plan: Plan, vectors: list[Any]) -> Any:
        """The result of the operator of a plan, with its own shape."""

    def parts(self, result: Any, shape: tuple[int, ...]) -> list[Any]:
        """The parts of a result, its first dimension after those of the batch."""
        rest = (slice(None),) * (len(shape) - 1)
        return [result[(..., k, *rest)] for k in range(shape[0])]

    def plan(self, function: str, given: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> Plan:
        """The operator of a function, for arguments of these names and these options."""

        def make() -> Plan:
            inputs = inputs_of(self.robot, f"{self.framework}.{function}", function, given)
            operator = Operator.of(call_for(self.robot, function, inputs, dict(options)), self.robot.backend)
            return Plan(operator.key, inputs.names, inputs.signs, operator.lengths, operator.shape)

        try:
            return self.robot.remember(("plan", self.framework, function, given, options), make)
        except TypeError:  # an option that cannot be a key, as a dictionary
            return make()

    def evaluate(self, function: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        """A function of the table on arrays of the framework, by the names of its arguments."""
        plan = self.plan(function, tuple(given), tuple((k, _hashable(x)) for k, x in options.items()))
        _, order, signs, lengths, _ = plan
        vectors = self.vectors({f"{self.framework}.{function}: {k}": given[k] for k in order}, lengths)
        result = self.apply(plan, [-x if sign < 0 else x for x, sign in zip(vectors, signs, strict=True)])
        named = FUNCTIONS[function].named
        return result if named is None else named(*self.parts(result, plan[4]))


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _method(name: str, entry: Function) -> Callable[..., Any]:
    signature = signature_of(entry)

    def method(self: Functions, /, *arguments: Any, **options: Any) -> Any:
        caller = f"{self.framework}.{name}"
        try:
            chosen = dict(signature.bind(*arguments, **options).arguments)
        except TypeError as error:
            raise ShapeError(f"{caller}{signature}: {error}") from None
        given = {k: chosen.pop(k) for k in (*entry.arguments, TIP_WRENCH, "wrenches", "parameters") if k in chosen}
        parameters = _mapping(given.pop("parameters", None), f"{caller}: parameters", "{'link:NAME': numbers}")
        wrenches = _mapping(given.pop("wrenches", None), f"{caller}: wrenches", "{'LINK': wrench}")
        given |= {f"{WRENCH}{link}": wrench for link, wrench in wrenches.items()}
        link = chosen.pop("link", None) if entry.acts else None
        if link is not None:
            given[f"{WRENCH}{link}"] = given.pop(TIP_WRENCH)
        given = {k: value for k, value in given.items() if value is not None}
        return self.evaluate(name, {**given, **parameters}, {k: x for k, x in chosen.items() if x is not None})

    method.__name__, method.__qualname__ = name, f"Functions.{name}"
    method.__doc__ = f"As `robot.{entry.method or name}`, on arrays of the framework, for one state or a batch."
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    parameters = [own, *signature.parameters.values()]
    method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return method


def _mapping(value: Any, what: str, example: str) -> Mapping[str, Any]:
    """A dictionary, none being an empty one."""
    if value is not None and not isinstance(value, Mapping):
        raise ShapeError(f"{what} must be a dictionary, as {example}, got {short_repr(value)}")
    names(list(value or {}), what)
    return value or {}


for _name, _entry in FUNCTIONS.items():
    setattr(Functions, _name, _method(_name, _entry))


def refuse_length(shape: Sequence[int], length: int, what: str) -> None:
    """Raise where the last dimension of an array has another length."""
    if not shape or shape[-1] != length:
        raise ShapeError(f"{what} must have {length} numbers in its last dimension, got shape {tuple(shape)}")
