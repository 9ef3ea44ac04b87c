"""Algorithms stay pure, and importing the library stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest

from architecture.sources import ROOT, modules

pytestmark = pytest.mark.interpreted


PURE = (
    "from __future__", "import math", "from typing", "from collections.abc", "from dataclasses", "from chainrule.spatial",
    "from chainrule.model", "from chainrule.algorithms",
)  # fmt: skip


def test_algorithms_import_nothing_but_spatial_and_model():
    for path in (ROOT / "algorithms").glob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(("import ", "from ")):
                assert line.startswith(PURE), (path.name, line)


def modules_after(code):
    """The modules of the library that some code imports, below `chainrule`, and those of packages it should not need."""
    report = "print(*(m for m in sys.modules if m.startswith('chainrule.') or m in ('llvmlite', 'casadi', 'sympy', 'scipy')))"
    command = [sys.executable, "-c", f"import sys, chainrule as cr\n{code}\n{report}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.removeprefix("chainrule.") for name in done.stdout.split()}


def test_the_backend_needs_no_compiler_before_it_compiles():
    found = {name for name in modules_after("import chainrule.compile.backend") if name.startswith("compile.")}
    runtime = {"compile.runtime", "compile.runtime.settings", "compile.runtime.memory_cache"}
    assert found == {"compile.backend", "compile.jacobian_products"} | runtime


def test_a_bundled_robot_is_read_by_one_reader():
    found = modules_after("cr.load('panda')")
    readers = {name for name in found if name.startswith("formats.")}
    assert readers == {
        f"formats.{name}" for name in ("exact", "native", "packages", "recognition", "registry", "source", "xml")
    }
    assert not found & {"llvmlite", "casadi", "sympy", "scipy"}


def test_loading_a_robot_imports_few_modules():
    found = modules_after("cr.load('panda')")
    files = [modules()[name] for name in found & set(modules())]
    assert len(files) <= 120
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 25_000


def test_importing_the_library_stays_light():
    code = "import sys, chainrule; print([m for m in ('numpy', 'casadi', 'sympy', 'scipy', 'rich', 'lxml', 'torch', 'jax') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
