"""Results written into an array of the user's."""

import numpy as np
import pytest

import chainrule as cr

ARM, LINKAGE = cr.load("planar_2r"), cr.load("four_bar")
Q = ARM.random_state(np.random.default_rng(0), (5,))


def test_kernels_write_into_out():
    for robot in (ARM, cr.load("planar_2r").reference):
        out = np.empty((5, 2, 2))
        assert robot.mass_matrix(Q, out=out) is out
        np.testing.assert_allclose(out, ARM.mass_matrix(Q), rtol=1e-14)
    one = np.empty((2, 2))
    assert ARM.mass_matrix(Q[0], out=one) is one
    np.testing.assert_array_equal(one, ARM.mass_matrix(Q[0]))
    energy = np.empty(())
    assert ARM.kinetic_energy(Q[0], Q[0], out=energy) is energy
    assert float(energy) == float(ARM.kinetic_energy(Q[0], Q[0]))
    single = np.empty((5, 2, 2), np.float32)
    assert ARM.mass_matrix(Q.astype(np.float32), out=single) is single
    np.testing.assert_allclose(single, ARM.mass_matrix(Q), rtol=1e-5)


def test_a_batch_may_be_written_over_its_own_arguments():
    """Many rows, so that parts go to several threads: none may change before another has read it."""
    q = ARM.random_state(np.random.default_rng(2), (300_000,))
    expected = ARM.integrate(q, q)
    cr.set_threads(3)
    try:
        shifted = np.concatenate([np.zeros((1, 2)), q])
        assert ARM.integrate(shifted[1:], shifted[1:], out=shifted[:-1]).base is shifted
        np.testing.assert_array_equal(shifted[:-1], expected)
        kernel = ARM.compiled.kernel("integrate")
        again = q.copy()
        np.testing.assert_array_equal(kernel(again, again, out=again), expected)
    finally:
        cr.set_threads(None)


def test_torques_of_closed_loops_are_written_into_out():
    q = LINKAGE.loops.close(LINKAGE.neutral())
    rest = np.zeros(LINKAGE.nv)
    out = np.empty(LINKAGE.nv)
    assert LINKAGE.inverse_dynamics(q, rest, rest, out=out) is out
    np.testing.assert_array_equal(out, LINKAGE.inverse_dynamics(q, rest, rest))


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((5, 2)), r"out must be a NumPy array of shape \(5, 2, 2\) and type float64, got shape \(5, 2\)"),
        (np.empty((1, 5, 2, 2)), r"got shape \(1, 5, 2, 2\)"),
        (np.empty((5, 2, 2), np.float32), "and type float64, got .* float32"),
        (np.empty((5, 2, 2), int), "got .* int64"),
        ([[0.0]], "must be a NumPy array"),
        (np.ma.zeros((5, 2, 2)), "must be a NumPy array"),
        ("M", "must be a NumPy array"),
        (np.broadcast_to(np.zeros(2), (5, 2, 2)), "cannot be written to"),
        (np.lib.stride_tricks.as_strided(np.zeros(2), (5, 2, 2), (0, 0, 8)), "share one place in memory"),
    ],
    ids=["shape", "batch", "single", "whole", "list", "masked", "text", "read-only", "strides"],
)
def test_what_is_no_place_for_the_result_is_refused(out, message):
    for robot in (ARM, ARM.reference):
        with pytest.raises(cr.ShapeError, match=message):
            robot.mass_matrix(Q, out=out)


def test_results_of_lazy_arrays_are_not_written():
    dask_array = pytest.importorskip("dask.array")
    with pytest.raises(cr.ShapeError, match="lazy"):
        ARM.mass_matrix(dask_array.from_array(Q), out=np.empty((5, 2, 2)))


def test_half_of_a_mass_matrix_is_its_lower_triangle():
    for robot in (ARM, ARM.reference, cr.load("quadruped").reference):
        q = robot.random_state(np.random.default_rng(3), (4,))
        rows, columns = np.tril_indices(robot.nv)
        half = robot.mass_matrix(q, half=True)
        np.testing.assert_allclose(half, robot.mass_matrix(q)[..., rows, columns], rtol=1e-13, atol=1e-13)
        out = np.empty_like(half)
        assert robot.mass_matrix(q, half=True, out=out) is out
        np.testing.assert_array_equal(out, half)
    assert ARM.compiled.kernel("mass_matrix", half=True).signature == "(2)->(3)"
    with pytest.raises(cr.ShapeError, match="half"):
        ARM.mass_matrix(Q, half="lower")


def test_entries_of_a_symmetric_matrix_are_computed_once():
    tape = cr.load("panda").compiled.kernel("mass_matrix").tape
    assert len(set(tape.outputs)) == 28


def test_an_empty_batch_is_written_into_an_empty_array():
    out = np.empty((3, 0, 2))
    assert ARM.gravity_torque(np.zeros((3, 0, 2)), out=out) is out
    with pytest.raises(cr.ShapeError, match="share one place"):
        ARM.gravity_torque(Q, out=np.lib.stride_tricks.as_strided(np.zeros(2), (5, 2), (0, 8)))
