"""Derivations: the symbols of the textbook, the numbers of the kernels, the right units, in every format."""

import json
import re

import numpy as np
import pytest
import sympy as sp
from lxml import etree
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.errors import ChainruleError, ModelError, ShapeError, UnknownNameError
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Symmetric, Vector
from chainrule.symbolic.algebra.units import UnitError, unit, unit_of
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.derivations.derivation import METHODS, derive
from chainrule.symbolic.derivations.names import of_link
from chainrule.symbolic.derivations.other_units import check_by_other_units
from chainrule.symbolic.derivations.setting import Quantity, Setting
from chainrule.symbolic.documents.breaking import PAGE, display
from chainrule.symbolic.documents.document import (
    Code,
    Document,
    Equation,
    Formula,
    Heading,
    Paragraph,
    Table,
)
from chainrule.symbolic.documents.formula import FormulaError, parse, width
from chainrule.symbolic.documents.mathml import mathml
from chainrule.symbolic.documents.plain import line
from chainrule.symbolic.documents.printing import (
    Style,
    arranged,
    definitions,
    latex,
    pretty,
    rounded,
    shortened,
)
from chainrule.symbolic.documents.summary import summary

ROBOTS = ["pendulum", "planar_2r", "planar_rp", "cartesian_3p", "scara"]
HOSTILE = '<script>alert("x")</script> $\\end{document}$ | `a_b` & %\n\x1b'


def named(document):
    """The right side of every equation, by its left side in LaTeX."""
    equations_ = [block for block in document.blocks if isinstance(block, Equation)]
    return {e.sides[0].latex: e.sides[-1] for e in equations_ if isinstance(e.sides[0], Formula)}


def value(robot, expression, state, parameters=None):
    """An expression of the state's symbols as a number."""
    numbers = dict(equations(robot).parameters if parameters is None else parameters)
    for letter, part in zip(("q", "qdot", "qddot"), state, strict=True):
        numbers |= {sp.Symbol(f"{letter}_{i + 1}", real=True): x for i, x in enumerate(part)}
    return np.array(sp.Matrix([expression]).subs(numbers).evalf(20), dtype=float).ravel()


def state_of(robot, seed=3):
    rng = np.random.default_rng(seed)
    return robot.random_state(rng), rng.normal(size=robot.n), rng.normal(size=robot.n)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_vector_of_the_newton_euler_derivation_is_that_of_the_kernel(name):
    robot = cr.load(name)
    state = state_of(robot)
    table, found = robot.newton_euler_table(*state), named(derive(robot, "newton-euler"))
    for i in range(len(table.links)):
        for column in table.units:
            expected = getattr(table, column)[i]
            assert_allclose(value(robot, found[of_link(column, i + 1)], state), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ROBOTS)
def test_the_equations_that_a_derivation_ends_with_are_the_kernels(name, method):
    robot = cr.load(name)
    q, qd, qdd = state_of(robot, 4)
    found = named(derive(robot, method))
    assert_allclose(value(robot, found["M"], (q, qd, qdd)), robot.mass_matrix(q).ravel(), rtol=1e-10, atol=1e-10)
    if "g" in found:
        assert_allclose(value(robot, found["g"], (q, qd, qdd)), robot.gravity_torque(q), rtol=1e-10, atol=1e-10)
    if method != "closed-form":
        tau = [value(robot, found[f"\\tau_{{{i + 1}}}"], (q, qd, qdd))[0] for i in range(robot.n)]
        assert_allclose(tau, robot.inverse_dynamics(q, qd, qdd), rtol=1e-10, atol=1e-10)


def test_lagranges_steps_are_the_derivatives_of_the_energies():
    robot = cr.load("planar_2r")
    found = named(derive(robot, "lagrange"))
    q, qd = sp.symbols("q_1:3", real=True), sp.symbols("qdot_1:3", real=True)
    L = found["K"] - found["P"]
    for i in range(2):
        for name, by in ((r"\dot{q}", qd), ("q", q)):
            written = found[f"\\frac{{\\partial L}}{{\\partial {name}_{{{i + 1}}}}}"]
            assert sp.simplify(written - sp.diff(L, by[i])) == 0
    assert sp.simplify(found["K"] - found["K_{1}"] - found["K_{2}"]) == 0


def test_the_planar_arm_of_the_notes_has_the_vectors_of_the_notes():
    found = named(derive(cr.load("planar_2r"), "newton-euler"))
    one, two = sp.symbols("qdot_1 qdot_2", real=True)
    assert list(found[r"\omega_{2}"]) == [0, 0, one + two]
    L1, g = sp.symbols("L_1 g", positive=True)
    angle = sp.Symbol("q_1", real=True)
    expected = [-L1 * one**2 + g * sp.sin(angle), L1 * sp.Symbol("qddot_1", real=True) + g * sp.cos(angle), 0]
    assert sp.simplify(sp.Matrix(found[r"\dot{v}_{C1}"]) - sp.Matrix(expected)) == sp.zeros(3, 1)


