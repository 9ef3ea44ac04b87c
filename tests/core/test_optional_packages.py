"""Packages that are no dependencies: where one is missing, the error says which extra installs it, everywhere alike."""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from simulation.motions import START

import chainrule as cr
from chainrule.errors import EXTRAS

pytestmark = pytest.mark.interpreted

ARM = cr.load("planar_2r").reference
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
    words = f"needs the package {package}, which is not installed: pip install 'chainrule[{EXTRAS[package]}]'"
    with pytest.raises(cr.MissingPackageError, match=re.escape(words)) as caught:
        CALLS[package](tmp_path)
    assert isinstance(caught.value, ImportError)


def test_every_optional_package_is_in_its_extra():
    for package, extra in EXTRAS.items():
        wanted = PROJECT["optional-dependencies"][extra]
        assert any(re.split(r"[\[><=]", item)[0] == NAMES.get(package, package) for item in wanted), package


def test_no_optional_package_is_a_dependency():
    needed = {re.split(r"[\[><=]", item)[0] for item in PROJECT["dependencies"]}
    assert needed == {"numpy", "scipy", "llvmlite", "sympy", "lxml", "click", "rich"}
