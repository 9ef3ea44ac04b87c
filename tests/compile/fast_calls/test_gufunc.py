"""Kernels as citizens of NumPy: any strides, dtypes, subclasses, lazy arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from compile.support import LANES, PANDA, QD, QDD, Q, close


@pytest.mark.parametrize("count", range(3 * LANES + 1))
def test_every_length_around_the_vector_width(count):
    arguments = Q[:count], QD[:count], QDD[:count]
    close(PANDA.inverse_dynamics(*arguments), PANDA.reference.inverse_dynamics(*arguments))
    single = PANDA.inverse_dynamics(*(a.astype(np.float32) for a in arguments))
    assert single.dtype == np.float32
    assert_allclose(single, PANDA.reference.inverse_dynamics(*arguments), rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize(
    "layout", ["fortran", "reversed", "every other", "transposed batch", "broadcast", "unaligned", "wide"]
)
def test_any_strides(layout):
    kernel = PANDA.compiled.kernel("inverse_dynamics")
    expected = PANDA.reference.inverse_dynamics(Q, QD, QDD)
    if layout == "fortran":
        arguments = [np.asfortranarray(a) for a in (Q, QD, QDD)]
    elif layout == "reversed":
        arguments, expected = [a[::-1] for a in (Q, QD, QDD)], expected[::-1]
    elif layout == "every other":
        arguments, expected = [a[::2] for a in (Q, QD, QDD)], expected[::2]
    elif layout == "transposed batch":
        arguments = [a.reshape(8, 8, 7).transpose(1, 0, 2) for a in (Q, QD, QDD)]
        expected = expected.reshape(8, 8, 7).transpose(1, 0, 2)
    elif layout == "broadcast":
        arguments = [Q[0], QD[:, None], QDD[None, :8]]
        expected = PANDA.reference.inverse_dynamics(*arguments)
    elif layout == "unaligned":
        arguments = []
        for a in (Q, QD, QDD):
            raw = np.zeros(a.nbytes + 1, dtype=np.uint8)
            raw[1:] = a.view(np.uint8).ravel()
            arguments.append(raw[1:].view(np.float64).reshape(a.shape))
    else:
        arguments = []
        for a in (Q, QD, QDD):
            padded = np.zeros((64, 14))
            padded[:, ::2] = a
            arguments.append(padded[:, ::2])
    close(PANDA.inverse_dynamics(*arguments), expected)
    close(kernel.ufunc(*arguments), expected)


def test_the_kernel_is_a_numpy_citizen():
    kernel = PANDA.compiled.kernel("inverse_dynamics")
    assert isinstance(kernel.ufunc, np.ufunc)
    assert kernel.ufunc.signature == "(7),(7),(7)->(7)" == kernel.signature
    expected = PANDA.reference.inverse_dynamics(Q, QD, QDD)
    out = np.zeros((64, 7))
    assert kernel(Q, QD, QDD, out=out) is out
    close(out, expected)
    strided = np.zeros((64, 14))
    kernel(Q, QD, QDD, out=strided[:, ::2])
    close(strided[:, ::2], expected)
    assert not strided[:, 1::2].any()
    assert kernel(Q, QD, QDD, dtype=np.float32, casting="same_kind").dtype == np.float32
    close(kernel(Q.tolist(), QD.tolist(), QDD.tolist()), expected)
    whole = np.round(Q * 10).astype(int)
    close(kernel(whole, whole, whole), PANDA.reference.inverse_dynamics(whole, whole, whole))
    with pytest.raises(ValueError, match="size 6 is different from 7"):
        kernel(Q[:, :6], QD, QDD)
    M = np.zeros((64, 7, 9))
    PANDA.compiled.kernel("mass_matrix").ufunc(Q, out=M[..., 1:8])
    close(M[..., 1:8], PANDA.reference.mass_matrix(Q))


class Tagged(np.ndarray):
    pass


def test_subclasses_and_array_ufunc_are_honoured():
    kernel = PANDA.compiled.kernel("gravity_torque")
    assert type(kernel(Q.view(Tagged))) is Tagged

    class Lazy:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return ufunc, method

    assert kernel(Lazy()) == (kernel.ufunc, "__call__")


def test_a_dask_array_stays_lazy():
    dask = pytest.importorskip("dask.array")
    lazy = [dask.from_array(a, chunks=(30, 3)) for a in (Q, QD, QDD)]
    tau = PANDA.inverse_dynamics(*lazy)
    assert isinstance(tau, dask.Array)
    close(tau.compute(), PANDA.reference.inverse_dynamics(Q, QD, QDD))
    close(PANDA.mass_matrix(lazy[0]).compute(scheduler="processes"), PANDA.reference.mass_matrix(Q))
