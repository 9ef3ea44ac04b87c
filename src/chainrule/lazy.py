"""Public names that import their module, modules, and properties that are computed, when they are first used.

A package lists its names once, in the `__init__.pyi` beside its `__init__.py`: type checkers and editors read the
stub as it is, and `attach` makes the same names available at run time.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")

LINE = re.compile(r"^from ([\w.]+) import (\w+) as (\w+)$", re.MULTILINE)


def attach(
    package: str, file: str, advice: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the stub beside its `__init__.py`.

    advice names a module whose `advice_on(package, name)` is the error for a name that the package does not have.
    """
    homes = _names_of(Path(file).with_suffix(".pyi"))
    public = list(homes)

    def load(name: str) -> Any:
        if name not in homes:
            if advice is None or name.startswith("_"):
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            raise import_module(advice).advice_on(package, name)
        module, attribute = homes[name]
        home = import_module(module)
        value = import_module(f"{module}.{attribute}") if module == package else getattr(home, attribute)
        setattr(import_module(package), name, value)
        return value

    def names() -> list[str]:
        return sorted(public)  # what the package imports for itself is no name of its own

    return load, names, public


def _names_of(stub: Path) -> dict[str, tuple[str, str]]:
    """Public name -> (module, name there), for every line `from module import name as public`."""
    found = LINE.findall(stub.read_text(encoding="utf-8"))
    return {public: (module, name) for module, name, public in found}


class _Module:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


def module(name: str) -> Any:
    """A module that is imported when one of its names is first used."""
    return _Module(name)


EAGER = False
"""True for mypy alone, which then checks what `if TYPE_CHECKING or EAGER:` imports before the importing module."""


class ForkLock:
    """A reentrant lock that a fork waits for: no thread that stayed behind holds it in the child."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self.__enter__, after_in_parent=self._release_in_parent, after_in_child=self._renew_in_child
            )

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def _release_in_parent(self) -> None:
        with contextlib.suppress(RuntimeError):  # an interrupt while waiting leaves the lock to its holder
            self._lock.release()

    def _renew_in_child(self) -> None:
        self._lock = threading.RLock()


_importing = ForkLock()


class _Method:
    """A function of another module in a class, which has the function itself once it was looked up."""

    def __init__(self, module: str, name: str, wrap: Callable[[Any], Any]) -> None:
        self._module, self._function, self._wrap = module, name, wrap

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        with _importing:  # a child that was forked in the middle of an import could not finish it
            setattr(self._owner, self._name, self._wrap(getattr(import_module(self._module), self._function)))
        return getattr(owner if instance is None else instance, self._name)


def method(module: str, name: str, wrap: Callable[[Any], Any] = lambda function: function) -> Any:
    """A method that is a function of a module, which is imported when the method is first looked up.

    `wrap` may be `staticmethod`. Type checkers and editors see `Any`: let them read the function under TYPE_CHECKING.
    """
    return _Method(module, name, wrap)


class _Methods:
    """The functions of a module, as methods of the class whose body names them."""

    def __init__(self, module: str, wrap: Callable[[Any], Any]) -> None:
        self._module, self._wrap = module, wrap

    def __getattr__(self, name: str) -> Any:
        return method(self._module, name, self._wrap)


def methods(module: str, wrap: Callable[[Any], Any] = lambda function: function) -> Any:
    """A module in the body of a class: its functions become methods, imported when they are first looked up.

    Let type checkers and editors import the module itself under TYPE_CHECKING.
    """
    return _Methods(module, wrap)


class cached_property(functools.cached_property[T]):  # noqa: N801
    """A property that is computed when it is first used, without a lock.

    That of Python 3.11 computes under a lock for all instances. A fork copies it, and the child of a process in which
    another thread computes the property waits for ever. Here two threads may both compute; both get the first result.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        name, kept = self.attrname, instance.__dict__
        if name is None:
            raise TypeError("a cached_property needs a name: assign it in the body of a class")
        return kept[name] if name in kept else kept.setdefault(name, self.func(instance))
