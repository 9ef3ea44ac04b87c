"""Text that users pass in is never evaluated, and names from files are plain text in every writer."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp
from lxml import etree

import chainrule as cr
from chainrule import symbolic
from chainrule.errors import ChainruleError, ShapeError
from chainrule.symbolic.closed_form.summary import summary
from chainrule.symbolic.documents import printing
from chainrule.symbolic.documents.blocks import CodeBlock, Equation, Paragraph, TableBlock
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.latex import article
from chainrule.symbolic.lagrange.bodies import angular_velocity, generalized_force
from chainrule.symbolic.lagrange.coordinates import coordinates
from chainrule.symbolic.source_code.exports import export
from chainrule.symbolic.source_code.languages import LANGUAGES

x = sp.Symbol("x")
xdot = sp.Symbol("xdot")


class Speaks:
    """An object whose text is code."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    __repr__ = __str__


CALLS = {
    "contract": lambda t: symbolic.contract(t, [x]),
    "contract, nested": lambda t: symbolic.contract([t], [x]),
    "contract, an angle": lambda t: symbolic.contract(sp.sin(x), [t]),
    "contract, a group": lambda t: symbolic.contract(sp.sin(x), [x], [[t]]),
    "Equation": lambda t: Document("t", (Equation((t, "y")),)).html(),
    "Equation, nested": lambda t: Document("t", (Equation(([t], x)),)).html(),
    "a cell": lambda t: Document("t", (TableBlock(("a",), ((np.array([t], dtype=object),),)),)).html(),
    "latex": printing.latex,
    "latex, a dictionary": lambda t: printing.latex({"a": t}),
    "latex, a tuple": lambda t: printing.latex((t, x)),
    "latex, a set": lambda t: printing.latex({t}),
    "kinetic energy, a tuple": lambda t: symbolic.Lagrangian([x], (t,)),
    "pretty": printing.pretty,
    "mathml": printing.mathml,
    "kinetic energy": lambda t: symbolic.Lagrangian([x], t),
    "kinetic energy, nested": lambda t: symbolic.Lagrangian([x], [t]),
    "forces": lambda t: symbolic.Lagrangian([x], xdot**2, forces=t),
    "forces, listed": lambda t: symbolic.Lagrangian([x], xdot**2, forces=[t]),
    "constraints": lambda t: symbolic.Lagrangian([x], xdot**2, constraints=[t]),
    "coordinates": lambda t: symbolic.Lagrangian(t, xdot**2),
    "mass": lambda t: symbolic.Lagrangian.of_bodies([x], [symbolic.PointMass(t, (x, 0))]),
    "gravity": lambda t: symbolic.PointMass(1, (x, 0)).potential_energy(coordinates([x]), (0, 0, t)),
    "rotation": lambda t: angular_velocity([[t, 0, 0], [0, 1, 0], [0, 0, 1]], coordinates([x])),
    "force": lambda t: generalized_force((t, 0), (x, 0), coordinates([x])),
    "linearize": lambda t: symbolic.Lagrangian([x], xdot**2).linearize({x: t}),
    "function": lambda t: symbolic.Lagrangian([x], xdot**2 * sp.Symbol("m")).function("mass_matrix", {"m": t}),
    "equations": lambda t: cr.load("planar_2r").equations({"m_1": t}),
    "equations, an object": lambda t: cr.load("planar_2r").equations({"m_1": [t]}),
    "lambdify": lambda t: cr.load("planar_2r").equations().lambdify("M", {"m_1": t}),
    "export": lambda t: export({"f": [[t]]}, "numpy", arguments={"a": [x]}),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", [str, Speaks])
def test_text_is_not_evaluated(name, kind, tmp_path):
    mark = tmp_path / "ran"
    with pytest.raises(ChainruleError):
        CALLS[name](kind(f"__import__('pathlib').Path({str(mark)!r}).touch()"))
    assert not mark.exists()


def test_the_message_says_to_make_an_expression():
    with pytest.raises(ShapeError, match=r"not evaluated; make an expression of symbols"):
        symbolic.contract("sin(x)", [x])
    with pytest.raises(ShapeError, match=r"a side of an equation \(or a Formula"):
        Equation(("x", x))


HOSTILE = [
    "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "$\\href{javascript:alert(1)}{x}$", "\\(x\\)",
    "\\input{/etc/passwd}", "\\end{document}", "^^5cinput", "*/ int main() { } /*", '"""\nimport os\n"""', "x\n%}\nsystem('x')",
    "# x\r## y", "[a](http://b.c)", "http://example.org www.example.org a@b.cd", "```\nx", "| a | b", "\x1b[31m", "\u202eabc",
    "\ud800", "-->", "; rm -rf", "a\u2028b", "{{ 1 }}", "&lt;", "]]>", "#=end=#", "//\\\nint y;", "1;\nend", "a" * 300,
]  # fmt: skip


def robot_named(name):
    """A robot all of whose names are the given one, with a letter that tells them apart."""
    table = {
        "format": "chainrule 1", "name": name, "link": [{"name": f"{name}0"}, {"name": f"{name}1", "mass": 1.0, "com": [0.2, 0, 0]}],
        "joint": [{"name": name, "type": "revolute", "parent": f"{name}0", "child": f"{name}1", "axis": [0, 0, 1]}],
    }  # fmt: skip
    return cr.load(json.dumps(table))


@pytest.fixture(scope="module")
def hostile_documents():
    found = []
    for name in HOSTILE:
        try:
            robot = robot_named(name)
        except ChainruleError:  # a name that no robot may have
            continue
        found.append((name, robot, [summary(robot.equations()), robot.derivation("lagrange")]))
    assert len(found) > len(HOSTILE) / 2
    return found


def test_hostile_names_in_html(hostile_documents):
    for name, _, documents in hostile_documents:
        for document in documents:
            page = document.html()
            tags = {etree.QName(e).localname for e in etree.fromstring(page.encode()).iter() if isinstance(e.tag, str)}
            assert not tags & {"script", "img", "a", "iframe"}, name
            assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e\u2028]", page), name


