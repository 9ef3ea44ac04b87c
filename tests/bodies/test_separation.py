"""Separations of solids: never more than the distance, exact where there are closed forms; coal and MuJoCo agree."""

from __future__ import annotations

import numpy as np
import pytest
import tiers

from bodies.shapes import CURVED, KINDS, PAIRS, RandomShapes

pytestmark = pytest.mark.interpreted

LONG = 100_000
EXACT = {frozenset(("sphere", kind)) for kind in ("sphere", "capsule", "box", "cylinder")} | {
    frozenset(("capsule",)), frozenset(("capsule", "box")), *(frozenset(("plane", kind)) for kind in KINDS),
}  # fmt: skip
CURVED_TOLERANCE = 1e-4
"""What distances of cylinders and ellipsoids of these sizes may be too small by, in m."""


def gap_along(a, b, n):
    """The gap that directions (count, 3) see between shapes, by their outlines."""
    found = []
    for k in range(a.count):
        (from_a,), (from_b,) = a.outline(k, n[k : k + 1]), b.outline(k, -n[k : k + 1])
        found.append((from_b - from_a) @ n[k])
    return np.array(found)


@pytest.mark.parametrize(("kind_a", "kind_b"), [pair for pair in PAIRS if "plane" not in pair])
def test_the_normal_sees_the_distance_as_a_gap_and_no_direction_sees_much_more(kind_a, kind_b):
    rng = np.random.default_rng(5)
    a, b = RandomShapes(kind_a, 30, rng), RandomShapes(kind_b, 30, rng)
    distance, point_a, point_b, normal = a.distances(b)
    assert np.allclose(gap_along(a, b, normal), distance, atol=1e-6 if "cylinder" in (kind_a, kind_b) else 1e-9)
    for _ in range(10):
        near = normal + rng.normal(size=normal.shape) * 0.1
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        more = gap_along(a, b, near) - distance
        assert more[distance > 0].max() < CURVED_TOLERANCE
    apart = distance > 0
    assert np.allclose(np.linalg.norm(point_b - point_a, axis=1)[apart], distance[apart], atol=2 * CURVED_TOLERANCE)


@pytest.mark.peer
@pytest.mark.parametrize(("kind_a", "kind_b"), PAIRS)
@pytest.mark.parametrize("count", tiers.with_slow([200, LONG], LONG))
def test_distances_are_those_of_coal(kind_a, kind_b, count):
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(6)
    a, b = RandomShapes(kind_a, count, rng), RandomShapes(kind_b, count, rng)
    distance, _, _, normal = a.distances(b)
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    theirs, their_normal = np.empty(count), np.empty((count, 3))
    for k in range(count):
        result = coal.DistanceResult()
        sides = [(as_coal(coal, s, k), coal.Transform3s(s.R[k], s.p[k])) for s in (a, b)]
        theirs[k] = coal.distance(*sides[0], *sides[1], request, result)
        their_normal[k] = result.normal
    apart, error = theirs > 1e-6, distance - theirs
    exact = frozenset((kind_a, kind_b)) in EXACT or not CURVED & {kind_a, kind_b}
    tolerance = 1e-7 if exact else CURVED_TOLERANCE
    assert error[apart].max(initial=0) < 1e-7  # never more than the distance
    assert -error[apart].min(initial=0) < tolerance
    assert np.array_equal(distance > 1e-6, apart) or np.abs(theirs[(distance > 1e-6) != apart]).max() < tolerance
    if exact:
        assert np.abs(normal - their_normal)[theirs > 1e-3].max(initial=0) < 1e-4
    if frozenset((kind_a, kind_b)) in EXACT | {frozenset(("box",))} and "cylinder" not in (kind_a, kind_b):
        assert np.abs(error).max() < 1e-6  # how deep bodies overlap


def as_coal(coal, shapes, k):
    a, b, _ = shapes.size[k]
    if shapes.kind == "hull":
        points = coal.StdVec_Vec3s()
        points.extend([*shapes.points[k]])
        return coal.Convex.convexHull(points, True, "Qt")
    return {
        "sphere": lambda: coal.Sphere(a), "capsule": lambda: coal.Capsule(a, 2 * b),
        "box": lambda: coal.Box(*(2 * shapes.size[k])), "cylinder": lambda: coal.Cylinder(a, 2 * b),
        "ellipsoid": lambda: coal.Ellipsoid(*shapes.size[k]),
        "plane": lambda: coal.Halfspace(np.array([0, 0, 1.0]), 0.0),
    }[shapes.kind]()  # fmt: skip


@pytest.mark.peer
@pytest.mark.parametrize(
    ("kind_a", "kind_b"), [pair for pair in PAIRS if not {"hull", "plane"} & set(pair)], ids="-".join
)
@pytest.mark.parametrize("count", tiers.with_slow([20, 2000], 2000))
def test_distances_are_those_of_mujoco(kind_a, kind_b, count):
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(7)
    a, b = RandomShapes(kind_a, count, rng), RandomShapes(kind_b, count, rng)
    distance, *_ = a.distances(b)
    for k in range(count):
        geoms = "".join(
            f'<body><freejoint/><geom type="{s.kind}" size="{sizes(s, k)}" mass="1"/></body>' for s in (a, b)
        )
        model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
        data = mujoco.MjData(model)
        for i, s in enumerate((a, b)):
            x, y, z, w = quaternion(s.R[k])
            data.qpos[7 * i : 7 * i + 7] = [*s.p[k], w, x, y, z]
        mujoco.mj_kinematics(model, data)
        theirs = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
        if theirs > 1e-3:
            assert distance[k] == pytest.approx(theirs, abs=1e-3)
        else:
            assert distance[k] < 2e-3


def sizes(shapes, k):
    count = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(shapes.kind, 3)
    return " ".join(repr(float(x)) for x in shapes.size[k, :count])


def quaternion(R):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat()


def test_bodies_of_no_size_and_bodies_in_one_place_have_finite_distances():
    rng = np.random.default_rng(8)
    for kind_a, kind_b in PAIRS:
        a, b = RandomShapes(kind_a, 4, rng), RandomShapes(kind_b, 4, rng)
        for s in (a, b):
            s.R[:] = np.eye(3)
            s.p[:] = 0
        a.size[2:] = b.size[2:] = 1e-9
        for part in a.distances(b):
            assert np.isfinite(part).all(), (kind_a, kind_b)
