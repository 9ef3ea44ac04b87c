"""Lines between configurations: what is called free is free everywhere, and the share that is free ends at a contact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.planning.free_space import RESOLUTION, TOLERANCE
from planning.discs import Discs, along

pytestmark = pytest.mark.interpreted
SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_lines_that_are_free_are_so_at_every_place_and_others_are_not(seed):
    discs, rng = Discs.random(seed), np.random.default_rng(seed)
    points = discs.free_points(rng, 12)
    a, b = points[:6], points[6:]
    free = discs.space().lines_free(a, b)
    least = np.array([discs.clear(along(np.stack(ends))).min() for ends in zip(a, b, strict=True)])
    assert (least[free] >= 0.01 - TOLERANCE).all()
    assert (least[~free] < 0.01).all()


@given(SEEDS)
def test_the_free_share_of_a_line_ends_where_it_touches(seed):
    discs, rng = Discs.random(seed), np.random.default_rng(seed)
    a = discs.free_points(rng, 6)
    b = rng.uniform(-1.0, 1.0, a.shape)
    share = discs.space().advance(a, b)
    for start, end, part in zip(a, b, share, strict=True):
        reached = start + part * (end - start)
        assert discs.clear(along(np.stack([start, reached]))).min() >= 0.01 - TOLERANCE
        if part < 1:
            beyond = min(part + 2 * RESOLUTION / np.abs(end - start).sum(), 1.0)
            assert discs.clear(along(np.stack([reached, start + beyond * (end - start)]))).min() < 0.01


def test_much_room_takes_few_looks():
    discs = Discs([[0.0, 0.9]], [0.05])
    assert discs.space().lines_free(np.array([[-1.0, -1.0]]), np.array([[1.0, -1.0]])).all()
    assert discs.looked_at < 40


def test_no_lines_are_no_trouble():
    assert Discs.random(0).space().advance(np.zeros((0, 2)), np.zeros((0, 2))).shape == (0,)
