"""How to add a form of document, from outside: the steps of `documents/document.py`, for AsciiDoc."""

import re
from base64 import b64encode

import pytest

import chainrule as cr
from chainrule.symbolic.closed_form.summary import summary
from chainrule.symbolic.documents.blocks import CodeBlock, Equation, FigureBlock, Heading, Paragraph, TableBlock, pieces
from chainrule.symbolic.documents.document import FORMS, Document
from chainrule.symbolic.documents.line_breaks import display, math


def asciidoc(page):
    """Step 1: the title and all kinds of blocks."""
    return "\n\n".join([f"= {plain(page.title)}", *(block_text(block, page.style) for block in page.blocks)]) + "\n"


def plain(text):
    return re.sub(r"([_*`#^~|{}\[\]+])", r"\\\1", text)


def text_of(text, style):
    """Step 2: plain text and mathematics."""
    return "".join(plain(p) if isinstance(p, str) else f"latexmath:[{math(p, style)}]" for p in pieces(text))


def block_text(block, style):
    if isinstance(block, Heading):
        return f"{'=' * (block.level + 1)} {text_of(block.text, style)}"
    if isinstance(block, Paragraph):
        return text_of(block.text, style)
    if isinstance(block, Equation):
        return f"[latexmath]\n++++\n{display(block, style)}\n++++"
    if isinstance(block, TableBlock):
        rows = [" ".join(f"|{text_of(cell, style)}" for cell in row) for row in (block.header, *block.rows)]
        return "\n".join(["|===", rows[0], "", *rows[1:], "|==="])
    if isinstance(block, FigureBlock):
        return (
            f".{plain(block.picture.caption)}\nimage::data:image/png;base64,{b64encode(block.picture.png()).decode()}[]"
        )
    assert isinstance(block, CodeBlock)
    return f"[source,{block.language}]\n----\n{block.text}\n----"


@pytest.fixture
def listed(monkeypatch):
    """Step 3."""
    monkeypatch.setitem(FORMS, ".adoc", asciidoc)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("method", ["newton-euler", "lagrange", "closed-form"])
def test_derivations_are_saved_in_the_new_form(method, tmp_path):
    document = cr.load("planar_2r").derivation(method)
    text = document.save(tmp_path / "arm.adoc").read_text(encoding="utf-8")
    assert text.startswith(f"= {document.title.replace('_', chr(92) + '_')}\n")
    assert text.count("++++") == 2 * sum(isinstance(block, Equation) for block in document.blocks)
    assert text.count("|===") == 2 * sum(isinstance(block, TableBlock) for block in document.blocks)


@pytest.mark.usefixtures("listed")
def test_summaries_and_documents_by_hand_are_saved_in_the_new_form(tmp_path):
    page = summary(cr.load("planar_2r").equations(), shorthand=True).save(tmp_path / "arm.adoc")
    assert "c_{12}" in page.read_text(encoding="utf-8")
    code = Document("CodeBlock", (CodeBlock("x = 1", "python"),)).save(tmp_path / "code.adoc")
    assert "[source,python]\n----\nx = 1\n----" in code.read_text(encoding="utf-8")
