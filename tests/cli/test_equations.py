"""The command `chainrule equations`: documents, source code, and one line for each mistake."""

import subprocess
import sys

import pytest
from lxml import etree


def run(*words):
    return subprocess.run([sys.executable, "-m", "chainrule.cli", *words], capture_output=True, text=True, check=False)


def test_the_command_prints_equations_and_writes_them(tmp_path):
    assert "m₂⋅L₂⋅g⋅c₁₂" in run("equations", "planar_2r", "--shorthand").stdout
    page = tmp_path / "arm.html"
    done = run("equations", "planar_2r", "--derivation", "lagrange", "--html", str(page), "--markdown")
    assert done.returncode == 0, done.stderr
    assert "written" in done.stderr
    assert done.stdout.startswith("# Lagrange's equations of planar\\_2r")
    etree.fromstring(page.read_bytes())
    assert "void planar_2r_tau(" in run("equations", "planar_2r", "--parameters", "numeric", "--code", "c").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("planar_2r", "--code", "fortran"), "--code has no language named 'fortran'"),
        (("planar_2r", "--derivation", "lagrang"), "did you mean 'lagrange'"),
        (("planar_2r", "--parameters", "none"), "--parameters has no choice named 'none'"),
        (("planar_2r", "--html", "arm.pdf"), "ending in .html"),
        (("planar_2r", "--q", "0,0"), "belong to --derivation"),
        (("planar_2r", "--derivation", "lagrange", "--q", "0,0"), "give all of --q, --qd and --qdd"),
        (("planar_2r", "--derivation", "lagrange", "--code", "c"), "either --code or --derivation"),
        (("panda", "--derivation", "closed-form"), "numbers for its parameters"),
        (("quadruped",), "quaternion"),
    ],
)
def test_mistakes_get_one_line(words, message):
    done = run("equations", *words)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1
