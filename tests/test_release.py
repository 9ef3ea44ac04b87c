"""The wheel and the sdist: what is in them, and a newcomer's first commands, in an environment that has nothing else."""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule import __version__

CLONE = Path(__file__).parents[1]
SOURCE = CLONE / "src" / "chainrule"
README = (CLONE / "README.md").read_text(encoding="utf-8")
EXECUTABLES = "Scripts" if os.name == "nt" else "bin"
SUFFIXES = {".py", ".pyi", ".toml", ".css", ".js", ".html", ".typed"}
"""Kinds of files that the package consists of."""


def test_the_version_is_the_same_everywhere():
    about = (CLONE / "CITATION.cff").read_text(encoding="utf-8")
    news = (CLONE / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", about, re.MULTILINE)[1] == __version__
    assert re.search(r"^## (\S+)", news, re.MULTILINE)[1] == __version__
    assert "version" in tomllib.loads((CLONE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dynamic"]


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder in which `python -m build` has made a sdist, and the wheel from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder)
    return folder


def build(folder, *options):
    pytest.importorskip("build")
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(folder), str(CLONE)]
    subprocess.run(command, check=True, capture_output=True)


def wheel_of(folder):
    (path,) = folder.glob("*.whl")
    return path


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_the_wheel_is_the_package_and_nothing_else(dist):
    ours = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.suffix for path in ours} == SUFFIXES
    expected = {path.relative_to(CLONE / "src").as_posix(): path.read_bytes() for path in ours}
    about = f"chainrule-{__version__}.dist-info"
    found = contents(wheel_of(dist))
    assert {name for name in found if name.startswith(about)} == {
        f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    assert {name: data for name, data in found.items() if not name.startswith(about)} == expected


@pytest.mark.slow
def test_the_sdist_has_what_the_wheel_is_built_from(dist, tmp_path):
    with tarfile.open(dist / f"chainrule-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    beside = {name for name in names if not name.startswith("src/chainrule/")}
    assert beside == {
        "PKG-INFO", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", ".gitignore",
    }  # fmt: skip
    build(tmp_path, "--wheel")  # from the clone; the other one is from the sdist
    assert contents(wheel_of(tmp_path)) == contents(wheel_of(dist))


class Newcomer:
    """A person with the wheel in a new environment, in an empty folder, with an empty home."""

    def __init__(self, folder, wheel):
        self.folder, environment = folder / "work", folder / "environment"
        self.folder.mkdir()
        venv.create(environment, with_pip=True)
        lock = CLONE / "requirements" / "dev.txt"  # run.txt has the same versions of what both name
        kept = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL", "PIP_FIND_LINKS")
        self.variables = {name: os.environ[name] for name in kept if name in os.environ}
        self.variables |= {"HOME": str(folder), "USERPROFILE": str(folder), "PIP_CONSTRAINT": str(lock)}
        self.variables["PATH"] = os.pathsep.join([str(environment / EXECUTABLES), self.variables["PATH"]])
        self.types(f"pip install {shlex.quote(wheel.as_posix())}")

    def types(self, line, expected=0):
        """What a line of the shell prints; fails unless it ends with `expected`."""
        return self.runs(*shlex.split(line, comments=True), expected=expected)

    def runs(self, program, *words, expected=0):
        path = Path(self.variables["PATH"].partition(os.pathsep)[0]) / program
        done = subprocess.run(
            [path, *words], cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == expected, done.stderr
        return done.stdout if expected == 0 else done.stderr


@pytest.fixture(scope="module")
def newcomer(dist, tmp_path_factory):
    return Newcomer(tmp_path_factory.mktemp("newcomer"), wheel_of(dist))


BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
"""The language and the text of every code block of the README."""


@pytest.mark.slow
def test_the_wheel_installs_with_its_dependencies_alone(newcomer):
    names = {line.partition("==")[0].lower() for line in newcomer.types("pip list --format freeze").split()}
    locked = {line.partition("==")[0] for line in (CLONE / "requirements" / "run.txt").read_text().splitlines()}
    assert names - {"pip", "setuptools"} == locked | {"chainrule"}
    assert "No broken requirements" in newcomer.types("pip check")


@pytest.mark.slow
def test_first_commands_need_nothing_else(newcomer):
    assert (
        newcomer.runs("python", "-W", "error", "-c", "import chainrule; print(chainrule.__version__)").strip()
        == __version__
    )
    assert newcomer.types("chainrule --version").split()[-1] == __version__
    assert newcomer.types("chainrule demo").count("\n  holds  ") == 3
    assert "panda_joint7" in newcomer.types("chainrule info panda")
    assert "-1.7714" in newcomer.types("chainrule torque panda")
    newcomer.types("chainrule convert panda arm.urdf")
    program = "import chainrule as cr; print(*cr.load('arm.urdf').gravity_torque([0.1] * 7))"
    printed = newcomer.runs("python", "-W", "error", "-c", program).split()
    assert_allclose(np.array(printed, float), cr.load("panda").gravity_torque([0.1] * 7), atol=1e-6)


@pytest.mark.slow
def test_the_readme_runs_once_its_hint_is_followed(newcomer):
    lines = next(
        text for language, text in BLOCKS if language == "python" and text.startswith("import chainrule as cr")
    )
    told = newcomer.runs("python", "-c", lines, expected=1).splitlines()[-1]
    hint = told.partition("not installed: ")[2]
    assert "chainrule[plot]" in hint, told
    newcomer.types(hint)
    assert "the hand is at" in newcomer.runs("python", "-W", "error", "-c", lines)
    assert (newcomer.folder / "panda.png").stat().st_size > 10_000
    commands = [line for _, text in BLOCKS for line in text.splitlines() if line.startswith("chainrule ")]
    assert len(commands) >= 4
    for line in commands:
        newcomer.types(line)
