"""Figures inside derivations, in every form of document."""

import json
import shutil

import pytest
from refusals import refused
from symbolic.documents.test_compiled_latex import check

import chainrule as cr
from chainrule.symbolic.documents.blocks import FigureBlock

COUNTS = {"newton-euler": 3, "lagrange": 1, "velocities": 2, "accelerations": 2, "jacobians": 2, "rnea": 2}


def derivation(method="newton-euler", robot="planar_2r"):
    return cr.load(robot).derivation(method, figures=True)


@pytest.mark.parametrize("method", COUNTS)
def test_a_derivation_has_its_robot_and_what_its_method_speaks_of(method):
    blocks = derivation(method).blocks
    assert sum(isinstance(block, FigureBlock) for block in blocks) == COUNTS[method]


def test_every_form_of_document_has_the_figures(tmp_path):
    document = derivation()
    page = document.save(tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 3
    assert document._repr_html_().count("<figcaption>") == 3
    latex = document.latex()
    assert latex.count("\\begin{tikzpicture}") == 3
    assert "\\usetikzlibrary{arrows.meta}" in latex
    assert document.markdown().count("](data:image/png;base64,") == 3
    cells = json.loads(document.notebook())["cells"]
    shown = [cell for cell in cells if "attachments" in cell]
    assert len(shown) == 3
    assert all("(attachment:figure.png)" in "".join(cell["source"]) for cell in shown)
    assert all(set(cell["attachments"]["figure.png"]) == {"image/png"} for cell in shown)
    assert "[Figure: Free-body diagram of link 1, link1, of planar_2r]" in document.text()


def test_documents_without_figures_need_no_tikz():
    plain = cr.load("planar_2r").derivation("lagrange")
    assert "tikz" not in plain.latex()
    refused(lambda: cr.load("planar_2r").derivation(figures="yes"), cr.ShapeError, "figures must be True or False")


def test_the_symbols_are_those_of_the_derivation():
    document = cr.load("planar_2r").derivation("velocities", figures=True, symbols={"L_1": "b", "q_1": "theta_1"})
    figure = next(block.picture for block in document.blocks if isinstance(block, FigureBlock))
    labels = {getattr(label.text, "latex", label.text) for label in figure.scene.labels}
    assert {"b", r"\theta_{1}", "L_{2}"} <= labels


def test_free_bodies_have_the_wrenches_of_the_derivation():
    document = cr.load("planar_2r").derivation("newton-euler", figures=True, tip_wrench=[0, 0, 0.5, 3.0, -2.0, 0])
    last = [block.picture for block in document.blocks if isinstance(block, FigureBlock)][-1]
    assert r"-f_{\mathrm{tip}}" in last.scene.vectors()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX; `make languages` installs it")
@pytest.mark.parametrize("robot", ["planar_2r", "planar_rp", "scara"])
@pytest.mark.parametrize("method", ["newton-euler", "velocities", "jacobians"])
def test_derivations_with_figures_compile_and_stay_on_the_page(method, robot, tmp_path):
    check(derivation(method, robot), tmp_path)
