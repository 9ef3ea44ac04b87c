"""Newton and Euler in numbers: what is put in gives what comes out, for robots of any size."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.symbolic.answers.latex_reader import expression_from_latex
from chainrule.symbolic.derivations.worked_newton_euler import work
from chainrule.symbolic.documents.blocks import Equation, Formula

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", "puma560", "stanford", "panda"])
def test_the_numbers_put_in_give_the_result(name):
    """Forces are read from the document and multiplied here; the rest is compared with the robot's own table."""
    robot = cr.load(name)
    document = robot.derivation("newton-euler-numbers")
    forces = [block for block in document.blocks if isinstance(block, Equation) and _name(block).startswith("F_")]
    assert len(forces) == len(robot.textbook.newton_euler_table(robot.home()).links)
    for block in forces:
        put_in, result = (np.array(expression_from_latex(side.latex.replace(r"\cdot 10", "10")).tolist(), dtype=float)
                          for side in block.sides[2:])  # fmt: skip
        np.testing.assert_allclose(put_in, result, rtol=2e-4, atol=1e-9)


def _name(block):
    return block.sides[0].latex if isinstance(block.sides[0], Formula) else ""


def test_a_planar_arm_is_worked_as_on_paper():
    robot = cr.load("planar_2r")
    state = tuple(np.array(x) for x in ([0.3, 0.6], [1.0, 2.0], [0.5, -0.5]))
    links = work(robot, state)
    np.testing.assert_allclose(links[1].steps["omega"].value, [0, 0, 3.0])
    up = np.array([9.81 * np.sin(0.3), 9.81 * np.cos(0.3), 0])  # -g in the axes of link 1
    np.testing.assert_allclose(links[0].steps["v_dot_com"].value, up + np.array([-1.0, 0.5, 0]), atol=1e-12)
    text = robot.derivation("newton-euler-numbers", state=state).text()
    assert "F₁ = m₁ v̇_C1 = 1 [1.8991; 9.8719; 0] = [1.8991; 9.8719; 0]" in text


def test_the_derivation_in_symbols_shows_the_numbers_put_in():
    text = cr.load("planar_2r").derivation("newton-euler").text()
    assert text.count("With the numbers of the sample state put in:") == 4
    loaded = cr.load("planar_2r").derivation("newton-euler", tip_wrench=True)
    assert "With the numbers" in loaded.text()


def test_the_six_links_of_a_puma_are_worked_in_the_letters_of_craig():
    puma = cr.load("puma560_craig")
    document = puma.derivation("newton-euler-numbers", notation="craig", coordinates="theta")
    names = [_name(block) for block in document.blocks if isinstance(block, Equation)]
    for i in range(1, 7):
        parts = (rf"\omega_{{{i}}}", rf"\dot{{\omega}}_{{{i}}}", rf"\dot{{v}}_{{{i}}}", rf"\dot{{v}}_{{C{i}}}", f"F_{{{i}}}", f"N_{{{i}}}", f"f_{{{i}}}", f"n_{{{i}}}")  # fmt: skip
        assert all(names.count(f"{{}}^{{{i}}}{part}") == 1 for part in parts)
    assert any(r"\ddot{\theta}_{3}" in side.latex for block in document.blocks if isinstance(block, Equation) for side in block.sides if isinstance(side, Formula))  # fmt: skip
    with pytest.raises(cr.ChainruleError, match="no figures"):
        puma.derivation("newton-euler-numbers", figures=True)
    with pytest.raises(cr.ChainruleError, match="notation"):
        puma.derivation("newton-euler-numbers", notation="kraig")


def test_what_it_does_not_take_is_refused():
    with pytest.raises(cr.ChainruleError, match="no symbols"):
        cr.load("planar_2r").derivation("newton-euler-numbers", parameters="numeric")
    with pytest.raises(cr.ChainruleError, match="without wrenches"):
        cr.load("planar_2r").derivation("newton-euler-numbers", tip_wrench=True)
    with pytest.raises(cr.ChainruleError, match="loops"):
        cr.load("slider_crank").derivation("newton-euler-numbers")