@pytest.mark.parametrize("method", METHODS)
def test_numbers_from_symbols_and_kernels_stand_side_by_side(method):
    robot = cr.load("planar_rp")
    document = derive(robot, method, state=([0.4, 0.7], [1.0, -0.5], [0.2, 0.3]))
    tables = [b for b in document.blocks if isinstance(b, Table) and "from the kernel" in b.header]
    rows = [row for table in tables for row in table.rows]
    assert rows
    assert all(row[1] == row[2] for row in rows)
    shown = {row[0].latex: row for row in rows}
    tau = robot.inverse_dynamics([0.4, 0.7], [1.0, -0.5], [0.2, 0.3])
    assert float(shown[r"\tau_{1}"][1]) == pytest.approx(tau[0], rel=1e-5)


def test_units_are_those_of_turning_and_sliding_joints():
    rows = {
        row[0].latex: row[3]
        for block in derive(cr.load("planar_rp"), "newton-euler").blocks
        if isinstance(block, Table) and "from the kernel" in block.header
        for row in block.rows
    }
    expected = {
        r"\tau_{1}": "N m",
        r"\tau_{2}": "N",
        "M_{11}": "kg m²",
        "M_{12}": "kg m",
        "M_{22}": "kg",
        "n_{1}": "N m",
    }
    assert {name: rows[name] for name in expected} == expected
    assert rows[r"\dot{\omega}_{2}"] == "rad/s²"


def test_a_term_of_the_wrong_unit_is_found():
    m, l, q = sp.symbols("m l q")
    units = {m: unit("kg"), l: unit("m"), q: unit("rad")}
    assert unit_of(m * l**2 * sp.sin(q) + m * l**2, units) == unit("kg m^2")
    with pytest.raises(UnitError, match="differ in units"):
        unit_of(m * l**2 + m * l, units)
    with pytest.raises(UnitError, match="only angles"):
        unit_of(sp.cos(l), units)
    with pytest.raises(UnitError, match="not known"):
        unit_of(sp.Symbol("other"), units)
    setting = Setting.of(cr.load("planar_2r"), "symbolic")
    with pytest.raises(UnitError, match="should be in N"):
        setting.check_units(Quantity("F", equations(cr.load("planar_2r")).g[0], "N"))


def test_a_robot_measured_in_pounds_and_feet_is_the_same_robot(monkeypatch):
    setting = Setting.of(cr.load("stanford"), "numeric")
    check_by_other_units(setting)
    monkeypatch.setitem(check_by_other_units.__globals__["UNITS"], "F", "N m")
    with pytest.raises(UnitError, match="F is not in N m"):
        check_by_other_units(setting)


def test_symbols_that_are_not_the_kernels_are_refused():
    setting = Setting.of(cr.load("pendulum"), "symbolic")
    with pytest.raises(ChainruleError, match="not to be trusted"):
        setting.agreeing("g", setting.equations.g, [1e-3])


@pytest.mark.parametrize("method", METHODS)
def test_screws_off_the_origin_and_numeric_parameters(method):
    robot = cr.load("modern_robotics_3r")
    state = state_of(robot)
    document = derive(robot, method, "numeric", state)
    M = value(robot, named(document)["M"], state, {})
    assert_allclose(M, robot.mass_matrix(state[0]).ravel(), rtol=1e-10, atol=1e-10)
    assert "pounds, feet" in document.text()


def test_friction_and_springs_are_in_the_result():
    links = [Link("base"), Link("arm", 2.0, Vector(0.5, 0, 0), Symmetric(0.1, 0.1, 0.1))]
    dof = (
        cr.load("puma560")
        .model.joints[0]
        .dofs[0]
        .__class__(viscous=0.3, coulomb=0.2, coulomb_negative=0.4, stiffness=5.0)
    )
    joint = Joint("hinge", "base", "arm", Screw.revolute(Vector(0, 0, 1)), dofs=(dof,))
    robot = cr.Robot(Model.build("spring", links, [joint], gravity=Vector(0, -9.81, 0)))
    found = named(derive(robot, "lagrange"))
    assert r"\tau_s" in found
    for rate in (-1.5, 1.5):
        state = ([0.3], [rate], [0.1])
        assert_allclose(value(robot, found[r"\tau_f"], state), robot.friction_torque([rate]), rtol=1e-12)


# --- formats ---


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
    document = Document("A", (*documents[0].blocks, Code("import chainrule", "python")))
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
                if not isinstance(block.sides[-1], sp.MatrixBase):
                    assert width(parse(shown)) < PAGE + 12
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
    with pytest.raises(ChainruleError, match=r"written as \.html"):
        documents[3].save(tmp_path / "page.pdf")
    assert "<math" in documents[3]._repr_html_()


def test_a_document_by_hand_in_every_format():
    m, v = sp.symbols("m_1 vdot")
    blocks = (
        Heading("Newton"),
        Paragraph(("the force ", Formula("F"), " is 100% of ", m * v)),
        Equation((Formula("F"), m * v), "kg m/s^2"),
        Table(("a", "b"), (("x | y", m),)),
        Code("x = 1 < 2", "python"),
    )
    document = Document("Laws & rules", blocks)
    assert "Laws &amp; rules" in document.html()
    assert r"100\% of $m_{1} \dot{v}$" in document.latex()
    assert r"x \| y" in document.markdown()
    assert "F = m₁⋅v̇    [kg m/s²]" in document.text()
    check_latex(document.latex())


