"""The code of docs/frameworks.md runs, where its frameworks are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"


@pytest.mark.parametrize(("heading", "package"), [("PyTorch", "torch"), ("JAX", "jax"), ("CasADi", "casadi")])
def test_the_code_under_a_heading_runs(heading, package):
    pytest.importorskip(package)
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    names: dict = {}
    for block in blocks:
        short = block.replace("4096, 7", "8, 2").replace('"panda"', '"planar_2r"')  # fewer kernels to compile
        exec(compile(short, PAGE.name, "exec"), names)
    assert blocks
