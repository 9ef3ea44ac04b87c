"""`chainrule about`: what a bug report needs to say."""

import json
import platform
import re
import subprocess
import sys
from importlib.metadata import requires, version

import pytest
from click.testing import CliRunner

import chainrule
from chainrule.cli import cli
from chainrule.cli.about import OPTIONAL_PACKAGES, PACKAGES


def about(*words):
    done = CliRunner().invoke(cli, ["about", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_lines_name_chainrule_python_and_every_package():
    lines = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in about().splitlines())
    assert lines["chainrule"] == chainrule.__version__
    assert lines["Python"].startswith(platform.python_version())
    assert lines["numpy"] == version("numpy")
    assert {*PACKAGES, *OPTIONAL_PACKAGES, "platform", "processor", "LLVM", "compiled kernels", "kernel cache"} <= {
        *lines
    }


def test_every_dependency_is_named():
    needed = [word for word in requires("chainrule") if "extra ==" not in word]
    assert {re.split(r"[<>=!~; ]", word)[0] for word in needed} == {*PACKAGES}


def test_a_missing_package_is_said_to_be_missing(monkeypatch):
    monkeypatch.setattr("chainrule.cli.about.OPTIONAL_PACKAGES", ("no_such_package",))
    assert re.search(r"no_such_package +not installed", about())
    assert json.loads(about("--json"))["optional"] == {"no_such_package": None}


@pytest.mark.parametrize(("setting", "expected"), [("off", "off"), ("", "on")])
def test_settings_say_whether_kernels_are_compiled(monkeypatch, setting, expected):
    monkeypatch.setenv("CHAINRULE_KERNELS", setting)
    facts = json.loads(about("--json"))
    assert facts["settings"]["compiled kernels"] == expected
    assert facts["settings"]["CHAINRULE_KERNELS"] == setting


def test_the_cache_is_named_or_off(monkeypatch, tmp_path):
    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path))
    assert json.loads(about("--json"))["settings"]["kernel cache"] == str(tmp_path)
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    assert json.loads(about("--json"))["settings"]["kernel cache"] == "off"


def test_help_imports_nothing_heavy_and_lists_every_command():
    code = (
        "import sys; from chainrule.cli import cli; cli(['--help'], standalone_mode=False); "
        "print([m for m in ('numpy', 'rich', 'casadi', 'sympy', 'llvmlite') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f"\n  {name} " in done.stdout for name in cli.commands)
