"""A free pair in symbols: the equations of the lecture, and the motion of two links that float."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.errors import ModelError

pytestmark = pytest.mark.interpreted


def floating(axis="revolute"):
    """Two links that nothing holds, and the same two on a joint of a robot with a base."""
    links = (
        {"mass": 2.0, "com": (0.1, 0, 0.05), "inertia": (0.02, 0.03, 0.04)},
        {"mass": 1.0, "com": (0.3, 0, 0), "inertia": (0.001, 0.01, 0.01)},
    )

    def built(builder):
        joined = builder.link("parent", **links[0])
        options = {"xyz": (0.4, 0.1, 0), "axis": "y"}
        child = getattr(joined, axis)("hinge", **options)
        return child.link("child", **links[1]).gravity((0, 0, 0)).robot().reference

    return built(cr.build().free("free")), built(cr.build().revolute("held"))


@pytest.mark.parametrize("axis", ["revolute", "prismatic"])
def test_solved_it_is_the_motion_of_two_links_that_float(axis):
    free, held = floating(axis)
    pair = held.textbook.parent_child("child")
    rng = np.random.default_rng(6)
    V, (angle, rate), tau = rng.normal(size=6), rng.uniform(0.1, 0.8, 2), 0.7
    external = rng.normal(size=(2, 6))
    values = dict(pair.symbolic.parameters)
    values |= {pair.symbolic.q[1]: angle, pair.symbolic.qd[1]: rate, pair.tau[0]: tau}
    values |= dict(zip([*pair.V_p, *pair.external[0], *pair.external[1]], [*V, *external.ravel()], strict=True))
    matrix, rhs = (np.array(sp.Matrix(m).subs(values).evalf(), dtype=float) for m in (pair.matrix, pair.rhs))
    found = np.linalg.solve(matrix, rhs.ravel())
    q = np.array([*free.neutral()[:7], angle])
    qd, effort = np.array([*V, rate]), np.array([*np.zeros(6), tau])
    acting = dict(zip(("parent", "child"), external, strict=True))
    qdd = free.forward_dynamics(q, qd, effort, external=acting, frame="body")
    assert_allclose(found[[*range(6), 18]], qdd, rtol=1e-9, atol=1e-9)
    W = free.joint_wrenches(q, qd, qdd, external=acting, frame="body")[1]
    assert_allclose(found[12:18], W, rtol=1e-9, atol=1e-9)
    V_c = np.array(sp.Matrix(pair.V_c).subs(values).evalf(), dtype=float).ravel()
    assert_allclose(V_c, free.velocities(q, qd, frame="body")[2], atol=1e-12)
    H = np.array(sp.Matrix(pair.H).subs(values).evalf(), dtype=float)
    assert_allclose(H, free.pose(q, "child", relative_to="parent"), atol=1e-12)
    reaction = np.array(sp.Matrix(pair.reaction).subs(dict(zip(pair.W, W, strict=True))).subs(values), dtype=float)
    assert_allclose(reaction.ravel(), -np.array(sp.Matrix(pair.Ad).subs(values), dtype=float).T @ W, atol=1e-9)


def test_the_equations_of_the_lecture():
    """V_c = Ad V_p + S qdot, tau = S^T W, and the matrix in its blocks."""
    pair = cr.load("planar_2r").textbook.parent_child("link2")
    q, rate = sp.Symbol("q_2", real=True), sp.Symbol("qdot_2", real=True)
    L = sp.Symbol("L_1", positive=True)
    R = sp.Matrix([[sp.cos(q), sp.sin(q), 0], [-sp.sin(q), sp.cos(q), 0], [0, 0, 1]])
    p = sp.Matrix([[0, 0, 0], [0, 0, -L], [0, L, 0]])
    Ad = sp.Matrix(sp.BlockMatrix([[R, sp.zeros(3)], [-R * p, R]]))
    S = sp.Matrix([0, 0, 1, 0, 0, 0])
    assert sp.simplify(sp.Matrix(pair.Ad) - Ad) == sp.zeros(6, 6)
    assert sp.simplify(sp.Matrix(pair.V_c) - Ad * sp.Matrix(pair.V_p) - S * rate) == sp.zeros(6, 1)
    assert list(pair.torque) == [sp.Symbol("W_mz", real=True)]
    assert sp.simplify(sp.Matrix(pair.reaction) + Ad.T * sp.Matrix(pair.W)) == sp.zeros(6, 1)
    assert pair.matrix[:6, :6] == pair.I_p
    assert pair.matrix[6:12, 12:18] == -sp.eye(6)
    assert "W + E_c" in str(pair)
    assert repr(pair) == "<The free pair of 'link1' and 'link2' in symbols: 19 unknowns>"
    assert cr.load("planar_2r").textbook.parent_child().index == 2


@pytest.mark.parametrize(("robot", "link"), [("planar_2r", "link1"), ("planar_2r", "base"), ("pendulum", None)])
def test_a_link_on_the_base_is_refused_with_advice(robot, link):
    with pytest.raises(ModelError, match=r"parent_child: .* no free pair; (name one of 'link2'|take a robot)"):
        cr.load(robot).textbook.parent_child(link)
