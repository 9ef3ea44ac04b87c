"""CUDA kernels: their text, their numbers on an emulated device, and what they refuse."""

import pickle
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrule as cr
from chainrule.compile.cuda import codegen as emit
from chainrule.compile.cuda import device_arrays, driver
from chainrule.compile.liveness import register_pressure, spills
from chainrule.compile.subtape import subtape
from chainrule.compile.tape import OPERATIONS, Instruction, Tape, with_shared_reciprocals
from chainrule.errors import MissingPackageError, ShapeError
from compile.cuda.emulator import emulated_device, on_device


@pytest.fixture
def device():
    """An emulated device."""
    with emulated_device():
        yield


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_2r")


def states(kernel, n, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, length)) for length in kernel._lengths]


def test_kernel_writes_every_number_for_any_number_of_states(device, arm):
    kernel = arm.compiled.kernel("inverse_dynamics", target="cuda")
    for n in (1, 31, 32, 33, 130):
        given = states(kernel, n, n)
        for bits, close in ((32, 1e-5), (64, 1e-13)):
            got = kernel(*(on_device(x, bits) for x in given))
            assert got.dtype == f"float{bits}"
            assert np.allclose(got, arm.reference.inverse_dynamics(*given), rtol=0, atol=close)


def test_no_states_are_no_error(device, arm):
    kernel, nothing = arm.compiled.kernel("inverse_dynamics", target="cuda"), on_device(np.zeros((0, 2)))
    out = on_device(np.zeros((0, 2)))
    assert kernel(nothing, nothing, nothing, out=out) is out


def test_a_wide_result_is_computed_in_parts(device, monkeypatch, arm):
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    monkeypatch.setattr(emit, "MAX_TILE_BYTES", 2048)  # eight doubles a state
    tape = arm.compiled.kernel("inverse_dynamics_derivatives", target="cuda").tape
    assert emit.shared_memory_of(tape, 64).parts == ((0, 8), (8, 12))
    kernel = pickle.loads(pickle.dumps(arm.compiled.kernel("inverse_dynamics_derivatives", target="cuda")))
    given = states(kernel, 45)
    got = kernel(*map(on_device, given))
    assert np.allclose(got, arm.compiled.kernel("inverse_dynamics_derivatives")(*given), rtol=0, atol=1e-13)


def test_values_that_wait_long_are_kept_in_shared_memory(device, monkeypatch, arm):
    """With few registers and few slots, the numbers are the same."""
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    monkeypatch.setattr(emit, "MOST_WAITING", {32: 5, 64: 5})
    monkeypatch.setattr(emit, "REGISTERS", {32: 4, 64: 4})
    kernel = pickle.loads(pickle.dumps(arm.compiled.kernel("forward_dynamics", target="cuda")))
    text = kernel.source(64)
    assert text.count("KEEP(") > 20
    given = states(kernel, 45)
    assert np.allclose(kernel(*map(on_device, given)), arm.reference.forward_dynamics(*given), rtol=0, atol=1e-12)


@given(st.integers(1, 12), st.integers(1, 30))
def test_no_slot_holds_two_values_at_once(registers, slots):
    tape = cr.load("planar_3r").compiled.kernel("mass_matrix", target="cuda").tape
    kept = spills(tape, registers, slots)
    last = {v: k for k, i in enumerate(tape.instructions) for v in i.operands}
    spans = sorted((place.slot, place.after, last[value]) for value, place in kept.items())
    assert all(slot < slots for slot, _, _ in spans)
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(spans))
    if slots == 30:  # enough for this tape
        assert register_pressure(tape) - len(kept) <= registers


def test_a_kernel_is_launched_with_the_threads_it_is_written_for(monkeypatch):
    """Also where shared reciprocals make a tape one that is no longer small."""
    inputs = [Instruction("input", argument=0, entry=k) for k in range(3)]
    tape = Tape((3,), (*inputs, Instruction("div", (0, 2)), Instruction("div", (1, 2))), (3, 4))
    written = len(with_shared_reciprocals(tape).instructions)
    assert written > len(tape.instructions)
    monkeypatch.setattr(emit, "MAX_SMALL_TAPE", written)
    threads = emit.shared_memory_of(tape, 64).threads
    assert f"__launch_bounds__({threads}) quotients(" in emit.batch_kernel("quotients", tape, 64)


