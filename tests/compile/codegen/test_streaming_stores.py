"""Large results are written past the cache, in whole lines, and are the same to the last bit."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile.codegen import streaming_stores
from chainrule.compile.kernel import Kernel
from chainrule.compile.runtime import engine
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import options_of
from compile.support import arguments_of

ARM = cr.load("planar_2r")
FILL = 7.0


def kernels(name, monkeypatch):
    """One function with results that are always streamed, and with results that never are."""
    made = []
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    for least in (streaming_stores.LINE, 1 << 60):
        monkeypatch.setattr(streaming_stores, "MIN_STREAMED_BYTES", least)
        made.append(Kernel(merged_model(ARM), name, "x", options_of(ARM, name, {})))
    return made


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_streamed_results_are_those_that_stay_in_the_cache(bits, dtype, monkeypatch):
    """At every place of the first number in its line, for every number of rows; nothing beside them is touched."""
    if bits > engine.vector_bits():
        pytest.skip(f"this processor has no vectors of {bits} bits")
    monkeypatch.setattr(engine, "vector_bits", lambda: bits)
    for name in ("mass_matrix", "kinetic_energy"):
        streamed, plain = kernels(name, monkeypatch)
        assert "!nontemporal" in streamed.ir()
        for rows in (*range(32, 49, 3), 203):
            arguments = [a.astype(dtype) for a in arguments_of(ARM, name, 1, (rows,))]
            expected = plain.spread(arguments)
            for place in range(streaming_stores.LINE // expected.itemsize):
                memory = np.full(expected.size + 64, FILL, dtype)
                out = memory[place : place + expected.size].reshape(expected.shape)
                streamed.spread(arguments, out)
                np.testing.assert_array_equal(out, expected)
                assert (memory[:place] == FILL).all()
                assert (memory[place + expected.size :] == FILL).all()


def test_only_adjacent_rows_of_aligned_numbers_are_streamed(monkeypatch):
    streamed, plain = kernels("mass_matrix", monkeypatch)
    q = ARM.random_state(np.random.default_rng(0), (50,))
    expected = plain.spread([q])
    odd = np.zeros(expected.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(expected.shape)
    layouts = (
        np.zeros((100, 2, 2))[::2],
        np.zeros((50, 3, 2))[:, :2],
        np.zeros((2, 2, 50)).transpose(2, 0, 1),
        np.zeros((50, 2, 2)).swapaxes(1, 2),
        np.zeros((50, 2, 2))[::-1],
        odd,
    )
    for out in layouts:
        streamed.spread([q], out)
        np.testing.assert_array_equal(out, expected)


def test_threads_share_the_lines_where_their_parts_meet(monkeypatch):
    streamed, plain = kernels("mass_matrix", monkeypatch)
    q = ARM.random_state(np.random.default_rng(0), (600_000,))
    cr.set_threads(4)
    try:
        np.testing.assert_array_equal(streamed.spread([q]), plain.spread([q]))
    finally:
        cr.set_threads(None)
