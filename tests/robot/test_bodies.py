"""Rigid bodies from numbers and from shapes."""

import math

import numpy as np
import pytest

import chainrule as cr
from chainrule.model.geometry import Box, Capsule, Mesh
from chainrule.spatial import Vector

pytestmark = pytest.mark.interpreted


def sampled_inertia(inside, bounds, count=200_000):
    """Volume, and the inertia per mass of a solid about its center, by counting points in it."""
    points = np.random.default_rng(0).uniform(-1, 1, (count, 3)) * bounds
    points = points[inside(points)]
    volume = len(points) / count * np.prod(2 * np.array(bounds))
    squares = (points**2).mean(axis=0)
    return volume, squares.sum() - squares


SOLIDS = [
    ({"shape": "box", "size": (0.2, 0.4, 0.6)}, lambda p: np.full(len(p), True), (0.1, 0.2, 0.3)),
    ({"shape": "ellipsoid", "size": (0.2, 0.4, 0.6)}, lambda p: ((p / [0.1, 0.2, 0.3]) ** 2).sum(axis=1) < 1, (0.1, 0.2, 0.3)),
    ({"shape": "sphere", "radius": 0.2}, lambda p: (p**2).sum(axis=1) < 0.04, (0.2, 0.2, 0.2)),
    ({"shape": "cylinder", "radius": 0.2, "length": 0.6}, lambda p: (p[:, :2] ** 2).sum(axis=1) < 0.04, (0.2, 0.2, 0.3)),
    (
        {"shape": "capsule", "radius": 0.2, "length": 0.6},
        lambda p: (p[:, :2] ** 2).sum(axis=1) + np.maximum(np.abs(p[:, 2]) - 0.3, 0) ** 2 < 0.04,
        (0.2, 0.2, 0.5),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "inside", "bounds"), SOLIDS, ids=[s[0]["shape"] for s in SOLIDS])
def test_shapes_against_points_counted_in_them(options, inside, bounds):
    volume, moments = sampled_inertia(inside, bounds)
    body = cr.rigid_body(density=500.0, **options)
    assert body.mass == pytest.approx(500.0 * volume, rel=0.01)
    np.testing.assert_allclose(np.diag(body.inertia) / body.mass, moments, rtol=0.02)
    by_mass = cr.rigid_body(3.0, **options)
    np.testing.assert_allclose(by_mass.inertia * body.mass / 3.0, body.inertia)
    assert len(body.shapes) == 1


def test_a_shape_placed_and_turned():
    body = cr.rigid_body(2.0, shape="cylinder", radius=0.1, length=1.0, xyz=(0.5, 0, 0), rpy=(0, 90, 0), degrees=True)
    np.testing.assert_allclose(body.com, [0.5, 0, 0])
    along, across = 2.0 * 0.01 / 2, 2.0 * (0.03 + 1.0) / 12
    np.testing.assert_allclose(np.diag(body.inertia), [along, across, across])
    T = np.eye(4)
    T[:3, 3] = (0.5, 0, 0)
    np.testing.assert_allclose(cr.rigid_body(2.0, shape="rod", length=1.0, origin=T).com, [0.5, 0, 0])


def test_numbers_win_over_the_shape():
    body = cr.rigid_body(2.0, (0.1, 0, 0), (1, 1, 1), shape="sphere", radius=0.1)
    np.testing.assert_allclose(body.com, [0.1, 0, 0])
    np.testing.assert_allclose(body.inertia, np.eye(3), atol=1e-12)


def test_compound_bodies():
    one = cr.rigid_body(1.0, shape="sphere", radius=0.1, xyz=(1, 0, 0))
    two = cr.rigid_body(1.0, shape="sphere", radius=0.1, xyz=(-1, 0, 0))
    both = one + two
    assert both.mass == 2.0
    np.testing.assert_allclose(both.com, 0.0, atol=1e-15)
    np.testing.assert_allclose(both.inertia[1, 1], 2.0 + 2 * 0.4 * 0.01)
    assert len(both.shapes) == 2
    with pytest.raises(TypeError):
        one + 1


def test_a_body_goes_into_with_link_and_into_the_builder():
    body = cr.rigid_body(2.0, shape="box", size=(0.1, 0.2, 0.3))
    arm = cr.load("planar_2r").edit(links={"link2": {"mass": body.mass, "com": body.com, "inertia": body.inertia}})
    np.testing.assert_allclose(arm.links["link2"].inertia, body.inertia)
    built = cr.build().revolute("j").link("x", body).robot()
    np.testing.assert_allclose(built.links["x"].inertia, body.inertia)
    assert built.model.geometries[0].shape == Box(Vector(0.1, 0.2, 0.3))


def test_shapes_of_the_model_and_a_point():
    assert (
        cr.rigid_body(1.0, shape=Capsule(0.1, 0.4)).inertia[0, 0]
        == cr.rigid_body(1.0, shape="capsule", radius=0.1, length=0.4).inertia[0, 0]
    )
    assert cr.rigid_body(1.0, com=(1, 2, 3)).inertia.tolist() == np.zeros((3, 3)).tolist()
    assert math.isclose(cr.rigid_body(1.0, shape="point").mass, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either mass"),
        ({"mass": 1.0, "density": 1.0, "shape": "sphere", "radius": 1.0}, "give either mass"),
        ({"density": 1000.0}, "density belongs to a shape"),
        ({"mass": 1.0, "radius": 0.1}, "radius belongs to a shape"),
        ({"mass": -1.0}, "the body has a negative mass"),
        ({"mass": 1.0, "inertia": (1, 1, 3)}, "violate the triangle inequality"),
        ({"mass": 1.0, "shape": "bix", "size": (1, 1, 1)}, "no shape named 'bix'; did you mean 'box'"),
        ({"mass": 1.0, "shape": 3}, "shape must be a name such as 'box'"),
        ({"mass": 1.0, "shape": Mesh("a.stl")}, "shape must be a name such as 'box'"),
        ({"mass": 1.0, "shape": "box"}, "a box takes size, and size is missing"),
        ({"mass": 1.0, "shape": "sphere", "radius": 1.0, "length": 2.0}, "a sphere takes radius, and length is given"),
        (
            {"mass": 1.0, "shape": "cylinder", "radius": 1.0},
            "a cylinder takes radius and length, and length is missing",
        ),
        ({"mass": 1.0, "shape": "sphere", "radius": -1.0}, "radius must be a positive number of meters"),
        ({"mass": 1.0, "shape": "box", "size": (1, 0, 1)}, "size must be positive lengths"),
        (
            {"mass": 1.0, "shape": Capsule(0.1, 0.4), "radius": 0.1},
            "the shape has its own dimensions; leave out radius",
        ),
        ({"density": 1.0, "shape": "rod", "length": 1.0}, "a rod has no volume"),
        ({"density": -1.0, "shape": "sphere", "radius": 1.0}, "density must be positive, in kg/m"),
        ({"mass": 1.0, "origin": np.eye(4), "xyz": (0, 0, 0)}, "give either origin, or xyz and rpy"),
    ],
)
def test_wrong_bodies_are_refused(options, message):
    with pytest.raises(cr.ChainruleError, match=f"rigid_body.*{message}"):
        cr.rigid_body(**options)