def test_batches_broadcast_and_rows_may_be_strided(device, arm):
    kernel = arm.compiled.kernel("inverse_dynamics", target="cuda")
    q, qd, qdd = states(kernel, 40)
    want = arm.reference.inverse_dynamics(q[:20], qd[0], qdd[:40:2])
    got = kernel(on_device(q)[:20], on_device(qd[0]), on_device(qdd)[::2])
    assert np.allclose(got, want, rtol=0, atol=1e-13)
    nested = kernel(*(on_device(x.reshape(4, 10, 2)) for x in (q, qd, qdd)))
    assert np.allclose(nested.reshape(40, 2), arm.reference.inverse_dynamics(q, qd, qdd), rtol=0, atol=1e-13)
    assert kernel(*(on_device(np.zeros((0, 2))) for _ in range(3))).shape == (0, 2)


def test_out_is_written_and_returned(device, arm):
    kernel = arm.compiled.kernel("mass_matrix", target="cuda")
    q = on_device(states(kernel, 5)[0])
    out = on_device(np.full((5, 2, 2), np.nan))
    assert kernel(q, out=out) is out
    assert np.allclose(out, arm.reference.mass_matrix(np.asarray(q)), rtol=0, atol=1e-14)
    with pytest.raises(ShapeError, match=r"out must be contiguous, of shape \(5, 2, 2\) and type float64"):
        kernel(q, out=on_device(np.zeros((5, 4))))
    whole = on_device(np.zeros(40))
    with pytest.raises(ShapeError, match="shares memory with an argument"):
        kernel(whole[:10].reshape(5, 2), out=whole[5:25].reshape(5, 2, 2))


def test_what_is_wrong_with_arguments_is_said(device, arm):
    kernel = arm.compiled.kernel("inverse_dynamics", target="cuda")
    q, qd, qdd = map(on_device, states(kernel, 4))
    with pytest.raises(ShapeError, match=r"takes 3 arguments \(q, qd, qdd\), got 2"):
        kernel(q, qd)
    with pytest.raises(ShapeError, match="inverse_dynamics: qd must have 2 numbers in its last dimension"):
        kernel(q, qd[:, :1], qdd)
    with pytest.raises(ShapeError, match=r"do not fit together: q \(4, 2\), qd \(3, 2\)"):
        kernel(q, qd[:3], qdd)
    with pytest.raises(ShapeError, match="must have one type, got q float32, qd float64"):
        kernel(q.astype("float32"), qd, qdd)
    with pytest.raises(ShapeError, match="must be of type float32 or float64, got int64"):
        kernel(q.astype(int), qd, qdd)
    with pytest.raises(ShapeError, match="numbers of each row of q must lie one after the other"):
        kernel(on_device(np.zeros((2, 4))).T, qd, qdd)
    qd.number = 1
    with pytest.raises(ShapeError, match="must have one CUDA device, got q 0, qd 1"):
        kernel(q, qd, qdd)


def test_arrays_on_the_host_are_refused_with_what_to_do(arm):
    kernel = arm.compiled.kernel("mass_matrix", target="cuda")
    with pytest.raises(ShapeError, match=r"must be an array on a CUDA device.* got an array of NumPy .*cupy.asarray"):
        kernel(np.zeros(2))
    with pytest.raises(ShapeError, match="got list"):
        kernel([0.0, 0.0])
    torch = pytest.importorskip("torch")
    with pytest.raises(ShapeError, match="must be on a CUDA device, got a tensor on cpu"):
        kernel(torch.zeros(2))
    jax = pytest.importorskip("jax")
    with pytest.raises(ShapeError, match="must be on a CUDA device, got an array of JAX"):
        kernel(jax.numpy.zeros(2))