def test_hostile_names_in_latex(hostile_documents):
    harmless = {document.latex().count("\\") for _, _, (document, _) in hostile_documents[:1]}
    assert harmless
    for name, _, documents in hostile_documents:
        for document in documents:
            text = article(document)
            assert text.count("\\end{document}") == 1, name
            assert "\\input{" not in text, name
            assert "\\href" not in text, name
            assert "^^" not in text, name
            assert max(text) < "\u0180", name


def test_hostile_names_in_markdown_and_notebooks(hostile_documents):
    for name, _, documents in hostile_documents:
        for document in documents:
            text = document.markdown()
            text.encode()
            assert "\r" not in text, name
            assert "\x1b" not in text, name
            assert not re.search(r"<(?!/?span>)", text), name
            assert not re.search(r"https?://|www\.|\w@\w", text), name
            assert "\\(" not in text, name
            assert not re.search(r"(?<!\\)\]\(", text), name
            assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0, name
            titles = [line for line in text.split("\n") if re.match(r"#+ ", line)]
            cells = json.loads(document.notebook())["cells"]
            sources = "".join("".join(cell["source"]) for cell in cells)
            assert len(titles) == len([b for b in document.blocks if type(b).__name__ == "Heading"]) + 1, name
            assert "\\href" not in sources.replace("&#92;", ""), name
            assert all(cell["cell_type"] == "markdown" for cell in cells), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_names_in_source_code(language, hostile_documents):
    plain = robot_named("arm").equations().source_code(language)
    for name, robot, _ in hostile_documents:
        text = robot.equations().source_code(language)
        own = re.search(r"chainrule: (\w+)\.", text)
        assert own is not None, name
        assert len(own[1]) <= 60, name
        assert text.replace(own[1], "arm") == plain, name
    numpy_text = robot_named("arm").equations().source_code("numpy")
    compile(numpy_text, "arm.py", "exec")


def test_functions_of_alike_names_are_kept_apart():
    text = export({"a b": sp.Matrix([x]), "a_b": sp.Matrix([2 * x])}, "numpy", arguments={"q": [x]}, prefix="f")
    space = {}
    exec(text, space)
    assert space["f_a_b"](np.array([1.0])) == [1.0]
    assert space["f_a_b_2"](np.array([1.0])) == [2.0]


def test_code_does_not_leave_its_block():
    code = Document("t", (CodeBlock("\\end{verb\\end{verbatim}atim}\n```\n\x1b<script>", "text"),))
    assert code.latex().count("\\end{verbatim}") == 1
    assert "\n````text\n" in code.markdown()
    assert "<script>" not in code.html()
    assert "\x1b" not in code.html()
    row = Document("t", (TableBlock(("a",), (("[2cm]",), ("*",))), Paragraph("p")))
    assert "\n{}[2cm]" in row.latex()


def test_texts_do_not_depend_on_the_seed_of_hashes():
    script = (
        "import chainrule as cr\n"
        "r = cr.load('planar_2r').edit(joints={'*': {'stiffness': 3.0, 'rest': [0.1, 0.2], 'viscous': 0.1}})\n"
        "e = r.equations()\n"
        "print(e.spring, e.potential_energy, e.tau, e.in_base_parameters().definitions, e.intermediate(), e.cse('M'))\n"
    )
    texts = set()
    for seed in ("0", "1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        texts.add(run.stdout)
    assert len(texts) == 1
    assert "k_2*(-q_02 + q_2)" in texts.pop()
