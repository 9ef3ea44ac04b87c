"""Texts repeated on each row until the row has ended."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile import while_loop
from chainrule.compile.backend import COMPILED, INTERPRETED, LoopShape, Traceable, WhileLoop
from chainrule.compile.runtime import memory_cache
from chainrule.spatial.scalar import sin, where

SHAPE = LoopShape(2, 3)


def shrink(_call, parameters, state, _signals):
    """x shrinks until it is small, which is a success, or until its time is over, which is a failure."""
    rate, small = parameters
    x, left, _ = state
    x, left = x * sin(rate), left - 1
    return [x, left, where(x < small, 1.0, where(left > 0, 0.0, 2.0))]


def loop(backend) -> WhileLoop:
    return backend.while_loop(Traceable(shrink, "shrink", "test", "shrink"), SHAPE)


def problem(rows: int, others: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(rows)
    state = np.zeros((2 * rows if others else rows, 3))
    state[:, 0] = rng.uniform(1, 2, len(state))
    state[:, 1] = rng.integers(1, 40, len(state))
    return state, np.stack([rng.uniform(0.3, 1.2, rows), np.full(rows, 0.1)], axis=1)


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 16, 17, 300])
def test_compiled_and_interpreted_rows_end_alike(rows, others):
    state, parameters = problem(rows, others)
    expected, found = state.copy(), state.copy()
    loop(INTERPRETED)(expected, parameters)
    loop(COMPILED)(found, parameters)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    if not others:
        assert (found[:, 2] > 0).all()


def test_a_row_does_not_depend_on_its_neighbors():
    state, parameters = problem(60, others=True)
    together = state.copy()
    loop(COMPILED)(together, parameters)
    for k in range(60):
        alone = state[[k, 60 + k]]
        loop(COMPILED)(alone, parameters[k : k + 1])
        np.testing.assert_array_equal(alone, together[[k, 60 + k]])


def test_the_other_state_is_left_alone_where_the_first_succeeds():
    state, parameters = problem(40, others=True)
    after = state.copy()
    loop(COMPILED)(after, parameters)
    solved = after[:40, 2] == 1
    assert 0 < solved.sum() < 40
    np.testing.assert_array_equal(after[40:][solved], state[40:][solved])
    assert (after[40:][~solved, 2] > 0).all()


def test_rows_are_spread_over_threads_in_pieces(monkeypatch):
    monkeypatch.setattr(while_loop, "MAX_ROWS_PER_CALL", 100)
    monkeypatch.setattr(while_loop.threads, "MIN_FLOPS_TO_SPREAD", 1)
    state, parameters = problem(1000, others=True)
    expected, found = state.copy(), state.copy()
    cr.set_threads(3)
    try:
        loop(COMPILED)(found, parameters)
    finally:
        cr.set_threads(None)
    loop(INTERPRETED)(expected, parameters)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("backend", [COMPILED, INTERPRETED])
def test_a_bound_loop_reads_its_arrays_where_they_are(backend):
    state, parameters = problem(2, others=False)
    run = loop(backend).bind(state, parameters)
    for start in (3.0, 0.2):
        state[:] = [[start, 30.0, 0.0], [start, 1.0, 0.0]]
        parameters[:] = [0.5, 0.1]
        run()
        assert state[0, 2] == 1
        assert state[1, 2] == (1 if start * np.sin(0.5) < 0.1 else 2)


@pytest.mark.parametrize("kind", ["loop", "until"])
def test_a_bound_call_keeps_its_code(kind, monkeypatch):
    """Compiled things that were not used for long are forgotten, but not those that something still calls."""
    made = []

    def build(_key, make):
        thing = make()
        made.append(weakref.ref(thing))
        return thing

    monkeypatch.setattr(memory_cache, "get_or_build", build)
    state, parameters = np.full((1, 3), 1.0), np.full((1, 2), 0.5)
    if kind == "loop":
        source = Traceable(lambda call, p, x, s: [a * p[0] for a in x], "bound", "a test", "bound")
        bound = COMPILED.scan(source, LoopShape(2, 3), 1).bind(state, parameters)
    else:
        bound = loop(COMPILED).bind(state, parameters)
    gc.collect()
    assert made[-1]() is not None
    del bound
    gc.collect()
    assert made[-1]() is None
