"""Symbols of answers: common alphabets are read, what could be two things is refused, and no text is ever run."""

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import chainrule as cr
from chainrule.symbolic.answers.latex_reader import expression_from_latex

pytestmark = pytest.mark.interpreted

ALPHABETS = [
    "q_1 q_2 L_1 L_2 m_1 m_2 qdot_1 qdot_2",
    "theta_1 theta_2 l_1 l_2 m_1 m_2 thetadot_1 thetadot_2",
    "theta1 theta2 l1 l2 m1 m2 dtheta1 dtheta2",
    "q1 q2 L1 L2 m1 m2 dq1 dq2",
    "q1 q2 L1 L2 m1 m2 qd1 qd2",
    "θ_1 θ_2 l_1 l_2 m_1 m_2 θ̇_1 θ̇_2",
    "θ₁ θ₂ l₁ l₂ m₁ m₂ θ̇₁ θ̇₂",
    r"\theta_{1} \theta_{2} L_{1} L_{2} m_{1} m_{2} \dot{\theta}_{1} \dot{\theta}_{2}",
    "theta_1 theta_2 L_1 L_2 M1 M2 theta_dot_1 theta_dot_2",
    "theta_1 theta_2 L_1 L_2 m_1 m_2 theta1_dot theta2_dot",
]  # fmt: skip


@pytest.fixture(scope="module")
def planar():
    return cr.load("planar_2r").equations()


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_common_alphabets_are_read(planar, alphabet):
    q1, q2, L1, L2, m1, m2, v1, v2 = (sp.Symbol(name) for name in alphabet.split())
    c = sp.Matrix([-m2 * L1 * L2 * sp.sin(q2) * (2 * v1 * v2 + v2**2), m2 * L1 * L2 * v1**2 * sp.sin(q2)])
    g = sp.Symbol("g")
    gravity = [(m1 + m2) * L1 * g * sp.cos(q1) + m2 * g * L2 * sp.cos(q1 + q2), m2 * g * L2 * sp.cos(q1 + q2)]
    assert planar.check("c", c)
    assert planar.check("g", gravity)
    assert not planar.check("c", -c)


def test_functions_of_time_are_read(planar):
    q2 = dynamicsymbols("q_2")
    v1, v2 = dynamicsymbols("q_1 q_2", 1)
    m2, L1, L2 = sp.symbols("m_2 L_1 L_2")
    c = sp.Matrix([-m2 * L1 * L2 * sp.sin(q2) * (2 * v1 * v2 + v2**2), m2 * L1 * L2 * v1**2 * sp.sin(q2)])
    assert planar.check("c", c)


def test_short_cosines_and_sines_are_read():
    J = r"\begin{bmatrix} -l_1 s_1 - l_2 s_{12} & -l_2 s_{12} \\ l_1 c_1 + l_2 c_{12} & l_2 c_{12} \end{bmatrix}"
    equations = cr.load("planar_2r").kinematic_equations()
    answer = equations.check("J", J, rows=[3, 4])
    assert answer
    assert ("c_12", "cos(q_1 + q_2)") in answer.readings
    c1, s12 = sp.symbols("c1 s12")
    l1, l2 = sp.symbols("l1 l2")
    assert equations.check("position", [l1 * c1 + l2 * sp.Symbol("c12"), l1 * sp.Symbol("s1") + l2 * s12, 0])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (sp.Symbol("a") * sp.cos(sp.Symbol("q_1")), "no symbol 'a'"),
        (sp.Symbol("l_1") + sp.Symbol("L_1"), "both be L_1"),
        (sp.Symbol("m") * 2, "may be m_1 or m_2"),
        (sp.Symbol("c_3"), "joint 3 is not there"),
        (sp.Function("f")(sp.Symbol("q_1"), 2), "which is not compared"),
        (sp.Integral(sp.Symbol("q_1")), "which is not compared"),
        (sp.Symbol("q_1") ** sp.Symbol("q_2"), "a power in it that is no number"),
        (sp.oo, "not compared"),
    ],
)
def test_what_has_no_one_meaning_is_refused(planar, answer, words):
    with pytest.raises(cr.ChainruleError, match=words):
        planar.check("g", [answer, 0])


