"""Spatial algebra: group axioms, adjoints, the pairing of motions and forces, inertias and their frames."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation as SciPyRotation

from chainrule.spatial import (
    Inertia,
    Quaternion,
    Rotation,
    Symmetric,
    Transform,
    Twist,
    Vector,
    Wrench,
    shapes,
)
from chainrule.spatial.physical import is_physical, nearest_physical, objection, principal_axes, pseudo_inertia

pytestmark = pytest.mark.interpreted


numbers = st.floats(-3, 3)
vectors = st.builds(Vector, numbers, numbers, numbers)
angles = st.one_of(
    st.floats(-math.pi, math.pi), st.sampled_from([0.0, 1e-12, 1e-8, 1e-5, 1e-3, math.pi, math.pi - 1e-9])
)
motions = st.builds(Twist, vectors, vectors)
forces = st.builds(Wrench, vectors, vectors)
transforms = st.builds(lambda w, p: Transform(Rotation.exp(w), p), vectors, vectors)
masses = st.floats(0.1, 10)
radii = st.floats(0.05, 2)
bodies = st.builds(lambda m, a, b, c, T: T * shapes.ellipsoid(m, a, b, c), masses, radii, radii, radii, transforms)
several = settings(max_examples=50)


def array(x):
    if isinstance(x, Transform):
        return np.array(x.rows(), dtype=float)
    if isinstance(x, Inertia):
        return np.array(x.matrix(), dtype=float)
    return np.array([list(row) if hasattr(row, "__iter__") else row for row in x], dtype=float)


def close(a, b, tolerance=1e-9):
    assert_allclose(array(a), array(b), rtol=tolerance, atol=tolerance)


@given(transforms, transforms, transforms)
@several
def test_transforms_form_a_group(A, B, C):
    close((A * B) * C, A * (B * C))
    close(A * Transform.identity(), A)
    close(A * A.inverse(), Transform.identity())
    close(A.inv * (A * B), B)
    close((A * B).inverse(), B.inverse() * A.inverse())


@given(transforms, transforms, motions, forces, bodies, vectors)
@several
def test_everything_that_has_coordinates_changes_frame_consistently(A, B, V, F, I, p):
    for x in (V, F, I, p):
        close((A * B) * x, A * (B * x), 1e-8)
        close(A.inv * (A * x), x, 1e-8)
        close(A.inverse() * x, A.inv * x, 1e-8)


@given(transforms, motions, forces)
@several
def test_adjoint_matrices_are_what_the_operators_do(T, V, F):
    close(np.array(T.adjoint()) @ array(V), T * V)
    close(np.array(T.inverse().adjoint()).T @ array(F), T * F)


@given(motions, motions, forces, transforms)
@several
def test_lie_bracket(V, W, F, T):
    close(np.array(V.ad()) @ array(W), V.cross(W))
    close(-np.array(V.ad()).T @ array(F), V.cross(F))
    close(V.cross(W), -W.cross(V))
    close(T * V.cross(W), (T * V).cross(T * W), 1e-7)


@given(motions, motions, motions)
@several
def test_jacobi_identity(U, V, W):
    close(U.cross(V.cross(W)) + V.cross(W.cross(U)) + W.cross(U.cross(V)), Twist.zero(), 1e-8)


@given(motions, motions, forces)
@several
def test_carrying_keeps_power_constant(V, W, F):
    """d/dt (W . F) is zero when both are carried along by the same twist."""
    assert_allclose(V.cross(W).dot(F) + W.dot(V.cross(F)), 0, atol=1e-8)


@given(transforms, motions, forces)
@several
def test_power_does_not_depend_on_the_frame(T, V, F):
    assert_allclose((T * V).dot(T * F), V.dot(F), rtol=1e-8, atol=1e-8)


def test_a_motion_is_not_a_force():
    V, F = Twist.of([1, 2, 3, 4, 5, 6]), Wrench.of([1, 2, 3, 4, 5, 6])
    with pytest.raises(TypeError):
        V + F
    with pytest.raises(TypeError):
        F - V
    with pytest.raises(TypeError, match="a Twist pairs with a Wrench"):
        V.dot(V)
    with pytest.raises(TypeError, match="a Wrench pairs with a Twist"):
        F.dot(F)


@given(vectors.filter(lambda v: v.norm() > 0.1), angles)
@several
def test_rotation_exp_and_log_are_inverse_near_zero_and_near_pi(axis, angle):
    w = axis * (angle / axis.norm())
    R = Rotation.exp(w)
    close(R @ R.inv, Rotation.identity(), 1e-12)
    close(Rotation.exp(R.log()), R, 1e-9)
    assert float(R.log().norm()) <= math.pi + 1e-12
    close(Rotation.about(axis / axis.norm(), angle), R, 1e-12)
    close(Quaternion.exp(w).rotation(), R, 1e-12)
    if abs(angle) < math.pi - 1e-6:
        close(R.log(), w, 1e-8)


@given(vectors.filter(lambda v: v.norm() > 0.1), angles, vectors)
@several
def test_transform_exp_and_log_are_inverse(axis, angle, v):
    S = Twist(axis * (angle / axis.norm()), v)
    T = Transform.exp(S)
    close(Transform.exp(T.log()), T, 1e-7)
    if abs(angle) < math.pi - 1e-6:
        close(T.log(), S, 1e-6)


@given(motions)
@several
def test_transform_exp_is_the_matrix_exponential(S):
    from scipy.linalg import expm

    w, v = S.angular, S.linear
    generator = np.zeros((4, 4))
    generator[:3, :3] = array(w.skew())
    generator[:3, 3] = array(v)
    close(Transform.exp(S), expm(generator))


@given(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))
@several
def test_roll_pitch_yaw_match_scipy_and_round_trip(roll, pitch, yaw):
    mine = Rotation.from_rpy(roll, pitch, yaw)
    close(mine, SciPyRotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix())
    close(mine.rpy(), (roll, pitch, yaw), 1e-9)
    close(
        Rotation.from_rpy(*Rotation.from_rpy(roll, math.pi / 2, yaw).rpy()),
        Rotation.from_rpy(roll, math.pi / 2, yaw),
        1e-7,
    )


@given(vectors, vectors)
@several
def test_quaternions_match_scipy(a, b):
    p, q = SciPyRotation.from_rotvec(array(a)), SciPyRotation.from_rotvec(array(b))
    mine = Quaternion(*p.as_quat()) * Quaternion(*q.as_quat())
    close(mine.rotation(), (p * q).as_matrix())
    close(Rotation.of((p * q).as_matrix().tolist()).quaternion(), (p * q).as_quat(canonical=True))


def test_batched_logarithm_handles_every_case_at_once():
    turns = np.array([0.0, 1e-9, 0.5, math.pi - 1e-9, math.pi])
    R = Rotation.exp(Vector(turns, 0 * turns, 0 * turns))
    assert_allclose(R.log().x, turns, atol=1e-8)


@given(bodies, transforms, motions, motions)
@several
def test_kinetic_energy_and_dynamics_do_not_depend_on_the_frame(I, T, V, A):
    assert_allclose((T * I).kinetic_energy(T * V), I.kinetic_energy(V), rtol=1e-7, atol=1e-7)
    close((T * I).rate_of_momentum(T * V, T * A), T * I.rate_of_momentum(V, A), 1e-6)


@given(bodies, motions, motions)
@several
def test_single_body_inverse_and_forward_dynamics(I, V, A):
    F = I.rate_of_momentum(V, A)
    G, ad = np.array(I.matrix()), np.array(V.ad())
    close(F, G @ array(A) - ad.T @ G @ array(V), 1e-8)
    close(I.acceleration(V, F), A, 1e-5)


@given(bodies, bodies, transforms)
@several
def test_compound_bodies_add_in_any_frame(I, J, T):
    close(T * (I + J), T * I + T * J, 1e-8)
    close(Inertia.from_com(I.mass, I.com, I.about_com()), I, 1e-9)


def test_generalised_steiner_is_the_notes_formula():
    q, m = Vector(0.3, -0.2, 0.5), 2.0
    body = shapes.box(m, 0.1, 0.2, 0.3)
    moved = Transform(Rotation.identity(), -q) * body
    expected = body.inertia + shapes.parallel_axis(m, q)
    close(moved.inertia, expected)


@pytest.mark.parametrize(
    ("body", "moments"),
    [
        (shapes.box(12.0, 1.0, 2.0, 3.0), (13.0, 10.0, 5.0)),
        (shapes.cylinder(12.0, 1.0, 3.0), (12.0, 12.0, 6.0)),
        (shapes.ellipsoid(5.0, 1.0, 2.0, 3.0), (13.0, 10.0, 5.0)),
        (shapes.sphere(5.0, 2.0), (8.0, 8.0, 8.0)),
        (shapes.rod(12.0, 2.0), (4.0, 4.0, 0.0)),
        (shapes.capsule(5.0, 2.0, 0.0), (8.0, 8.0, 8.0)),
        (shapes.cone(80.0, 1.0, 2.0), (24.0, 24.0, 24.0)),
    ],
)
def test_uniform_bodies_have_the_printed_inertias(body, moments):
    assert_allclose(body.inertia.entries(), (*moments, 0, 0, 0), atol=1e-12)


def test_the_notes_compound_of_a_cylinder_and_a_prism():
    """Cylinder 2 kg at the origin, prism 1 kg beside it: centre of mass and inertia by hand."""
    cylinder = shapes.cylinder(2.0, radius=0.1, height=0.2)
    prism = Transform.from_xyz_rpy((0.3, 0.0, 0.0)) * shapes.box(1.0, 0.4, 0.1, 0.1)
    both = cylinder + prism
    assert_allclose(list(both.com), [0.1, 0, 0], atol=1e-15)
    about = both.about_com()
    across = 2 * (3 * 0.01 + 0.04) / 12 + 2 * 0.01 + (0.16 + 0.01) / 12 + 0.04
    assert_allclose(about.yy, across, rtol=1e-12)
    assert_allclose(about.xx, 2 * (3 * 0.01 + 0.04) / 12 + (0.01 + 0.01) / 12, rtol=1e-12)


def box_mesh(x, y, z):
    corners = [(i, j, k) for i in (-x / 2, x / 2) for j in (-y / 2, y / 2) for k in (-z / 2, z / 2)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]


def test_a_mesh_of_a_box_is_a_box_wherever_it_is():
    corners, triangles = box_mesh(0.3, 0.4, 0.5)
    away = Vector(1.0, -2.0, 0.5)
    moved = [tuple(Vector(*c) + away) for c in corners]
    close(shapes.mesh(2.0, moved, triangles), Transform(Rotation.identity(), away) * shapes.box(2.0, 0.3, 0.4, 0.5))


def test_a_mesh_that_is_open_or_inside_out_is_refused():
    corners, triangles = box_mesh(1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="mesh is not closed: the edge from vertex"):
        shapes.mesh(1.0, corners, triangles[:-1])
    with pytest.raises(ValueError, match="counter-clockwise seen from outside"):
        shapes.mesh(1.0, corners, [t[::-1] for t in triangles])


@given(bodies)
@several
def test_real_bodies_are_physical_and_their_principal_axes_diagonalise(I):
    assert is_physical(I)
    assert np.linalg.eigvalsh(pseudo_inertia(I))[0] > -1e-9
    moments, R = principal_axes(I.about_com())
    turned = I.about_com().rotated(R.inv)
    assert_allclose(turned.entries(), (*moments, 0, 0, 0), atol=1e-7)
    assert objection(I.mass, I.com, I.about_com()) is None


def test_impossible_inertias_are_found_and_repaired():
    triangle = Symmetric(1.0, 1.0, 3.0)
    assert not is_physical(Inertia(1.0, Vector.zero(), triangle))
    assert "triangle inequality" in objection(1.0, Vector.zero(), triangle)
    repaired = nearest_physical(triangle)
    assert objection(1.0, Vector.zero(), repaired) is None
    assert "not positive definite" in objection(1.0, Vector.zero(), Symmetric(1.0, -0.5, 1.0))
    assert "negative mass" in objection(-1.0, Vector.zero(), Symmetric.zero())