def test_angles_of_any_size_are_right(device, arm):
    """Large angles take another way; infinite ones give no number."""
    kernel = arm.compiled.kernel("mass_matrix", target="cuda")
    q = np.array([[0.1, 1e4], [1e7, -3e12], [0.2, np.inf], [np.nan, 0.3], [0.4, -0.5]])
    want = arm.reference.mass_matrix(q[[0, 1, 4]])
    got = np.asarray(kernel(on_device(q)))
    assert np.allclose(got[[0, 1, 4]], want, rtol=0, atol=1e-14)
    assert np.isnan(got[2, 0, 0])
    assert np.isfinite(got[3]).all()  # the first angle has no part in it
    single = np.asarray(kernel(on_device(q[[0, 4]], 32)))
    assert np.allclose(single, arm.reference.mass_matrix(q[[0, 4]].astype("float32").astype(float)), rtol=0, atol=1e-6)


def test_warps_go_on_to_further_states(device, arm):
    """One block computes any number of states, in turns."""
    kernel = arm.compiled.kernel("mass_matrix", target="cuda")
    q = on_device(states(kernel, 1000)[0])
    out = on_device(np.full((1000, 4), np.nan))
    kernel._code(64).launch(
        "mass_matrix", (1, 1), kernel._facts[64]["threads"], [1000, q.ctypes.data, 2, out.ctypes.data]
    )
    assert np.allclose(out.reshape(1000, 2, 2), arm.reference.mass_matrix(np.asarray(q)), rtol=0, atol=1e-14)


GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["pendulum.cu", "pendulum.h", "pendulum_main.cu"])
def test_the_cuda_text_of_a_small_kernel_is_as_it_was(name, tmp_path, request):
    """Run pytest with --update-golden after a change that is meant."""
    cr.load("pendulum").compiled.export("cuda", functions=["inverse_dynamics"], path=tmp_path / "pendulum.cu")
    text = (tmp_path / name).read_text()
    golden = GOLDEN / f"cuda_{name}"
    if request.config.getoption("--update-golden"):
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no CUDA compiler")
def test_exported_files_compile(arm, tmp_path):
    arm.compiled.export("cuda", functions=["inverse_dynamics", "mass_matrix"], path=tmp_path / "arm.cu")
    command = ["nvcc", "-arch=sm_90", "-Werror", "all-warnings", "arm.cu", "arm_main.cu", "-o", "arm"]
    subprocess.run(command, check=True, cwd=tmp_path)


def test_methods_of_the_robot_say_where_arrays_on_a_device_belong(arm):
    class OnDevice:
        __cuda_array_interface__: ClassVar = {}

        def __array__(self, *_, **__):
            raise TypeError("implicit conversion to a NumPy array is not allowed")

    with pytest.raises(ShapeError, match=r"q lies on a graphics processor.*target='cuda'"):
        arm.mass_matrix(OnDevice())


def test_targets_are_known_by_name(arm):
    with pytest.raises(ShapeError, match="target 'cpu' or 'cuda', got 'opencl'"):
        arm.compiled.kernel("mass_matrix", target="opencl")


