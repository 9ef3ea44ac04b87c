"""A rigid body in numbers and in symbols: other points and axes, wrenches, accelerations, against formulas of textbooks."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.spatial import Rotation, Transform, Vector

pytestmark = pytest.mark.interpreted

I_B = np.array([[2.0, -0.3, 0.1], [-0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])
COM = np.array([0.1, -0.2, 0.3])
V, A = np.array([1.0, 2.0, -0.5, 0.3, 0.0, 0.4]), np.array([0.2, -1.0, 0.5, 1.0, 0.5, 0.0])
m, q_x, q_y, q_z, phi = sp.symbols("m q_x q_y q_z phi", real=True)
MOMENTS = sp.symbols("I_xx I_yy I_zz", positive=True)


def body(com=COM):
    return cr.rigid_body(2.0, com, I_B)


def skew(p):
    x, y, z = p
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def motion_of_points(points, V, A):
    """Velocities and accelerations by the formula of the slides, point by point."""
    w, v, alpha, a = V[:3], V[3:], A[:3], A[3:]
    velocities = [v + np.cross(w, p) for p in points]
    accelerations = [a + np.cross(alpha, p) + np.cross(w, v + np.cross(w, p)) for p in points]
    return np.array(velocities), np.array(accelerations)


def test_steiners_theorem_is_that_of_a_cloud_of_points():
    points = np.random.default_rng(1).normal(size=(6, 3))
    cloud = sum((cr.rigid_body(0.5, p) for p in points[1:]), cr.rigid_body(0.5, points[0]))
    for q in (np.zeros(3), [0.3, -1.0, 0.2], cloud.com):
        expected = -sum(0.5 * skew(p - q) @ skew(p - q) for p in points)
        assert_allclose(cloud.about(q), expected, atol=1e-12)
    assert_allclose(cloud.about(cloud.com), cloud.inertia, atol=1e-12)


def test_steiners_theorem_in_symbols_as_it_is_written():
    at_center = cr.rigid_body(m, inertia=MOMENTS)
    q = sp.Matrix([q_x, q_y, q_z])
    expected = sp.diag(*MOMENTS) + m * (q.dot(q) * sp.eye(3) - q * q.T)
    assert sp.simplify(at_center.about((q_x, q_y, q_z)) - expected) == sp.zeros(3, 3)
    assert at_center.about((0, 0, 0)) == sp.diag(*MOMENTS)


def test_other_axes_keep_the_energy():
    R = np.asarray(Rotation.from_rpy(0.3, -0.2, 0.5))
    turned = body().rotated(R)
    assert_allclose(turned.inertia, R @ I_B @ R.T, atol=1e-14)
    assert_allclose(turned.com, R @ COM, atol=1e-14)
    assert_allclose(turned.kinetic_energy([*(R @ V[:3]), *(R @ V[3:])]), body().kinetic_energy(V))
    box = cr.rigid_body(1.0, shape="box", size=(0.1, 0.2, 0.3)).rotated(R)
    assert_allclose(np.asarray(box.shapes[0][1].rotation), R)


def test_other_axes_in_symbols():
    R = sp.Matrix(Rotation.about(Vector(0, 0, 1), phi))
    turned = cr.rigid_body(m, (q_x, 0, 0), MOMENTS).rotated(R)
    assert sp.simplify(turned.inertia - R * sp.diag(*MOMENTS) * R.T) == sp.zeros(3, 3)
    assert turned.com == R * sp.Matrix([q_x, 0, 0])


def test_principal_axes_diagonalize_the_inertia():
    moments, R = body().principal()
    assert_allclose(R.T @ I_B @ R, np.diag(moments), atol=1e-14)
    assert_allclose(moments, np.linalg.eigvalsh(I_B))
    assert np.linalg.det(R) == pytest.approx(1.0)


def test_principal_axes_in_symbols_are_mohrs_circle():
    product = sp.Symbol("P", real=True)
    for place in range(3):
        products = [0, 0, 0]
        products[place] = product
        found = cr.rigid_body(m, inertia=(*MOMENTS, *products))
        moments, R = found.principal()
        numbers = dict(zip((*MOMENTS, product), (2.0, 1.5, 1.0, -0.3), strict=True))
        R, I = (np.array(x.subs(numbers), dtype=float) for x in (R, found.inertia))
        assert_allclose(R.T @ I @ R, np.diag([float(x.subs(numbers)) for x in moments]), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1.0)
    diagonal = cr.rigid_body(m, inertia=MOMENTS).principal()
    assert tuple(diagonal.moments) == MOMENTS
    assert sp.eye(3) == diagonal.R


def test_the_wrench_is_the_sum_over_the_points():
    points, masses = np.random.default_rng(2).normal(size=(5, 3)), np.arange(1.0, 6.0)
    first, *others = (cr.rigid_body(x, p) for x, p in zip(masses, points, strict=True))
    cloud = sum(others, first)
    velocities, accelerations = motion_of_points(points, V, A)
    f = masses[:, None] * accelerations
    assert_allclose(cloud.wrench(V, A), [*np.cross(points, f).sum(axis=0), *f.sum(axis=0)], atol=1e-11)
    assert_allclose(cloud.velocity_of(points, V), velocities)
    assert_allclose(cloud.acceleration_of(points, V, A), accelerations)
    assert cloud.kinetic_energy(V) == pytest.approx((masses * (velocities**2).sum(axis=1)).sum() / 2)
    p = masses[:, None] * velocities
    assert_allclose(cloud.momentum(V), [*np.cross(points, p).sum(axis=0), *p.sum(axis=0)], atol=1e-12)
    assert_allclose(cloud.acceleration(V, cloud.wrench(V, A)), A, atol=1e-10)


def test_newtons_and_eulers_equations_in_symbols():
    w, v, alpha, a = (sp.Matrix(sp.symbols(f"{letter}_x:z", real=True)) for letter in ("w", "v", "alpha", "a"))
    c, I = sp.Matrix([q_x, q_y, q_z]), sp.diag(*MOMENTS)
    found = cr.rigid_body(m, c, MOMENTS).wrench([*w, *v], [*alpha, *a])
    force = m * (a + w.cross(v) + alpha.cross(c) + w.cross(w.cross(c)))
    moment = I * alpha + w.cross(I * w) + c.cross(force)
    assert (sp.Matrix([*moment, *force]) - found).expand() == sp.zeros(6, 1)
    assert cr.rigid_body(m).acceleration_of((q_x, 0, 0), [0, 0, phi, 0, 0, 0])[0] == -(phi**2) * q_x


def test_the_wrench_is_that_of_a_robot_that_floats():
    floating = cr.build().free("free").link("box", body()).gravity((0, 0, 0)).robot().reference
    assert_allclose(floating.inverse_dynamics(floating.neutral(), V, A), body().wrench(V, A), atol=1e-12)
    assert_allclose(floating.forward_dynamics(floating.neutral(), V, A), body().acceleration(V, A), atol=1e-12)


def test_batches_broadcast():
    many = np.random.default_rng(3).normal(size=(4, 1, 6))
    found = body().wrench(many, np.stack([A, 2 * A]))
    assert found.shape == (4, 2, 6)
    assert_allclose(found[2, 1], body().wrench(many[2, 0], 2 * A))
    assert body().about(np.zeros((5, 3))).shape == (5, 3, 3)


def test_shapes_in_symbols_have_the_formulas_of_the_slides():
    l, w, h, r, rho, x = sp.symbols("l w h r rho x", positive=True)
    box = cr.rigid_body(m, shape="box", size=(l, w, h), xyz=(x, 0, 0))
    assert sp.expand(box.inertia[0, 0] - m * (w**2 + h**2) / 12) == 0
    assert sp.expand(box.about((0, 0, 0))[2, 2] - m * (l**2 + w**2) / 12 - m * x**2) == 0
    rod = cr.rigid_body(density=rho, shape="cylinder", radius=r, length=h)
    assert sp.simplify(rod.mass - rho * sp.pi * r**2 * h) == 0
    both = box + cr.rigid_body(2 * m)
    assert sp.simplify(both.com[0] - x / 3) == 0
    assert both.mass == 3 * m
    turned = cr.rigid_body(m, shape="rod", length=l, origin=Transform.from_xyz_rpy((0, x, 0), (0, phi, 0)))
    assert sp.simplify(turned.inertia[0, 0] - m * l**2 * sp.cos(phi) ** 2 / 12) == 0


def test_numbers_in_place_of_symbols_make_the_body_of_those_numbers():
    symbolic = cr.rigid_body(m, (q_x, 0, 0), MOMENTS)
    assert [s.name for s in symbolic.symbols] == ["I_xx", "I_yy", "I_zz", "m", "q_x"]
    numbers = symbolic.subs({"m": 2.0, q_x: 0.1, "I_xx": 0.1, "I_yy": 0.2, "I_zz": 0.25})
    same = cr.rigid_body(2.0, (0.1, 0, 0), (0.1, 0.2, 0.25))
    assert_allclose(numbers.wrench(V, A), same.wrench(V, A))
    assert numbers.symbols == ()
    assert isinstance(numbers.mass, float)
    assert repr(numbers) == repr(same)
    assert repr(symbolic) == "<RigidBody: m kg at (q_x, 0, 0) m, inertia xx, yy, zz (I_xx, I_yy, I_zz) kg m^2>"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: body().about((1.0, 2.0)), "RigidBody.about: point must have 3 numbers"),
        (lambda: body().about((q_x, 0)), "RigidBody.about: point must have 3 entries"),
        (lambda: body().rotated(np.ones((3, 3))), "RigidBody.rotated: R .* off by 3 from orthogonal"),
        (lambda: body().rotated(np.diag([1.0, 1.0, -1.0])), "RigidBody.rotated: R .* mirrors"),
        (lambda: body().rotated([[phi, 0, 0], [0, 1, 0], [0, 0, 1]]), "R must be a rotation matrix, whose columns"),
        (lambda: body().rotated(np.eye(4)), "R must be a rotation matrix of shape"),
        (lambda: body().wrench(V[:3]), "RigidBody.wrench: V must have 6 numbers"),
        (lambda: body().wrench(np.ones((3, 6)), np.ones((2, 6))), "RigidBody.wrench: .* do not fit together"),
        (lambda: cr.rigid_body(1.0).acceleration(V), "no acceleration that follows from a wrench; give it"),
        (lambda: cr.rigid_body(m, inertia=(1, 2, 3, m, m, 0)).principal(), "I_xy and I_xz are not zero.*body.subs"),
        (lambda: cr.rigid_body(m).subs({"M": 1.0}), "no symbol named 'M'; .*'m'"),
        (lambda: cr.rigid_body(m, inertia=MOMENTS).subs({"m": -1.0, "I_xx": 1, "I_yy": 1, "I_zz": 1}), "negative mass"),
        (lambda: cr.rigid_body(-1.0, inertia=MOMENTS), "rigid_body: the body has a negative mass"),
        (lambda: cr.rigid_body(m, inertia=[[1, m, 0], [0, 1, 0], [0, 0, 1]]), "inertia must be a symmetric matrix"),
        (lambda: cr.rigid_body(m, inertia=(m, m)), "inertia must have 9 entries"),
        (lambda: cr.rigid_body(sp.Matrix([m]), inertia=(1, 1, 1)), "mass must be one expression"),
        (lambda: cr.rigid_body(m, shape="box", size=(m, m)), "rigid_body: size must have 3 entries"),
        (lambda: cr.rigid_body(m, shape="box", radius=m), "a box takes size, and size is missing"),
        (lambda: cr.rigid_body(m, xyz=(q_x, 0, 0), degrees=True, rpy=(0, 0, 90)), "angles in symbols are in rad"),
        (lambda: cr.rigid_body(m, xyz=(q_x, 0, 0), origin=np.eye(4)), "give either origin, or xyz and rpy"),
        (lambda: cr.build().revolute("j").link("l", cr.rigid_body(m)), "the body has the symbols 'm'.*body.subs"),
    ],
)  # fmt: skip
def test_wrong_arguments_say_what_to_do(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call()
