"""Algorithms stay pure, and importing the library stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest

from architecture.sources import ROOT

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


def test_importing_the_library_stays_light():
    code = "import sys, chainrule; print([m for m in ('numpy', 'casadi', 'sympy', 'scipy', 'rich', 'lxml', 'torch', 'jax') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