@pytest.mark.skipif("cupy" in sys.modules or shutil.which("nvidia-smi") is not None, reason="there may be a device")
def test_without_cupy_or_a_device_the_call_says_so(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'chainrule\[cuda\]'"):
        driver.CupyDriver().version()


def test_every_operation_has_its_text(device):
    """Each operation of tapes, on the emulated device, against the same on NumPy."""
    from chainrule.compile.interpreter import evaluate

    inputs = [Instruction("input", argument=0, entry=k) for k in range(2)]
    instructions = [Instruction(name, (0, 1)[:count]) for name, count in OPERATIONS.items()]
    constants = [Instruction("constant", constant=x) for x in (np.inf, -np.inf, np.nan, -0.5, 1e-300)]
    whole = (*inputs, *instructions, *constants)
    tape = Tape((2,), whole, tuple(range(2, len(whole))))
    rows = np.array([[0.3, 0.7], [0.9, 0.2], [0.5, 0.5], [0.0, 1.0]])
    source = emit.prelude(64) + emit.batch_kernel("all_operations", tape, 64)
    code = driver.CudaCode(source, {"robot": "none", "function": "all", "bits": 64})
    x, out = on_device(rows), on_device(np.full((4, len(tape.outputs)), 7.0))
    layout = emit.shared_memory_of(tape, 64)
    code.launch("all_operations", (1, len(layout.parts)), layout.threads, [4, x.ctypes.data, 2, out.ctypes.data])
    with np.errstate(all="ignore"):
        want = evaluate(tape, [rows], (len(tape.outputs),))
    assert np.allclose(np.asarray(out), want, rtol=1e-14, atol=0, equal_nan=True)


def test_parts_of_a_tape_are_the_same_numbers(arm):
    from chainrule.compile.interpreter import evaluate

    tape = arm.compiled.kernel("mass_matrix", target="cuda").tape
    some = subtape(tape, tape.outputs[2:])
    q = np.array([[0.4, -0.9]])
    assert len(some.instructions) < len(tape.instructions)
    assert np.array_equal(evaluate(some, [q], (2,)), evaluate(tape, [q], (4,))[:, 2:])


def test_kernels_travel_as_what_they_are_made_from(arm):
    kernel = arm.compiled.kernel("mass_matrix", target="cuda")
    again = pickle.loads(pickle.dumps(kernel))
    assert (again.signature, again.source(64)) == (kernel.signature, kernel.source(64))
    assert "CudaKernel mass_matrix of 'planar_2r' (2)->(2,2)" in repr(kernel)
    with pytest.raises(ShapeError, match="bits must be 32 or 64, got 16"):
        kernel.source(16)
    with pytest.raises(ShapeError, match="architecture must be a word such as 'sm_90'"):
        kernel.build("; rm -rf")


def test_text_comes_from_the_cache_without_a_trace(arm, tmp_path, monkeypatch):
    from chainrule.compile.cuda.kernel import CudaKernel

    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path / "cache"))
    first = arm.compiled.kernel("gravity_torque", target="cuda")
    made = pickle.loads(pickle.dumps(first))
    text = made.source(32)
    monkeypatch.setattr(CudaKernel, "tape", property(lambda self: pytest.fail("traced again")))
    assert pickle.loads(pickle.dumps(first)).source(32) == text


def test_kernels_need_neither_llvm_nor_casadi_nor_sympy():
    """A cluster's node has NumPy and CuPy: everything else may be missing."""
    program = """
import sys
for name in ("casadi", "llvmlite", "sympy", "scipy"):
    sys.modules[name] = None
import chainrule as cr
print(len(cr.load("panda").compiled.kernel("inverse_dynamics", target="cuda").source(32)) > 10_000)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no CUDA compiler")
def test_the_cuda_compiler_takes_the_text(arm, tmp_path):
    for bits in (32, 64):
        file = tmp_path / f"kernel{bits}.cu"
        file.write_text(arm.compiled.kernel("inverse_dynamics", target="cuda").source(bits))
        command = ["nvcc", "-arch=sm_90", "-cubin", "-Werror", "all-warnings", "-o", str(tmp_path / "k"), str(file)]
        subprocess.run(command, check=True)


def test_views_of_arrays_know_their_rows():
    def view(shape, strides):
        return device_arrays.DeviceArray(1000, shape, strides, 64, 0, device_arrays.CUPY)

    assert view((4, 3), (3, 1)).row_stride((4,)) == 3
    assert view((3,), (1,)).row_stride((4,)) == 0
    assert view((2, 4, 3), (12, 3, 1)).row_stride((2, 4)) == 3
    assert view((2, 4, 3), (24, 6, 1)).row_stride((2, 4)) == 6
    assert view((2, 4, 3), (30, 6, 1)).row_stride((2, 4)) is None
    assert view((2, 1, 3), (3, 3, 1)).row_stride((2, 4)) is None
    assert view((4, 3), (1, 4)).row_stride((4,)) is None
    assert view((1, 3), (99, 1)).row_stride((1,)) == 0
    assert view((4, 3), (3, 1)).overlaps(view((1,), (1,)))
    assert not view((0, 3), (3, 1)).overlaps(view((4,), (1,)))
