"""`chainrule about`: versions and settings, for a bug report."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from chainrule import __version__
from chainrule.cli.console import command, echo, json_option, print_json
from chainrule.compile.backend import COMPILED, active
from chainrule.compile.runtime import disk_cache
from chainrule.errors import MissingPackageError, visible

PACKAGES = ("numpy", "scipy", "llvmlite", "sympy", "lxml", "click", "rich")
"""Packages that chainrule needs."""

OPTIONAL_PACKAGES = (
    "casadi",
    "matplotlib",
    "pyarrow",
    "dask",
    "distributed",
    "pint",
    "torch",
    "jax",
    "pin",
    "mujoco",
    "modern_robotics",
)
"""Packages that some functions, tests or benchmarks use; `pin` is Pinocchio."""


@command("chainrule about", "chainrule about --json")
@json_option
def about(as_json: bool) -> None:
    """Print the versions of chainrule and its packages, the machine and the settings, for a bug report."""
    facts = describe()
    if as_json:
        print_json(facts)
        return
    found = {name: value for name, value in facts.items() if not isinstance(value, dict)}
    found |= facts["packages"] | facts["optional"]
    lines = {name: value or "not installed" for name, value in found.items()}
    lines |= facts["settings"]
    width = max(map(len, lines))
    for name, value in lines.items():
        echo(f"{name:{width}}  {visible(str(value))}")


def describe() -> dict[str, Any]:
    """Versions, machine and settings, by name; None for a package that is not installed."""
    return {
        "chainrule": __version__,
        "Python": f"{platform.python_version()}, {platform.python_implementation()}",
        "platform": platform.platform(),
        **_compiler(),
        "packages": {name: _version(name) for name in PACKAGES},
        "optional": {name: _version(name) for name in OPTIONAL_PACKAGES},
        "settings": {
            "compiled kernels": "on" if active(COMPILED).compiles else "off",
            "kernel cache": disk_cache.status(),
            **{name: value for name, value in sorted(os.environ.items()) if name.startswith("CHAINRULE_")},
        },
    }


def _compiler() -> dict[str, str | None]:
    """The processor as LLVM knows it, and LLVM; None where there is none."""
    cores = f"{os.cpu_count()} cores"
    try:
        from chainrule.compile.runtime import engine
    except MissingPackageError:
        return {"processor": f"{platform.machine()}, {cores}", "LLVM": None}
    return {"processor": f"{engine.cpu()} ({platform.machine()}), {cores}", "LLVM": engine.llvm_version()}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
