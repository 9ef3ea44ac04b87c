"""Spatial objects from lists and arrays, as arrays of NumPy, and in exact numbers and symbols."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.spatial import (
    Inertia,
    Matrix,
    Quaternion,
    Rotation,
    Symmetric,
    Transform,
    Twist,
    Vector,
    Wrench,
    scalar,
    shapes,
)

q, L, a = sp.symbols("q L a")
T = Transform.from_xyz_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
BODY = Inertia.from_com(2.0, [0.1, 0.2, 0.3], np.diag([1.0, 2.0, 2.5]))


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (Vector(1, 2, 3), [1.0, 2.0, 3.0]),
        (Matrix([1, 2, 3], (4, 5, 6), np.array([7, 8, 9])), [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        (Symmetric(1, 2, 3, 4, 5, 6), [[1, 4, 5], [4, 2, 6], [5, 6, 3]]),
        (Quaternion.of([0, 0, 0, 1]), [0, 0, 0, 1]),
        (Twist([1, 2, 3], np.array([4.0, 5.0, 6.0])), [1, 2, 3, 4, 5, 6]),
        (Wrench.of(np.arange(6)), np.arange(6)),
        (Transform(np.eye(3), [1, 2, 3]), [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]),
        (T, T.rows()),
        (BODY, BODY.matrix()),
        (cr.Screw.revolute([0, 0, 1], [2, 0, 0]), [0, 0, 1, 0, -2, 0]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_numpy_sees_an_array_of_floats(thing, expected):
    array = np.asarray(thing)
    assert array.dtype == np.float64
    assert_allclose(array, np.asarray(expected, dtype=float))
    assert np.asarray(thing, dtype=np.float32).dtype == np.float32
    assert np.array(thing, copy=True).shape == array.shape
    with pytest.raises(ValueError, match="holds scalars, not an array"):
        np.asarray(thing, copy=False)


@pytest.mark.parametrize("kind", [Vector, Quaternion, Twist, Wrench, Matrix, Rotation, Symmetric, Transform])
def test_what_numpy_saw_makes_the_object_again(kind):
    things = [
        Vector(1.0, 2.0, 3.0),
        Quaternion(0.5, 0.5, 0.5, 0.5),
        Twist.of(range(6)),
        Wrench.of(range(6)),
        T,
        BODY.inertia,
    ]
    things += [T.rotation, Matrix.of(T.rotation)]
    thing = next(x for x in things if type(x) is kind)
    assert kind.of(np.asarray(thing)) == thing
    assert kind.of(np.asarray(thing).tolist()) == thing


def test_a_list_of_vectors_is_an_array_and_functions_of_numpy_take_them():
    assert np.array([Vector(1, 2, 3), Vector(4, 5, 6)]).shape == (2, 3)
    assert np.linalg.norm(Vector(3, 4, 0)) == 5.0
    assert cr.load("planar_2r").with_payload(1.0, Vector(0.1, 0.0, 0.0)).mass == 3.0
    S = [cr.Screw.revolute((0, 0, 1)), cr.Screw.revolute((0, 0, 1), (1, 0, 0))]
    arm = cr.Robot.from_screws(home=Transform(np.eye(3), [2, 0, 0]), screws=np.column_stack(S), check=False)
    assert_allclose(arm.pose([np.pi / 2, 0.0])[:3, 3], [0, 2, 0], atol=1e-12)


def test_scalars_that_are_batches_lead_in_the_shape():
    angles = np.linspace(0.0, 1.0, 5)
    batch = np.asarray(Transform(Rotation.about([0, 0, 1], angles), [0, 0, 0]))
    assert batch.shape == (5, 4, 4)
    assert_allclose(batch[3], np.asarray(Transform(Rotation.about([0, 0, 1], angles[3]), [0, 0, 0])))


def test_symbols_become_objects():
    array = np.asarray(cr.Screw.revolute([0, 0, 1], [L, 0, 0]).exp(q))
    assert array.dtype == object
    assert array[0, 3] == L - L * sp.cos(q)
    with pytest.raises(TypeError, match="Cannot convert expression to float"):
        np.asarray(Vector(q, 0, 0), dtype=float)


@pytest.mark.parametrize(
    "operation",
    [
        lambda: np.eye(3) @ Vector(1, 2, 3),
        lambda: np.ones(3) * Vector(1, 2, 3),
        lambda: np.ones(3) + Vector(1, 2, 3),
        lambda: np.eye(4) @ T,
        lambda: T @ np.eye(4),
        lambda: T.inv * np.ones(3),
        lambda: T * 2,
        lambda: Twist.of(range(6)) + np.ones(6),
        lambda: np.ones(6) - Wrench.of(range(6)),
        lambda: np.ones((6, 6)) @ BODY,
    ],
)  # fmt: skip
def test_arithmetic_with_arrays_is_refused_rather_than_guessed(operation):
    with pytest.raises(TypeError):
        operation()


def test_wrong_numbers_are_named():
    with pytest.raises(cr.ShapeError, match="a Vector takes 3 numbers, got 2"):
        Vector.of([1, 2])
    with pytest.raises(cr.ShapeError, match="a Twist takes 6 numbers, got 3"):
        Twist.of([1, 2, 3])
    with pytest.raises(cr.ShapeError, match="a Vector takes numbers in a list or array, got 'continuous'"):
        cr.Screw.revolute([0, 0, 1], "continuous")
    with pytest.raises(cr.ShapeError, match="a Vector takes numbers in a list or array, got 0"):
        cr.Screw.helical([0, 0, 1], 0, 1.0)
    with pytest.raises(cr.ShapeError, match="4 of which the last is 0 0 0 1"):
        Transform.of(np.asarray(T).T)
    with pytest.raises(TypeError, match="say which of them the numbers are"):
        T * [1, 2, 3]


# --- screws ---


def test_screws_from_an_axis_and_a_point():
    turn, slide = cr.Screw.revolute([0, 0, 1], [1, 2, 3]), cr.Screw.prismatic([0, 1, 0])
    drill = cr.Screw.helical([0, 0, 1], [1, 2, 3], 0.5)
    assert np.asarray(slide).tolist() == [0, 0, 0, 0, 1, 0]
    assert_allclose(np.asarray(turn.exp(0.7) * Vector(1, 2, 5)), [1, 2, 5], atol=1e-12)  # points of the axis stay
    assert_allclose(np.asarray(drill.exp(0.7) * Vector(1, 2, 5)), [1, 2, 5.35], atol=1e-12)
    for screw in (turn, slide, drill):
        assert_allclose(np.asarray(screw.exp(0.7)), np.asarray(Transform.exp(screw.motion * 0.7)), atol=1e-12)


def test_velocity_of_a_point():
    V = Twist([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    h = 1e-6
    p = Vector(0.5, -0.4, 0.3)
    moved = (np.asarray(Transform.exp(V * h) * p) - np.asarray(Transform.exp(V * -h) * p)) / (2 * h)
    assert_allclose(np.asarray(V.velocity_of([0.5, -0.4, 0.3])), moved, rtol=1e-8)
    assert V.velocity_of([0, 0, 0]) == V.linear


# --- symbols and exact numbers ---


def piecewise_free(T):
    return not any(x.has(sp.Piecewise) for x in sp.Matrix(np.asarray(T)))


@pytest.mark.parametrize(
    "w",
    [(0, 0, q), (-q, 0, 0), (sp.Rational(3, 5) * q, 0, sp.Rational(4, 5) * q), (sp.cos(a) * q, sp.sin(a) * q, 0), (2 * q, q, -2 * q)],
    ids=str,
)  # fmt: skip
def test_exp_of_a_constant_axis_is_in_sine_and_cosine(w):
    S = Twist(w, [q * L, 2 * q, 3 * q])
    exact = Transform.exp(S)
    assert piecewise_free(exact)
    for angle in (0.0, 1e-3, -2.0):
        numbers = {q: angle, L: 0.7, a: 0.4}
        at = Transform.exp(Twist.of([float(sp.sympify(x).subs(numbers)) for x in S]))
        values = np.array(sp.Matrix(np.asarray(exact)).subs(numbers), dtype=float)
        assert_allclose(values, np.asarray(at), atol=1e-12)


def test_exp_of_three_unrelated_symbols_is_right_at_zero_too():
    w = sp.symbols("x:3")
    R = sp.Matrix(np.asarray(Rotation.exp(Vector(*w))))
    assert R.subs(dict.fromkeys(w, 0)) == sp.eye(3)
    numbers = dict(zip(w, (0.3, -0.4, 0.5), strict=True))
    assert_allclose(
        np.array(R.subs(numbers), dtype=float), np.asarray(Rotation.exp(Vector(0.3, -0.4, 0.5))), atol=1e-12
    )
    slow = Transform.exp(Twist([0, 0, q], [L, 0, 0])).translation  # L is no multiple of q
    assert slow.x.subs({q: 0}) == L


def test_exact_numbers_stay_exact():
    half_turn = Transform.exp(Twist([0, 0, sp.pi], [0, 0, sp.Rational(1, 3)]))
    assert sp.Matrix(np.asarray(half_turn)) == sp.Matrix(
        [[-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 1, sp.Rational(1, 3)], [0, 0, 0, 1]]
    )
    third = Fraction(1, 3)
    place = Transform.from_xyz_rpy((third, 0, 1))
    body = place * Inertia.from_com(third, Vector(0, third, 0), Symmetric(third, third, third))
    entries = [x for row in body.matrix() for x in row] + [x for row in place.rows() for x in row]
    assert all(isinstance(x, (int, Fraction)) for x in entries)
    assert body.inertia.zz == third + third * (third**2 + third**2)
    assert body.com == Vector(third, third, 1)
    assert shapes.box(third, 1, 1, 1).inertia.xx == Fraction(1, 18)
    assert cr.Screw.revolute([0, 0, 1], [1, 0, 0]).exp(sp.pi / 2).translation == Vector(1, -1, 0)
    assert (Rotation.exp(Vector(third * 0, 0, 0)) * Vector(third, 0, 0)).x == third
    assert Vector(Fraction(3, 2), 2, 0).norm() == Fraction(5, 2)
    assert isinstance(Vector(3, 4, 0).norm(), int)


def test_what_no_fraction_can_be_is_refused_not_rounded():
    for function in (scalar.sin, scalar.cos, scalar.sqrt):
        with pytest.raises(TypeError, match=r"\(1/2\) is no fraction; take float"):
            function(Fraction(1, 2))
    with pytest.raises(TypeError, match="atan2"):
        scalar.atan2(Fraction(1, 2), Fraction(1))
    assert scalar.atan2(Fraction(0), Fraction(1)) == 0


# --- inertia by density ---


CUBE = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)]
TRIANGLES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
    (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def test_inertia_by_density():
    assert shapes.by_density(500.0, shapes.sphere, 0.1).mass == pytest.approx(500 * 4 / 3 * np.pi * 0.1**3)
    assert shapes.by_density(7.0, shapes.cone, radius=1.0, height=3.0).mass == pytest.approx(7 * np.pi)
    solid = shapes.by_density(2.0, shapes.mesh, CUBE, TRIANGLES)
    prism = Transform.from_xyz_rpy((0.5, 1.0, 1.5)) * shapes.by_density(2.0, shapes.box, 1.0, 2.0, 3.0)
    assert_allclose(np.asarray(solid), np.asarray(prism), atol=1e-12)
    body = cr.rigid_body(shape="capsule", radius=0.1, length=0.4, density=900.0)
    assert_allclose(np.asarray(shapes.by_density(900.0, shapes.capsule, 0.1, 0.4)), np.asarray(body.spatial_inertia))
    exact = shapes.by_density(sp.Integer(3), shapes.ellipsoid, sp.Integer(1), sp.Integer(2), sp.Integer(3))
    assert exact.mass == 24 * sp.pi
    with pytest.raises(cr.ShapeError, match="by_density takes a shape with a volume"):
        shapes.by_density(1.0, shapes.rod, 1.0)


def test_an_inverse_is_a_matrix_for_numpy():
    T = Transform.from_xyz_rpy((1.0, 2.0, 3.0), (0.1, -0.4, 0.7))
    np.testing.assert_allclose(np.asarray(T.inv), np.linalg.inv(np.asarray(T)), atol=1e-15)
    batch = Transform.from_xyz_rpy((np.arange(3.0), 0.0, 1.0), (0.0, 0.2, 0.0))
    np.testing.assert_allclose(np.asarray(batch.inv), np.linalg.inv(np.asarray(batch)), atol=1e-15)
