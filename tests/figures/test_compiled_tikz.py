"""Every kind of figure as TikZ, compiled by LaTeX without an error or a missing letter."""

import shutil

import pytest
from symbolic.documents.test_compiled_latex import compile_latex

import chainrule as cr
from chainrule.figures.tikz import PREAMBLE
from figures.robots import NAMES
from figures.test_figures import figures_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX; `make languages` installs it"),
]


@pytest.mark.parametrize("name", NAMES)
def test_figures_compile(name, tmp_path):
    pictures = "\n\n".join(figure.tikz() for _, figure in figures_of(name))
    article = f"\\documentclass{{article}}\n{PREAMBLE}\\begin{{document}}\n{pictures}\n\\end{{document}}\n"
    assert "Missing character" not in compile_latex(article, tmp_path)


def test_a_saved_picture_is_taken_into_a_document(tmp_path):
    cr.load("planar_2r").textbook.figure([0.4, 0.6]).save(tmp_path / "arm.tex")
    article = f"\\documentclass{{article}}\n{PREAMBLE}\\begin{{document}}\n\\input{{arm}}\n\\end{{document}}\n"
    compile_latex(article, tmp_path)
