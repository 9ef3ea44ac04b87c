"""Packages that are no dependencies: where one is missing, the error says which extra installs it, everywhere alike."""

import os
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from simulation.motions import START

import chainrule as cr
from chainrule.errors import EXTRAS, pip, pip_install

pytestmark = pytest.mark.interpreted

ARM = cr.load("planar_2r").reference
CLONE = Path(__file__).parents[2]
PROJECT = tomllib.loads((CLONE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMES = {"cupy": "cupy-cuda13x", "PIL": "pillow", "fsspec": "dask", "distributed": "dask"}
"""Packages as pip knows them, or that come with another."""

CALLS = {
    "casadi": lambda folder: ARM.textbook.dae_residual(),
    "matplotlib": lambda folder: ARM.plot(START),
    "mujoco": lambda folder: cr.load("<mujoco><worldbody/></mujoco>"),
    "pandas": lambda folder: ARM.workspace(5).to_pandas(),
    "xarray": lambda folder: motion().to_xarray(),
    "pint": lambda folder: ARM.units,
    "pyarrow": lambda folder: motion().save(folder / "motion.parquet"),
    "rosbags": lambda folder: motion().save(folder / "motion.mcap"),
    "viser": lambda folder: ARM.show(START, live=True),
    "distributed": lambda folder: cr.monte_carlo(ARM, lambda rng, n: {"q0": np.zeros((n, 2))}, runs=2, duration=0.01, workers=1),
}  # fmt: skip


def motion():
    return ARM.simulate(START, None, 0.01, dt=5e-3)


@pytest.mark.parametrize("package", CALLS)
def test_a_missing_package_is_named_with_its_extra(package, monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    words = f"needs the package {package}, which is not installed: {pip_install(EXTRAS[package])}"
    with pytest.raises(cr.MissingPackageError, match=re.escape(words)) as caught:
        CALLS[package](tmp_path)
    assert isinstance(caught.value, ImportError)


def test_every_optional_package_is_in_its_extra():
    for package, extra in EXTRAS.items():
        wanted = PROJECT["optional-dependencies"][extra]
        assert NAMES.get(package, package) in {Requirement(item).name for item in wanted}, package


PAGES = [
    CLONE / "README.md",
    *(CLONE / "docs").rglob("*.md"),
    *(CLONE / "examples").iterdir(),
    *(CLONE / "src").rglob("*.py"),
]


def test_every_extra_that_a_page_or_a_message_names_exists():
    named = {}
    for page in PAGES:
        for command in re.findall(r"pip install [^\n`]*", page.read_text(encoding="utf-8")):
            for extras in re.findall(r"(?:chainrule|[\"'. ]\.)\[([\w,]+)\]", command):
                named |= dict.fromkeys(extras.split(","), page.name)
    assert {"plot", "studio", "dask", "jax", "torch", "cuda", "casadi"} <= {*named}
    assert {*named} <= {*PROJECT["optional-dependencies"]}, named


def test_the_page_of_platforms_lists_every_extra():
    table = (CLONE / "docs" / "platforms.md").read_text(encoding="utf-8").partition("| extra |")[2]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(\w+)`", row)} == {*PROJECT["optional-dependencies"]} - {
        "dev",
        "docs",
    }


def test_the_hint_calls_the_pip_of_this_python(tmp_path, monkeypatch):
    program = "pip.exe" if os.name == "nt" else "pip"
    for folder in ("other", "this"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / program).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "this" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "this"))
    assert pip() == "pip"
    for path in (str(tmp_path / "other"), ""):
        monkeypatch.setenv("PATH", path)
        assert pip() == f"{sys.executable} -m pip"


def test_the_hint_names_the_folder_of_a_clone_that_is_not_installed(monkeypatch):
    assert "chainrule[plot]" in pip_install("plot")
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: iter(()))
    assert f"{CLONE}[plot]" in pip_install("plot")


PLATFORMS = {
    ("linux", "x86_64", "3.11"): ">=0.45", ("linux", "aarch64", "3.14"): ">=0.45", ("win32", "AMD64", "3.14"): ">=0.45",
    ("win32", "ARM64", "3.12"): ">=0.45", ("darwin", "arm64", "3.14"): ">=0.45", ("darwin", "x86_64", "3.13"): "<0.46,>=0.45",
    ("darwin", "x86_64", "3.14"): None, ("linux", "armv7l", "3.11"): None, ("linux", "i686", "3.11"): None,
    ("linux", "riscv64", "3.13"): None, ("linux", "s390x", "3.13"): None, ("freebsd14", "amd64", "3.11"): None,
}  # fmt: skip
"""System, processor and Python, and the versions of llvmlite that have a wheel there; None where none has."""


@pytest.mark.parametrize("platform", PLATFORMS)
def test_llvmlite_is_installed_where_it_has_wheels(platform):
    system, processor, python = platform
    there = {"sys_platform": system, "platform_machine": processor, "python_version": python}
    for implementation, expected in (("cpython", PLATFORMS[platform]), ("pypy", None)):
        wanted = [
            str(need.specifier)
            for need in map(Requirement, PROJECT["dependencies"])
            if need.name == "llvmlite" and need.marker.evaluate({**there, "implementation_name": implementation})
        ]
        assert wanted == ([] if expected is None else [expected])


def test_no_optional_package_is_a_dependency():
    needed = {Requirement(item).name for item in PROJECT["dependencies"]}
    assert needed == {"numpy", "scipy", "llvmlite", "sympy", "lxml", "click", "rich"}
