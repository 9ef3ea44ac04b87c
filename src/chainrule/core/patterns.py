"""Calls of a method that are nothing but a kernel: which function they mean, with which options, on which arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from chainrule.compile.fast_calls.dispatch_table import MAX_RECORDS, ArrayArgument, FixedArgument, Pattern
from chainrule.functions.table import ARGUMENTS, FUNCTIONS, Function
from chainrule.model import Model

FIXED_TYPES = (str, bool, type(None))
"""Types of arguments that compiled code compares: what is the same now is the same for ever."""

TIP_WRENCH, APPLIED_WRENCH = "tip_wrench", "wrench"
"""Wrenches: a load on the robot, and what its link applies."""


class PlainCall(NamedTuple):
    """A function of the table, its options as the method hands them on, and where the arrays stand in the call."""

    function: str
    options: dict[str, Any]
    pattern: Pattern


class CallPatterns:
    """The ways in which one method of a robot has been called."""

    def __init__(self, method: Callable[..., Any], name: str, model: Model) -> None:
        self.model = model
        self.parameters = dict(list(inspect.signature(method).parameters.items())[1:])
        self.candidates = FUNCTIONS.variants(name)
        self.seen: set[Any] = set()
        self.wrench = APPLIED_WRENCH if any(entry.acts for entry in self.candidates.values()) else TIP_WRENCH

    @property
    def is_plain(self) -> bool:
        """Whether some call of the method may be nothing but a kernel."""
        return any(entry.is_direct(self.model) for entry in self.candidates.values())

    def new_call(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> PlainCall | None:
        """A call of a kind that was not seen before, if it is nothing but a kernel."""
        values = (*arguments, *keywords.values())
        kind = (len(arguments), *keywords, *(x if type(x) in FIXED_TYPES else ... for x in values))
        if kind in self.seen or len(self.seen) >= MAX_RECORDS:
            return None
        self.seen.add(kind)
        names = (*list(self.parameters)[: len(arguments)], *keywords)
        given = dict(zip(names, values, strict=True))
        arrays = {name for name, x in given.items() if x is not None and (name in ARGUMENTS or name == self.wrench)}
        if any(type(x) not in FIXED_TYPES for name, x in given.items() if name not in arrays):
            return None
        for function, entry in self.candidates.items():
            options = self._options(entry, arrays, given)
            if options is not None:
                return PlainCall(function, options, self._pattern(entry, given, arrays, tuple(keywords)))
        return None

    def _options(self, entry: Function, arrays: set[str], given: Mapping[str, Any]) -> dict[str, Any] | None:
        """The options of a function that a call chooses, or None where the call means another one, or does more."""
        is_loaded = self.wrench in arrays
        if (
            arrays - {self.wrench} != set(entry.arguments)
            or is_loaded > entry.loaded
            or not entry.is_direct(self.model)
        ):
            return None
        fixed = {name: x for name, x in given.items() if name not in arrays}
        if any(fixed.get(name, self.parameters[name].default) is not x for name, x in entry.when.items()):
            return None
        options: dict[str, Any] = {}
        if is_loaded:
            link = fixed.pop("link", None) if entry.acts else None
            options["loads"] = (self.model.tip if link is None else link,)
        elif entry.loaded:
            options["loads"] = ()
        for name, x in fixed.items():
            option = entry.options.get(name)
            if option is not None and option.is_public:
                options[name] = x
            elif name not in entry.when and x is not self.parameters[name].default:
                return None
        return options

    def _pattern(
        self, entry: Function, given: Mapping[str, Any], arrays: set[str], keywords: tuple[str, ...]
    ) -> Pattern:
        places = {name: ArrayArgument(k) for k, name in enumerate(entry.arguments)}
        places[self.wrench] = ArrayArgument(len(entry.arguments), negative=not entry.acts)
        return Pattern(
            tuple(places[name] if name in arrays else FixedArgument(x) for name, x in given.items()), keywords
        )
