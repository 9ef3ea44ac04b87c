"""The functions of the table as methods, with the arguments of the methods of a Robot, for any framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import Parameter, Signature
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from chainrule.arguments import names
from chainrule.core.derived import backend_of, remember
from chainrule.core.mechanism import Mechanism
from chainrule.core.products import APPLIED_WRENCH, TIP_WRENCH, WORLD, WRENCH, call_for, inputs_of, open_world
from chainrule.display.words import ROBOT, called_here
from chainrule.errors import ShapeError, UnknownAttributeError, short_repr
from chainrule.frameworks.operators import Operator
from chainrule.functions.table import FUNCTIONS, Function
from chainrule.model.parameters import parameter_length


def signature_of(entry: Function) -> Signature:
    """The parameters of a function's method: its vectors, wrenches, options, and numbers of the robot."""
    plain, keyword = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    vectors = [Parameter(name, plain) for name in entry.arguments]
    public = [name for name, option in entry.options.items() if option.is_public]
    if entry.acts:
        vectors.append(Parameter(APPLIED_WRENCH, plain))
    if entry.acts or "link" in public:
        vectors.append(Parameter("link", plain, default=None))
    options = [TIP_WRENCH, "external"] if entry.loaded and not entry.acts else []
    options += [WORLD] if entry.is_surrounded else []
    options += [*(name for name in public if name != "link"), "parameters"]
    return Signature([*vectors, *(Parameter(name, keyword, default=None) for name in options)])


class OperatorCall(NamedTuple):
    """The operator that computes a function, and what to hand to it."""

    key: str
    order: tuple[str, ...]
    signs: tuple[int, ...]
    lengths: tuple[int, ...]
    shape: tuple[int, ...]


class FrameworkFunctions(ABC):
    """Functions of a robot in a framework: each takes and gives that framework's arrays.

    The arguments are those of the Robot's methods of the same names. parameters={"forearm.mass": m} besides, or `at`,
    gives numbers of the robot, as of `robot.at`, so that there are derivatives with respect to them.
    """

    framework: str
    """The attribute of a robot that has them."""

    def __init__(self, robot: Mechanism, bound: Mapping[str, Any] | None = None) -> None:
        self.robot, self.bound = robot, bound or {}

    def at(self, parameters: Mapping[str, Any]) -> Self:
        """The same functions with other values of the robot's parameters, as of `robot.at`."""
        return type(self)(self.robot, {**self.bound, **_mapping(parameters, "at", "{'LINK.mass': numbers}")})

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            if name in FUNCTIONS:  # declared after this module was imported
                return MethodType(_method(name, FUNCTIONS[name]), self)
            here = called_here(name, ROBOT)
            if not here:
                raise UnknownAttributeError.of("function", name, METHODS, f"robot.{self.framework}")
            hint = f"on a robot this is {here[0]}"
            raise UnknownAttributeError(f"robot.{self.framework} has no function {name!r}; {hint}")

    def __repr__(self) -> str:
        return f"<{len(FUNCTIONS)} functions of robot {self.robot.name!r} for {self.framework}; dir() lists them>"

    def parameter(self, name: str, value: Any) -> Any:
        """Numbers of the robot with their count in the last dimension."""
        if parameter_length(self.robot.model, name) != 1:
            return value
        value = np.asarray(value, dtype=float) if isinstance(value, (int, float, list, tuple)) else value
        return value[..., None] if hasattr(value, "ndim") else value

    @abstractmethod
    def vectors(self, given: Mapping[str, Any], lengths: Sequence[int]) -> list[Any]:
        """Arrays of the framework, of one type and with equal batch dimensions, each with its length last."""

    @abstractmethod
    def apply(self, plan: OperatorCall, vectors: list[Any]) -> Any:
        """The result of the operator of a plan, with its own shape."""

    def parts(self, result: Any, shape: tuple[int, ...]) -> list[Any]:
        """The parts of a result, its first dimension after those of the batch."""
        rest = (slice(None),) * (len(shape) - 1)
        return [result[(..., k, *rest)] for k in range(shape[0])]

    def plan(self, function: str, given: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> OperatorCall:
        """The operator of a function, for arguments of these names and these options."""

        def make() -> OperatorCall:
            inputs = inputs_of(self.robot, f"{self.framework}.{function}", function, given)
            operator = Operator.of(call_for(self.robot, function, inputs, dict(options)), backend_of(self.robot))
            return OperatorCall(operator.key, inputs.names, inputs.signs, operator.lengths, operator.shape)

        try:
            return remember(self.robot, ("plan", self.framework, function, given, options), make)
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


class SubjectFunctions:
    """Functions of one subject, such as `robot.torch.loops`."""

    def __init__(self, functions: FrameworkFunctions, subject: str) -> None:
        self._functions, self._subject = functions, subject

    def __dir__(self) -> list[str]:
        start = f"{self._subject}."
        return sorted({*super().__dir__(), *(name.removeprefix(start) for name in METHODS if name.startswith(start))})

    def __getattr__(self, name: str) -> Any:
        found = METHODS.get(f"{self._subject}.{name}")
        if found is None:
            where = f"robot.{self._functions.framework}.{self._subject}"
            raise UnknownAttributeError.of("function", name, dir(self), where)
        return MethodType(found, self._functions)


def _method(name: str, entry: Function) -> Callable[..., Any]:
    signature = signature_of(entry)

    def method(self: FrameworkFunctions, /, *arguments: Any, **options: Any) -> Any:
        caller = f"{self.framework}.{name}"
        try:
            chosen = dict(signature.bind(*arguments, **options).arguments)
        except TypeError as error:
            raise ShapeError(f"{caller}{signature}: {error}") from None
        inputs = (*entry.arguments, TIP_WRENCH, APPLIED_WRENCH, WORLD, "external", "parameters")
        given = {k: chosen.pop(k) for k in inputs if k in chosen}
        own = _mapping(given.pop("parameters", None), f"{caller}: parameters", "{'LINK.mass': numbers}")
        parameters = {**self.bound, **own}
        wrenches = _mapping(given.pop("external", None), f"{caller}: external", "{'LINK': wrench}")
        given |= {f"{WRENCH}{link}": wrench for link, wrench in wrenches.items()}
        link = chosen.pop("link", None) if entry.acts else None
        if link is not None:
            given[f"{WRENCH}{link}"] = given.pop(APPLIED_WRENCH)
        given, chosen = open_world({k: value for k, value in given.items() if value is not None}, chosen)
        given |= {k: self.parameter(k, value) for k, value in parameters.items()}
        return self.evaluate(name, given, {k: x for k, x in chosen.items() if x is not None})

    method.__name__, method.__qualname__ = name.rpartition(".")[2], f"Functions.{name}"
    method.__doc__ = f"As `robot.{entry.variant_of or name}`, on arrays of the framework, for one state or a batch."
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


def refuse_length(shape: Sequence[int], length: int, what: str) -> None:
    """Raise where the last dimension of an array has another length."""
    if not shape or shape[-1] != length:
        raise ShapeError(f"{what} must have {length} numbers in its last dimension, got shape {tuple(shape)}")


METHODS = {name: _method(name, entry) for name, entry in FUNCTIONS.items()}
"""The methods of all functions; those of subjects have dotted names."""
for _name, _function in METHODS.items():
    if "." not in _name:
        setattr(FrameworkFunctions, _name, _function)
for _subject in {name.partition(".")[0] for name in METHODS if "." in name}:
    setattr(
        FrameworkFunctions, _subject, property(partial(lambda subject, self: SubjectFunctions(self, subject), _subject))
    )
