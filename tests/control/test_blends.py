"""Rounded corners: free, smooth, within the box of their points, and wide where there is room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from planning.discs import Discs

from chainrule.control.motions.blends import blend, round_corners
from chainrule.control.motions.curves import extremes
from chainrule.planning.free_space import TOLERANCE

pytestmark = pytest.mark.interpreted


@given(st.integers(3, 8), st.integers(0, 2**32))
def test_direction_and_curvature_are_continuous_and_no_box_is_left(count, seed):
    points = np.random.default_rng(seed).standard_normal((count, 3))
    paths = round_corners(points, lambda q: np.ones(q.shape[:-1], bool))
    assert len(paths) == 1
    path, places = paths[0]
    assert_allclose(path(path.x[[0, -1]]), points[[0, -1]], atol=1e-9)
    inner = path.x[1:-1]
    for order in (0, 1, 2):
        assert_allclose(path(inner, order), path(inner - 1e-9, order), atol=1e-4)
    reached = extremes(path)
    assert (reached.low >= points.min(axis=0) - 1e-9).all()
    assert (reached.high <= points.max(axis=0) + 1e-9).all()
    assert len(places) == count


def test_a_corner_is_cut_off_by_the_parts_of_its_legs_that_are_said():
    path, places = blend(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0.25]))
    assert_allclose(path(0.75), [0.75, 0.0], atol=1e-12)
    assert_allclose(path(places[1] + 0.25), [1.0, 0.25], atol=1e-12)
    assert_allclose(path(places[1]), [1 - 3 / 64, 3 / 64], atol=1e-12)  # by Bezier's points: 3 / 16 of the cut


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_rounded_corners_keep_clear(seed):
    """Over a disc that the corner all but touches."""
    rng = np.random.default_rng(seed)
    corner = rng.uniform(-0.3, 0.3, 2)
    discs = Discs([[corner[0], corner[1] - 0.115]], [0.1])
    points = np.array([[-0.9, corner[1] - 0.1], corner, [0.9, corner[1] - 0.1]])
    paths = round_corners(points, discs.space().is_free)
    for path, _ in paths:
        assert discs.clear(path(np.linspace(0.0, path.x[-1], 20_000))).min() >= 0.01 - 2 * TOLERANCE


def test_a_corner_without_any_room_is_where_the_robot_stops():
    def is_free(q):
        return np.abs(q[..., 1] * (1.0 - q[..., 0])) < 1e-12  # nothing but the two legs

    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    paths = round_corners(points, is_free)
    assert [path(path.x[-1]).round(9).tolist() for path, _ in paths] == [[1.0, 0.0], [1.0, 1.0]]


def test_a_way_without_corners_is_straight():
    ((path, places),) = round_corners(
        np.array([[0.0, 0.0], [0.5, 0.5], [0.5, 0.5], [1.0, 1.0]]), lambda q: q[..., 0] < 2
    )
    assert_allclose(path(places[-1] / 2), [0.5, 0.5])
    assert len(places) == 2