# --- printing ---

q1, q2, q12 = sp.symbols("q_1 q_2 q_12")


def test_factors_and_terms_come_in_the_order_of_a_textbook():
    m, L, g, qd, qdd = sp.symbols("m_2 L_1 g qdot_1 qddot_1")
    assert latex(g * sp.cos(q1) * L * m * 2) == r"2 m_{2} L_{1} g \cos{\left(q_{1} \right)}"
    assert (
        latex(g * m + m * qd**2 * L + m * qdd * L)
        == r"m_{2} L_{1} \ddot{q}_{1} + m_{2} L_{1} \dot{q}_{1}^{2} + m_{2} g"
    )
    assert latex(-m * L / 2) == r"- \frac{m_{2} L_{1}}{2}"
    assert pretty(m * g) == "m₂⋅g"


def test_arranging_changes_no_value():
    rng = np.random.default_rng(5)
    scara = equations(cr.load("scara"))
    for entry in (*scara.M, *scara.c, *scara.tau):
        numbers = {s: rng.normal() for s in entry.free_symbols}
        assert float(arranged(entry, Style(digits=17)).subs(numbers)) == pytest.approx(
            float(entry.subs(numbers)), rel=1e-12
        )


def test_short_names_stand_for_sums_of_coordinates_only():
    assert str(shortened(sp.cos(q1 + q2))) == "c_12"
    assert str(shortened(sp.sin(q1 - q2) * sp.cos(2 * q1))) == "s_1-2*cos(2*q_1)"
    assert latex(sp.cos(q1 + q12), Style(shorthand=True)) == "c_{1,12}"
    assert str(shortened(sp.Symbol("c_1") * sp.cos(q1))) == "C_1*c_1"
    assert shortened(sp.cos(q1) * sp.cos(q2), [q1]) == sp.Symbol("c_1", real=True) * sp.cos(q2)
    assert definitions([sp.Matrix([sp.cos(q1)])]) == [(sp.Symbol("c_1", real=True), sp.cos(q1))]
    document = derive(cr.load("planar_2r"), "lagrange").styled(shorthand=True)
    assert "c_{12}" in document.latex()
    assert "\\cos" not in document.latex()


def test_decimals_are_short():
    assert latex(sp.Float(0.1) + sp.Float(0.2)) == "0.3"
    assert latex(sp.Float(2.0) * q1) == "2 q_{1}"
    assert latex(sp.Float(1) / 3, Style(digits=3)) == "0.333"
    assert rounded(1e20) == sp.Float("1e+20")


def test_mathml_and_plain_text_of_all_that_is_printed():
    cases = sp.Piecewise((q1, q1 > 0), (-q2, q1 < 0), (0, True))
    for expression in (
        cases,
        sp.sqrt(q1) / q2,
        sp.sign(q1),
        sp.Matrix([[q1, 1e-9], [sp.sin(q2) ** 2, q1 / 3]]),
        sp.pi * q1,
    ):
        etree.fromstring(mathml(latex(expression)))
        assert line(latex(expression))
    assert line(r"\frac{\mathrm{d}}{\mathrm{d} t} \frac{\partial L}{\partial \dot{q}_{1}}") == "d/dt ∂L/∂q̇₁"
    assert line(latex(sp.sin(q2) ** 2 * q1)) == "q₁ sin²(q₂)"


@pytest.mark.parametrize(
    "formula", [r"\unknown{x}", "{x", "x}", r"\left(x", r"\begin{tabular}x\end{tabular}", r"\frac{1}"]
)
def test_formulas_that_cannot_be_read_are_refused(formula):
    with pytest.raises(FormulaError):
        parse(formula)


# --- bad input ---


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"method": "newton"}, UnknownNameError, "did you mean 'newton-euler'"),
        ({"parameters": "both"}, ShapeError, "'symbolic', 'numeric'"),
        ({"state": [0.1, 0.2]}, ShapeError, r"\(q, qd, qdd\)"),
        ({"state": ([0.1], [0, 0], [0, 0])}, ShapeError, "q must have 2 numbers"),
        ({"state": ([0, np.nan], [0, 0], [0, 0])}, ShapeError, "finite"),
        ({"state": (np.zeros((3, 2)), [0, 0], [0, 0])}, ShapeError, "one state"),
    ],
)
def test_wrong_arguments_say_what_is_expected(arguments, error, message):
    with pytest.raises(error, match=message):
        derive(cr.load("planar_2r"), **arguments)


def test_robots_without_such_equations_are_refused_with_what_to_do():
    with pytest.raises(ModelError, match="quaternion"):
        derive(cr.load("quadruped"))
    with pytest.raises(ModelError, match="loops"):
        derive(cr.load("four_bar"))
    with pytest.raises(ModelError, match=r"too large.*numeric.*lock.*intermediate"):
        derive(cr.load("puma560"), "newton-euler", "numeric")