def test_a_symbol_of_ones_own_is_told(planar):
    a, b, t1, t2, m1, m2, g = sp.symbols("a b theta_1 theta_2 m1 m2 g")
    mine = [(m1 + m2) * a * g * sp.cos(t1) + m2 * g * b * sp.cos(t1 + t2), m2 * g * b * sp.cos(t1 + t2)]
    assert planar.check("g", mine, symbols={"a": "L_1", b: planar.symbols["L_2"]})
    with pytest.raises(cr.ChainruleError, match="names 'x'"):
        planar.check("g", mine, symbols={"a": "L_1", "b": "L_2", "x": "m_1"})


def test_an_angle_with_an_offset_is_not_guessed():
    arm = cr.Robot.from_dh([{"a": 0.3, "alpha": 0.0, "d": 0.0, "theta": 0.2}], convention="standard", check=False)
    equations = arm.kinematic_equations()
    with pytest.raises(cr.ChainruleError, match=r"q_1 or q_1 \+ theta_01"):
        equations.check("position", [sp.cos(sp.Symbol("theta_1")), 0, 0])


def test_c_12_of_a_robot_with_twelve_joints_is_not_guessed():
    chain = cr.Robot.from_dh(
        [{"a": 0.1, "alpha": 0.0, "d": 0.0, "theta": 0.0}] * 12, convention="standard", check=False
    )
    with pytest.raises(cr.ChainruleError, match="of joint 12 or of joints 1, 2"):
        chain.kinematic_equations().check("position", [sp.Symbol("c_12"), 0, 0])


def test_shapes_are_told(planar):
    with pytest.raises(cr.ChainruleError, match="2 by 2; the answer is one expression"):
        planar.check("M", sp.Symbol("m_1"))
    with pytest.raises(cr.ChainruleError, match="the other way round"):
        planar.check("g", sp.Matrix([[1, 2]]))
    with pytest.raises(cr.ChainruleError, match="rows="):
        cr.load("planar_2r").kinematic_equations().check("J", sp.eye(2))
    with pytest.raises(cr.ChainruleError, match="no term named 'N'"):
        planar.check("N", 1)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\frac12 m_1 \dot\theta_1^2", "m_1*thetadot_1**2/2"),
        (r"\tfrac{1}{2} I_{zz1} \ddot{q}_{1}", "I_zz1*qddot_1/2"),
        (r"-m_2 L_1 \sin \theta_2 (2\dot{\theta}_1 \dot{\theta}_2)", "-2*L_1*m_2*thetadot_1*thetadot_2*sin(theta_2)"),
        (r"\cos^2\!\left(2\theta_1\right)", "cos(2*theta_1)**2"),
        (r"\cos 2\theta_1", "cos(2*theta_1)"),
        (r"a / b c", "a*c/b"),
        (r"2 \cdot 3 x - - y", "6*x + y"),
        (r"(x + 1)^2", "(x + 1)**2"),
        (r"\sqrt{x} \boldsymbol{\theta}_1 \pi", "pi*theta_1*sqrt(x)"),
        (r"$$ l1 s12 $$", "l_1*s_12"),
    ],
)
def test_latex_of_textbooks_is_read(latex, expected):
    assert str(expression_from_latex(latex)) == expected


@pytest.mark.parametrize(
    "text",
    [
        r"x^{9^9}", r"((9^{12})^{12})^{12}", "{" * 3000, r"\frac{1}{0}", r"\input{/etc/passwd}", r"\write18{ls}", "a = b",
        "(a", "a)", r"\sin", "9" * 5000, r"\sin^{-1} x", r"\dot" * 3000 + "a", "_" * 900, "a^2^3", "x^23", "",
        r"\cos(x)^2", "__import__('os')", "x" * 300_000, r"\begin{bmatrix} a & b \\ c \end{bmatrix}", "a +",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_and_nothing_runs(text):
    with pytest.raises(cr.ChainruleError):
        expression_from_latex(text)


def test_nested_answers_do_not_end_the_interpreter(planar):
    deep = sp.Symbol("q_1")
    for _ in range(120):
        deep = sp.sin(deep, evaluate=False)
    with pytest.raises(cr.ChainruleError):
        planar.check("g", [deep**2 + deep, sp.Symbol("nothing")])
