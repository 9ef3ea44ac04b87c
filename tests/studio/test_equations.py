"""The equations of motion on the page: formulas with numbers, and the numbers of the robot's functions."""

from __future__ import annotations

import re
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from waiting import eventually

import chainrule as cr
from chainrule.doctor.findings import Diagnosis, Finding
from chainrule.studio.charts import formulas
from chainrule.studio.panels.doctor import card, headline
from chainrule.studio.panels.equations import EquationsPanel
from chainrule.symbolic.documents.formula import parse
from chainrule.symbolic.documents.mathml import element

Q, QD, QDD = np.array([0.3, -0.4]), np.array([1.0, -2.0]), np.array([0.5, 0.25])


@pytest.fixture(scope="module")
def arm():
    robot = cr.load("planar_2r").reference
    return robot, formulas.typeset(robot.equations())


def python_of(text):
    """A formula of MathML with numbers, as Python reads it."""
    text = text.replace("&#x2061;", "").replace("·", "*").replace("\u2212", "-")
    text = re.sub(r"<msup>(.*?)<mn>2</mn></msup>", r"\1**2", text)
    text = re.sub(r"<mi>(sin|cos)</mi>", r"@np.\1", text)
    text = re.sub(r"<[^>]*>", "", text)
    return re.sub(r"(^|[-+*(])@", r"\1", text).replace("@", "*")


def test_numbers_put_into_a_formula_give_the_number_of_the_robots_function(arm):
    robot, found = arm
    values = formulas.term_values(robot, Q, QD, QDD)
    numbers = found.values(Q, QD, QDD)
    checked = 0
    for term, entries in found.terms.items():
        for entry in entries:
            text = python_of(element(formulas.put_numbers(entry.formula, numbers)))
            assert eval(text, {"np": np}) == pytest.approx(float(values[term][entry.place]), rel=2e-3), text
            checked += 1
    assert checked == 3 + 3 + 2 + 2


def test_the_page_has_each_entry_once_with_its_number(arm):
    robot, found = arm
    values = formulas.term_values(robot, Q, QD, QDD)
    page = formulas.formulas(found, values)
    shown = re.findall(r'class="value">= ([^<]*)<', page)
    M, C, g = robot.mass_matrix(Q), robot.coriolis_matrix(Q, QD), robot.gravity_torque(Q)
    tau = robot.inverse_dynamics(Q, QD, QDD)
    expected = [M[0, 0], M[0, 1], M[1, 1], C[0, 0], C[0, 1], C[1, 0], *g, *tau]
    assert [float(x) for x in shown] == pytest.approx(expected, rel=1e-3)
    with_numbers = formulas.formulas(found, values, found.values(Q, QD, QDD))
    lines = page.count("<mo>=</mo>")
    assert with_numbers.count("<mo>=</mo>") == 2 * lines == 2 * len(expected)


def test_lines_end_between_the_terms_of_sums_and_of_long_brackets():
    inner = " + ".join(f"m_{{{k}}} k" for k in range(20))
    text = r"a + L_{1} \left(" + inner + r" - z\right) \cos{\left(b + c \right)} - d"
    formula = parse(text)
    pieces = formulas.wrap_formula(formula).split(" <math")
    assert len(pieces) == 1 + 1 + 19 + 1 + 1
    assert "cos" in pieces[-2], "the short bracket stays whole"

    def letters(mathml):
        return re.sub(r"<[^>]*>|\s", "", mathml)

    assert letters("<math".join(pieces)) == letters(element(formula))


def test_a_term_that_is_zero_says_so():
    robot = cr.load("pendulum").reference
    found = formulas.typeset(robot.equations())
    page = formulas.formulas(found, formulas.term_values(robot, np.zeros(1), np.zeros(1), np.zeros(1)))
    assert found.terms["C"] == ()
    assert '<div class="dim">zero</div>' in page


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("m_{1} L_{1}^{2}", "2·(-3)2"),
        (r"\frac{m_{1}}{L_{1}}", "2(-3)"),
        (r"\cos{\left(L_{1} \right)}", "cos(-3)"),
        (r"3 m_{1} + x", "3·2+x"),
        (r"x y", "xy"),
        (r"\sqrt{m_{1}}", "2"),
        (r"\left[\begin{matrix}m_{1} & x\end{matrix}\right]", "[2x]"),
    ],
)
def test_numbers_take_the_place_of_symbols(latex, expected):
    numbers = {parse("m_{1}"): 2.0, parse("L_{1}"): -3.0}
    text = element(formulas.put_numbers(parse(latex), numbers))
    assert re.sub(r"<[^>]*>|&#x2061;", "", text) == expected


def test_findings_are_text_on_the_page():
    finding = Finding("serious", "link '<script>'", "weighs <b>too</b> much", "Why & wherefore", "Do <i>it</i>")
    page = card(finding)
    for tag in ("<script>", "<b>too", "<i>"):
        assert tag not in page
    assert "link &#x27;&lt;script&gt;&#x27;" in page
    assert "Why &amp; wherefore." in page
    assert "1 serious, 0 suspicious, 0 to note" in headline(Diagnosis("arm", [finding]))
    assert "Nothing looks wrong" in headline(Diagnosis("arm", []))
    many = [Finding("note", f"joint '{i}'", "is") for i in range(61)]
    assert "The first 60 are listed" in headline(Diagnosis("arm", many))


def test_no_more_derivations_at_once_than_all_tabs_together_may_have(monkeypatch):
    monkeypatch.setattr("chainrule.studio.panels.equations._derivations", threading.BoundedSemaphore(1))
    begun, go_on, said = threading.Event(), threading.Event(), []

    def work(_):
        begun.set()
        go_on.wait()

    def tab(told):
        panel = EquationsPanel()
        panel._busy, panel._closed, panel._note = threading.Lock(), False, SimpleNamespace(content="")
        return panel, SimpleNamespace(say=told.append, guarded=lambda run, work: run)

    (first, mine), (second, other) = tab([]), tab(said)
    first._start(mine, work)
    begun.wait()
    second._start(other, work)
    assert said == ["2 other tabs derive equations just now; try again when they are done."]
    go_on.set()
    eventually(lambda: not first._busy.locked())
    second._start(other, work)
    eventually(lambda: not second._busy.locked())
    assert len(said) == 1


def test_the_page_says_that_its_changes_of_the_world_are_not_in_the_equations(arm):
    robot, found = arm
    panel = EquationsPanel()
    panel._is_asked = True
    panel._found, panel._with_numbers, panel._text = found, SimpleNamespace(value=False), SimpleNamespace(content="")
    for parameters, is_said in (({}, False), ({"gravity": np.array([0.0, 0.0, -1.62])}, True)):
        panel.update(SimpleNamespace(robot=robot, state=SimpleNamespace(q=Q, qd=QD, qdd=QDD, parameters=parameters)))
        assert ("without the gravity, payload and friction set on this page" in panel._text.content) is is_said
