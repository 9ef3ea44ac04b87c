"""The command `chainrule equations`: documents, source code, and one line for each mistake."""

import json

import pytest
import sympy as sp
from lxml import etree

from cli.entry import run


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
    ("words", "code", "message"),
    [
        (("planar_2r", "--code", "fortran"), 2, "--code: there is no language 'fortran'; there are: 'c', 'numpy'"),
        (("planar_2r", "--derivation", "lagrang"), 2, "did you mean 'lagrange'"),
        (("planar_2r", "--derivation", "?"), 2, "'dae', 'velocities', 'accelerations', 'jacobians'"),
        (("planar_2r", "--parameters", "none"), 2, "--parameters: 'none' is not one of 'symbolic', 'numeric'"),
        (("planar_2r", "--html", "arm.pdf"), 2, "ending in .html"),
        (("planar_2r", "--q", "0,0"), 2, "belong to --derivation"),
        (("planar_2r", "--derivation", "lagrange", "--code", "c"), 2, "either --code or --derivation"),
        (("planar_2r", "--link", "link1"), 2, "--link, --frame and --order belong to --kinematics"),
        (("planar_2r", "--terms", "M", "--kinematics"), 2, "--terms names terms of the equations of motion"),
        (("planar_2r", "--terms", "mass"), 1, "has no term named 'mass'"),
        (("puma560", "--terms", "accelerations"), 1, "take --parameters numeric"),
        (("planar_2r", "--kinematics", "--derivation", "lagrange"), 2, "either --kinematics or --derivation"),
        (("planar_2r", "--kinematics", "--order", "xxy"), 2, "there is no order 'xxy'"),
        (("planar_2r", "--kinematics", "--link", "wheel"), 1, "no link or frame named 'wheel'"),
        (("planar_2r", "--code", "c", "--terms", "mass"), 1, "has no term named 'mass'"),
        (("planar_2r", "--html", "arm.html", "--code", "c"), 2, "--code prints source code: give it without"),
        (("panda", "--derivation", "closed-form"), 1, "numbers for its parameters"),
        (("quadruped",), 1, "quaternion"),
    ],
)
def test_mistakes_get_one_line(words, code, message):
    done = run("equations", *words)
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_velocities_of_a_derivation_are_zero_if_left_out():
    bent = ("equations", "planar_2r", "--derivation", "lagrange", "--q")
    whole = run(*bent, "0.3,0.6", "--qd", "0,0", "--qdd", "0,0")
    assert run(*bent, "0.3,0.6").stdout == whole.stdout
    assert run(*bent, "joint1=0.3,joint2=0.6").stdout == whole.stdout


def test_json_has_terms_that_sympy_reads():
    facts = json.loads(run("equations", "planar_2r", "--json", "--latex").stdout)
    assert facts["coordinates"] == ["joint1", "joint2"]
    assert "begin{" in facts["texts"]["latex"]
    corner = sp.sympify(facts["M"][1][1])
    assert corner == sp.sympify("L_2**2*m_2")
    assert len(facts["c"]) == len(facts["g"]) == 2
    assert facts["written"] == []


def test_kinematic_equations_come_in_all_forms(tmp_path):
    page = tmp_path / "arm.html"
    done = run("equations", "planar_2r", "--kinematics", "--shorthand", "--html", str(page), "--markdown")
    assert done.returncode == 0, done.stderr
    assert "Analytic Jacobian" in done.stdout
    assert "s_{12}" in done.stdout
    etree.fromstring(page.read_bytes())
    words = ("--kinematics", "--link", "link2", "--frame", "body", "--order", "zyx", "--code", "octave", "--json")
    facts = json.loads(run("equations", "planar_2r", *words, "--terms", "T, pose_vector").stdout)
    assert "function out = planar_2r_T(q)" in facts["texts"]["octave"]
    assert "function out = planar_2r_pose_vector(q)" in facts["texts"]["octave"]
    assert facts["T"][0][3] == "L_1*cos(q_1)"
    assert facts["J"][2] == ["1", "1"]


def test_notation_letters_and_wrenches_are_options():
    done = run("equations", "planar_2r", "--notation", "craig", "--coordinates", "theta")
    assert "τ = M θ̈ + V + G" in done.stdout
    words = ("--derivation", "rnea", "--tip-wrench", "--external", "link1,link2", "--notation", "lynch-park")
    assert r"\mathcal{F}_{\mathrm{tip}}" in run("equations", "planar_2r", *words, "--latex").stdout
    done = run("equations", "planar_2r", "--kinematics", "--external", "all")
    assert done.returncode == 2
