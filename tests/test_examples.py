"""Examples, benchmarks and the documentation's code run."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_example_runs(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_benchmark_prints_ratios(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reference_path.py", "--states", "8", "--seconds", "0.01"])
    runpy.run_path(str(ROOT / "benchmarks" / "reference_path.py"), run_name="__main__")
    assert "ratio" in capsys.readouterr().out


def test_the_format_shown_in_the_docs_is_a_robot():
    import chainrule as cr

    text = (ROOT / "docs" / "formats.md").read_text().split("```toml\n")[1].split("```")[0]
    robot = cr.Robot.from_native(text)
    assert robot.joint_names == ("shoulder",)
    assert robot.end_effector == "tool"


def test_algorithms_import_nothing_but_spatial_and_model():
    allowed = (
        "from __future__",
        "from collections.abc",
        "from dataclasses",
        "from chainrule.spatial",
        "from chainrule.model",
        "from chainrule.algorithms",
    )
    for path in (ROOT / "src" / "chainrule" / "algorithms").glob("*.py"):
        for line in path.read_text().splitlines():
            if line.startswith(("import ", "from ")):
                assert line.startswith(allowed), (path.name, line)


def test_importing_the_library_stays_light():
    import subprocess

    code = "import sys, chainrule; print([m for m in ('numpy', 'casadi', 'sympy', 'scipy', 'rich', 'lxml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
