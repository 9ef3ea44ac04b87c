"""Every kind of document as LaTeX, compiled by LaTeX: no error, and no line that runs into the margin."""

import re
import shutil
import subprocess

import pytest

import chainrule as cr
from chainrule.symbolic.derivations.bodies.derivation import METHODS as BODY_METHODS
from chainrule.symbolic.derivations.derivation import METHODS
from chainrule.symbolic.documents.blocks import Formula, TableBlock
from chainrule.symbolic.documents.document import Document
from symbolic.lagrange.systems import arm_2r, gantry, pendulum

pytestmark = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="there is no LaTeX; `make languages` installs it"
)

ROW = ("-0.0810101, 0.0181862, -0.0003975, -0.121242, -0.540067, 20.62",)
TABLES = {
    "narrow": TableBlock(("link", "mass, kg"), (("upper arm", "2.5"), ("forearm", "1.5"))),
    "long cells": TableBlock(
        ("", "from the symbols", "from the kernel", "unit"), ((Formula("F_{1}"), *2 * ROW, "N m"),)
    ),
    "longest cells": TableBlock(("a", "b"), ((7 * ROW[0], "1"),)),
    "long headers": TableBlock(("", *(f"rate of joint_number_{k}" for k in range(24))), (("first_joint", *24 * "1"),)),
    "long headers and cells": TableBlock(("", *8 * ("W joint_number_1",)), (("Newton-Euler", *8 * ("0.01, -0.12",)),)),
}

FEW = {
    **{
        f"a body, {method}": (lambda method=method: cr.rigid_body(2.0, (0.1, 0.2, 0), (1, 2, 2.5)).derivation(method))
        for method in BODY_METHODS
    },
    "equations": lambda: cr.load("planar_3r").equations().document(),
    "equations, shorthand": lambda: cr.load("scara").equations().document(shorthand=True),
    "kinematics": lambda: cr.load("planar_3r").kinematic_equations().document(shorthand=True),
    "kinematics, singular angles": lambda: cr.load("planar_2r").kinematic_equations(order="zyz").document(),
    "lagrangian": lambda: arm_2r().derivation(),
    **{method: (lambda method=method: cr.load("planar_2r").derivation(method)) for method in METHODS},
}
MANY = {
    "gantry": lambda: gantry().derivation(),
    "pendulum": lambda: pendulum().derivation(),
    **{
        f"kinematics of {name}": (lambda name=name: cr.load(name).kinematic_equations().document(shorthand=True))
        for name in ("stanford", "puma560", "ur5", "scara")
    },
    **{
        f"{method} of {name}": (lambda method=method, name=name: cr.load(name).derivation(method))
        for method in METHODS
        for name in ("planar_rp", "planar_3r", "scara", "pendulum")
    },
}


def compile_latex(text, folder):
    """The log of LaTeX; its errors fail the test."""
    (folder / "page.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "page.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-2000:]
    assert (folder / "page.pdf").stat().st_size > 1000
    return log


def check(document, folder):
    log = compile_latex(document.latex(), folder)
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", log)]
    assert not too_wide
    assert "Missing character" not in log


@pytest.mark.parametrize("name", FEW)
def test_documents_compile_and_stay_on_the_page(name, tmp_path):
    check(FEW[name](), tmp_path)


@pytest.mark.parametrize("name", TABLES)
def test_tables_stay_on_the_page(name, tmp_path):
    check(Document("Tables", (TABLES[name],)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_documents_of_many_robots_compile_and_stay_on_the_page(name, tmp_path):
    check(MANY[name](), tmp_path)
