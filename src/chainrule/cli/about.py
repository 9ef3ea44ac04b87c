"""`chainrule about`: versions and settings, for a bug report."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from llvmlite import binding as llvm

from chainrule import __version__
from chainrule.cli.console import command, echo, json_option, print_json
from chainrule.compile.backend import COMPILED, active
from chainrule.compile.load import cache, engine
from chainrule.errors import visible

PACKAGES = ("numpy", "scipy", "casadi", "llvmlite", "sympy", "lxml", "click", "rich", "plotly")
"""Packages that chainrule needs."""

OPTIONAL_PACKAGES = (
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
    lines = {name: value for name, value in facts.items() if not isinstance(value, dict)}
    lines |= {name: value or "not installed" for name, value in {**facts["packages"], **facts["optional"]}.items()}
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
        "processor": f"{engine.cpu()} ({platform.machine()}), {os.cpu_count()} cores",
        "LLVM": ".".join(map(str, llvm.llvm_version_info)),
        "packages": {name: _version(name) for name in PACKAGES},
        "optional": {name: _version(name) for name in OPTIONAL_PACKAGES},
        "settings": {
            "compiled kernels": "on" if active(COMPILED).compiles else "off",
            "kernel cache": cache.status(),
            **{name: value for name, value in sorted(os.environ.items()) if name.startswith("CHAINRULE_")},
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
