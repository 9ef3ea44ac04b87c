"""Examples, benchmarks and the documentation's code run."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_example_runs(path, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_readme_begins_with_the_first_example():
    text = (ROOT / "examples" / "first_picture.py").read_text().partition("\n\n")[2]
    readme = (ROOT / "README.md").read_text()
    assert readme.split("```python\n")[1].split("```")[0] == text
    assert "docs/pictures/panda.png" in readme


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: "_".join(page.parts[-2:])
)
def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"\$[^$]*\$", "", page.read_text(encoding="utf-8"))  # a bracket of a formula is no link
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_the_pictures_of_the_documentation_are_drawn(tmp_path):
    draw = runpy.run_path(str(ROOT / "docs" / "pictures.py"))["draw"]
    drawn = draw(tmp_path)
    kept = ROOT / "docs" / "pictures"
    assert {path.name for path in drawn} == {path.name for path in kept.iterdir()}
    for path in (*drawn, *(kept / path.name for path in drawn)):
        assert path.read_bytes().startswith(b"\x89PNG" if path.suffix == ".png" else b"GIF89a")
        assert path.stat().st_size < 60_000
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("pictures.md", "conventions.md"))
    named = re.findall(r"\(pictures/([\w.]+)\)", pages)
    assert {*named, "panda.png"} == {path.name for path in drawn}


def test_the_pictures_of_the_studio_are_small_and_all_shown():
    kept = list((ROOT / "docs" / "studio").iterdir())
    shown = re.findall(r"\(studio/([\w.]+)\)", (ROOT / "docs" / "studio.md").read_text(encoding="utf-8"))
    assert {path.name for path in kept} == set(shown)
    assert "docs/studio/hand_dragged.webp" in (ROOT / "README.md").read_text(encoding="utf-8")
    for path in kept:
        is_moving = path.name == "hand_dragged.webp"
        assert path.stat().st_size < (1_500_000 if is_moving else 100_000), path.name


def test_benchmark_prints_ratios(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reference_path.py", "--states", "8", "--seconds", "0.01"])
    runpy.run_path(str(ROOT / "benchmarks" / "reference_path.py"), run_name="__main__")
    assert "ratio" in capsys.readouterr().out


def test_integrators_show_their_orders_on_energy(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["integrators.py", "--small", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "benchmarks" / "integrators.py"), run_name="__main__")
    assert "order" in capsys.readouterr().out
    swings = json.loads((tmp_path / "integrators.json").read_text())["swings"]
    for swing in swings.values():
        for method, order in (("semi_implicit_euler", 1), ("implicit_midpoint", 2), ("rk4", 4)):
            assert swing["methods"][method]["order"] == pytest.approx(order, abs=0.15), method
    assert {path.name for path in tmp_path.iterdir()} == {"integrators.json", "integrators.png", "long_run.png"}


def test_calling_a_law_from_python_is_compared_with_compiling_it(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["called_from_python.py", "--rows", "8", "--seconds", "0.02"])
    runpy.run_path(str(ROOT / "benchmarks" / "called_from_python.py"), run_name="__main__")
    assert "ratio" in capsys.readouterr().out


def test_calls_of_controllers_are_compared_with_the_dynamics_inside(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["controllers.py", "--calls", "10", "--rounds", "1"])
    runpy.run_path(str(ROOT / "benchmarks" / "controllers.py"), run_name="__main__")
    assert capsys.readouterr().out.count("\n") == 15


def test_rollouts_are_compared_with_mujoco_and_pinocchio(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rollouts.py", "--quick"])
    runpy.run_path(str(ROOT / "benchmarks" / "rollouts.py"), run_name="__main__")
    assert capsys.readouterr().out.count("x; apart by") == 2


def test_functions_are_measured_at_every_size(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["sizes.py", "--quick", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "benchmarks" / "sizes.py"), run_name="__main__")
    assert "on the reference path: none" in capsys.readouterr().out
    figures = json.loads((tmp_path / "sizes.json").read_text())["planar_2r"]["functions"]["pose"]
    assert [row["states"] for row in figures["rows"]] == [1, 8, 64]
    assert all(row["error"] < 1e-12 for row in figures["rows"])
    assert (tmp_path / "sizes.png").exists()


def test_wide_results_are_compared_with_a_copy(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["bandwidth.py", "--quick", "--robot", "planar_2r", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "benchmarks" / "bandwidth.py"), run_name="__main__")
    assert "ratio new/out" in capsys.readouterr().out
    figures = json.loads((tmp_path / "bandwidth.json").read_text())
    assert all(figure > 0 for figure in figures["mass matrix, half, 1 threads"].values())


def test_a_sweep_over_payloads_is_compared_with_separate_robots(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["parameters.py", "--quick", "--payloads", "8", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "benchmarks" / "parameters.py"), run_name="__main__")
    assert "x (wanted: 100x); apart by" in capsys.readouterr().out
    assert json.loads((tmp_path / "parameters.json").read_text())["difference"] < 1e-12


def test_inverse_kinematics_is_compared_with_a_loop_around_pinocchio(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["inverse_kinematics.py", "--targets", "20", "--peer-targets", "2"])
    runpy.run_path(str(ROOT / "benchmarks" / "inverse_kinematics.py"), run_name="__main__")
    assert capsys.readouterr().out.count("100% failed") == 4


def test_the_regressor_is_compared_with_pinocchios(monkeypatch, capsys, tmp_path):
    arguments = ["--robot", "planar_3r", "--states", "8", "--rounds", "2", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["regressor.py", *arguments])
    runpy.run_path(str(ROOT / "benchmarks" / "regressor.py"), run_name="__main__")
    assert "ratio" in capsys.readouterr().out
    functions = json.loads((tmp_path / "regressor.json").read_text())["functions"]
    assert len(functions) == 5
    assert all(figures["apart"] < 1e-12 for figures in functions.values())


@pytest.mark.slow
def test_calibrations_are_compared_with_known_truth(monkeypatch, capsys, tmp_path):
    arguments = ["--long", "0", "--runs", "2", "--starts", "1", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["calibration.py", *arguments])
    runpy.run_path(str(ROOT / "benchmarks" / "calibration.py"), run_name="__main__")
    assert "condition_of_random_motions" in capsys.readouterr().out
    figures = json.loads((tmp_path / "calibration.json").read_text())
    assert figures["calibrate"]["tip_error_mm"] < figures["calibrate"]["tip_error_before_mm"] / 50
    assert figures["excite"]["condition"] < figures["excite"]["condition_of_random_motions"] / 3


@pytest.mark.slow
def test_gradients_in_frameworks_are_compared(tmp_path):  # in a process of its own: it sets threads and precision
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    path = ROOT / "benchmarks" / "frameworks.py"
    command = [sys.executable, str(path), "--quick", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("ratio") >= 3
    assert {"torch", "jax", "casadi"} <= set(json.loads((tmp_path / "frameworks.json").read_text()))


def test_derivatives_are_compared_with_pinocchios(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["derivatives.py", "--quick", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "benchmarks" / "derivatives.py"), run_name="__main__")
    assert capsys.readouterr().out.count("ratio") == 2
    figures = json.loads((tmp_path / "derivatives.json").read_text())["planar_3r"]
    assert all(row["apart"] < 1e-12 for row in figures.values())


@pytest.mark.slow
def test_closed_forms_are_compared_with_peers(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["equations.py", "--quick"])
    runpy.run_path(str(ROOT / "benchmarks" / "equations.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "ratio to SymPy's fewest" in printed
    assert "not installed" in printed
    assert "written" not in printed


def test_the_format_shown_in_the_docs_is_a_robot():
    import chainrule as cr

    text = (ROOT / "docs" / "formats.md").read_text().split("```toml\n")[1].split("```")[0]
    robot = cr.load(text)
    assert robot.joint_names == ("shoulder",)
    assert robot.end_effector == "tool"


@pytest.mark.slow
def test_workers_are_compared_on_a_data_set(tmp_path):  # in a process of its own: workers import its file
    pytest.importorskip("distributed")
    command = [sys.executable, str(ROOT / "benchmarks" / "cluster.py"), "--quick", "--folder", str(tmp_path)]
    done = subprocess.run([*command, "--output", str(tmp_path / "out")], capture_output=True, text=True, check=True)
    assert "(wanted: 1.8x)" in done.stdout
    assert json.loads((tmp_path / "out" / "cluster.json").read_text())["read_bytes_per_state"] > 84
    assert [path.name for path in tmp_path.iterdir()] == ["out"]  # the data set is deleted


@pytest.mark.slow
def test_identification_is_compared_with_pinocchio_and_with_the_truth(monkeypatch, capsys, tmp_path):
    arguments = ["--samples", "4000", "--runs", "2", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["identification.py", *arguments])
    runpy.run_path(str(ROOT / "benchmarks" / "identification.py"), run_name="__main__")
    assert "times as long" in capsys.readouterr().out
    figures = json.loads((tmp_path / "identification.json").read_text())
    for name in ("puma560", "panda"):
        assert figures[name]["physical"] == 1.0
        assert figures[name]["error_over_noise"] < 1.1
        assert figures[name]["over_least_squares"] < 1.02
