"""Worlds: obstacles by name, immutable, with clear refusals."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

pytestmark = pytest.mark.interpreted

TETRAHEDRON = (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_a_world_is_not_changed_by_its_methods():
    empty = cr.World()
    world = empty.box("table", size=(1, 1, 0.05), xyz=(0.5, 0, -0.03)).sphere("ball", 0.1, (0.4, 0.2, 0.4))
    assert len(empty) == 0
    assert world.names == ("table", "ball")
    assert world.remove("table").names == ("ball",)
    assert world.move("ball", (0, 0, 1)).names == world.names
    assert np.allclose(np.array(world["ball"].origin.translation), [0.4, 0.2, 0.4])


def test_moving_a_thing_changes_numbers_and_not_the_layout():
    world = (
        cr.World().capsule("c", 0.1, 0.4).cylinder("d", 0.1, 0.2).ellipsoid("e", (0.1, 0.2, 0.3)).mesh("m", TETRAHEDRON)
    )
    moved = world.move("c", (1, 2, 3), (0.1, 0.2, 0.3)).move("m", (0, 0, 1))
    assert moved.layout == world.layout == "capsule:9 cylinder:8 ellipsoid:15 hull:13"
    assert moved.numbers.shape == world.numbers.shape == (45,)
    assert not np.allclose(moved.numbers, world.numbers)


def test_a_half_space_is_what_its_normal_points_out_of():
    world = cr.World().half_space("wall", normal=(2, 0, 0), point=(0.7, 5, 5))
    assert np.allclose(world.numbers, [1, 0, 0, 0.7])
    assert np.allclose(cr.World.ground(0.2, friction=0.8).numbers, [0, 0, 1, 0.2])
    assert cr.World.ground(friction=0.8)["ground"].friction == 0.8


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda w: w.sphere("ball", 0.1), "has an obstacle 'ball' already"),
        (lambda w: w.sphere("b", -0.1), "radius must be a positive length"),
        (lambda w: w.sphere("b", np.nan), "finite"),
        (lambda w: w.box("b", (1, 1)), "must have 3 numbers"),
        (lambda w: w.box("b", (1, 0, 1)), "each length of its size"),
        (lambda w: w.half_space("b", (0, 0, 0)), "normal must not be zero"),
        (lambda w: w.remove("bal"), "no obstacle named 'bal'"),
        (lambda w: w.sphere("b", 0.1, friction=-1), "friction must be not negative"),
        (lambda w: w.sphere("b", 0.1, restitution=1.5), "restitution must be between 0 and 1"),
        (lambda w: w.sphere("b", 0.1, bounce=1), "no option named 'bounce'"),
        (lambda w: w.sphere(3, 0.1), "the name of an obstacle"),
        (lambda w: w.mesh("b", "no_such_file.stl"), "no_such_file.stl"),
        (lambda w: w.mesh("b", (np.zeros((3, 3)), [[0, 1, 2]])), "at least 4"),
        (lambda w: w.mesh("b", (np.eye(4, 3), [[0, 1, 9]])), "indices of its 4 points"),
        (lambda w: w.mesh("b", (np.eye(5, 3) * [1, 1, 0], [[0, 1, 2]])), "no convex hull"),
        (lambda w: w.mesh("b", TETRAHEDRON, scale=0), "scale must not be zero"),
    ],
)  # fmt: skip
def test_a_wrong_obstacle_is_refused_with_its_name(wrong, words):
    with pytest.raises(cr.ChainruleError, match=words):
        wrong(cr.World().sphere("ball", 0.1))
