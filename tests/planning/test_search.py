"""The search for a way: free everywhere, the same for the same seed, and short."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.planning.free_space import TOLERANCE
from chainrule.planning.search import search, shorten
from planning.discs import Discs, along

pytestmark = pytest.mark.interpreted
SEEDS = st.integers(0, 2**32)


def length(points):
    return np.linalg.norm(np.diff(points, axis=0), axis=1).sum()


def find(discs, start, goals, seed=0, most=20_000):
    return search(discs.space(), start, goals, np.random.default_rng(seed), lambda count: count > most)


@settings(max_examples=20)
@given(SEEDS)
def test_a_way_is_free_from_the_start_to_the_goal_and_gets_no_longer(seed):
    discs, rng = Discs.random(seed), np.random.default_rng(seed)
    start, goal = discs.free_points(rng, 2)
    found = find(discs, start, goal[None], most=5000)
    if found.points is None:  # discs may close in one of the two
        return
    short = shorten(discs.space(), found.points, rng)
    for points in (found.points, short):
        assert (points[0] == start).all()
        assert (points[-1] == goal).all()
        assert discs.clear(along(points)).min() >= 0.01 - TOLERANCE
    assert length(short) <= length(found.points) + 1e-12


WALL = Discs([[0.0, y] for y in np.linspace(-1.0, 0.8, 40)], [0.04] * 40)  # with a gap at the top
LEFT, RIGHT = np.array([-0.5, -0.8]), np.array([0.5, -0.8])


def test_a_way_through_a_gap_is_nearly_the_shortest():
    found = find(WALL, LEFT, RIGHT[None])
    short = shorten(WALL.space(), found.points, np.random.default_rng(0))
    over = np.array([0.0, 0.85])
    assert length(short) < 1.1 * (np.linalg.norm(over - LEFT) + np.linalg.norm(over - RIGHT))


def test_the_same_seed_finds_the_same_way():
    first, second = (find(WALL, LEFT, RIGHT[None], seed=3).points for _ in range(2))
    assert np.array_equal(first, second)


def test_of_several_goals_one_is_reached():
    behind = np.array([[0.5, -0.8], [-0.4, -0.7]])
    assert np.array_equal(find(WALL, LEFT, behind).points[-1], behind[1])


def test_without_a_way_the_search_ends_and_counts_what_it_reached():
    ring = Discs([[0.5 + 0.2 * np.cos(t), -0.5 + 0.2 * np.sin(t)] for t in np.linspace(0, 2 * np.pi, 40)], [0.04] * 40)
    found = find(ring, LEFT, np.array([[0.5, -0.5]]), most=2000)
    assert found.points is None
    assert found.from_start + found.from_goal > 2000
