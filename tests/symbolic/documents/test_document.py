"""Documents in every form: complete, well formed, and safe against names from files."""

import json
import re

import pytest
import sympy as sp
from lxml import etree

import chainrule as cr
from chainrule.errors import ChainruleError
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Symmetric, Vector
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.closed_form.summary import summary
from chainrule.symbolic.derivations.derivation import METHODS
from chainrule.symbolic.derivations.derivation import derivation as derive
from chainrule.symbolic.documents.blocks import CodeBlock, Equation, Formula, Heading, Paragraph, TableBlock
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.formula import parse, width
from chainrule.symbolic.documents.line_breaks import PAGE_LETTERS, display

HOSTILE = '<script>alert("x")</script> $\\end{document}$ | `a_b` & %\n\x1b'


@pytest.fixture(scope="module")
def documents():
    return [
        *(derive(cr.load("scara"), method) for method in METHODS),
        summary(equations(cr.load("planar_3r")), shorthand=True),
    ]


def test_pages_are_xml_and_ask_for_nothing(documents):
    for document in documents:
        page = document.html()
        root = etree.fromstring(page.encode(), etree.XMLParser(resolve_entities=False))
        tags = {etree.QName(node).localname for node in root.iter() if isinstance(node.tag, str)}
        assert {"math", "mtable", "mover", "msub"} <= tags
        assert not {"script", "link", "img", "iframe", "mfenced"} & tags
        assert not re.search(r"(src|href)=|url\(|@import", page)
        assert set(re.findall(r"https?://[^\"' ]+", page)) == {
            "http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"
        }  # fmt: skip


def check_latex(text):
    """Braces, environments, brackets and dollar signs come in pairs."""
    plain = text.replace("\\\\", "").replace("\\{", "").replace("\\}", "").replace("\\$", "").replace("\\%", "")
    depth = 0
    for letter in plain:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    open_ = []
    for kind, name in re.findall(r"\\(begin|end)\{([^}]*)\}", text):
        if kind == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert not open_
    assert plain.count("$") % 2 == 0
    assert len(re.findall(r"\\left\b", plain)) == len(re.findall(r"\\right\b", plain))


def test_articles_are_whole_and_balanced(documents):
    for document in documents:
        text = document.latex()
        assert text.startswith("\\documentclass")
        assert text.rstrip().endswith("\\end{document}")
        check_latex(text)


def test_notebooks_have_the_cells_that_jupyter_reads(documents):
    document = Document("A", (*documents[0].blocks, CodeBlock("import chainrule", "python")))
    book = json.loads(document.notebook())
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert {cell["cell_type"] for cell in book["cells"]} == {"markdown", "code"}
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    for cell in book["cells"]:
        assert isinstance(cell["source"], list)
        assert ("outputs" in cell) == (cell["cell_type"] == "code")
    assert "Outward iterations" in "".join("".join(cell["source"]) for cell in book["cells"])


def test_markdown_has_its_formulas_between_dollar_signs(documents):
    text = documents[0].markdown()
    assert text.startswith("# The Newton-Euler equations of scara\n")
    assert text.count("$$") % 2 == 0
    assert "| joint | name |" in text


def test_wide_equations_are_broken_into_lines_that_fit(documents):
    broken = 0
    for document in documents:
        for block in document.blocks:
            if isinstance(block, Equation):
                shown = display(block, document.style)
                broken += "aligned" in shown
                if "matrix" not in shown:  # matrices are made smaller on paper; test_compiled_latex.py holds that
                    assert width(parse(shown)) < PAGE_LETTERS + 12
    assert broken > 5
    for row in documents[0].text().split("\n"):
        assert len(row) < 260


def test_names_from_files_are_text_in_every_format():
    links = [Link("base"), Link(HOSTILE, 1.0, Vector(0.5, 0, 0), Symmetric(0.1, 0.1, 0.1))]
    joint = Joint(HOSTILE, "base", HOSTILE, Screw.revolute(Vector(0, 1, 0)))
    document = derive(cr.Robot(Model.build(HOSTILE, links, [joint])))
    page = document.html()
    assert "<script>" not in page
    etree.fromstring(page.encode())
    check_latex(document.latex())
    assert document.latex().count("\\end{document}") == 1
    assert "<script>" not in document.markdown()
    json.loads(document.notebook())
    assert "\x1b" not in document.text()


def test_documents_are_saved_by_the_ending_of_the_file(tmp_path, documents):
    for ending in ("html", "tex", "md", "ipynb", "txt"):
        assert documents[3].save(tmp_path / f"page.{ending}").stat().st_size > 500
    with pytest.raises(ChainruleError, match=r"written as \.html.* \.pdf"):
        documents[3].save(tmp_path / "page.docx")
    assert "<math" in documents[3]._repr_html_()


def test_a_document_by_hand_in_every_format():
    m, v = sp.symbols("m_1 vdot")
    blocks = (
        Heading("Newton"),
        Paragraph(("the force ", Formula("F"), " is 100% of ", m * v)),
        Equation((Formula("F"), m * v), "kg m/s^2"),
        TableBlock(("a", "b"), (("x | y", m),)),
        CodeBlock("x = 1 < 2", "python"),
    )
    document = Document("Laws & rules", blocks)
    assert "Laws &amp; rules" in document.html()
    assert r"100\% of $m_{1} \dot{v}$" in document.latex()
    assert r"x \| y" in document.markdown()
    assert "F = m₁⋅v̇    [kg m/s²]" in document.text()
    check_latex(document.latex())
