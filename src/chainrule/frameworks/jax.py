"""The functions of a robot in JAX: jit, vmap, grad, forward and reverse mode of any order.

One primitive stands for every operator. On the CPU it is lowered to a call of compiled code by XLA's foreign function
interface, or to a call of Python where there is no compiled code; on CUDA, to a kernel of Pallas; elsewhere, to plain
arithmetic.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.compile.fast_calls.xla_call import API_MAJOR, API_MINOR
from chainrule.compile.interpreter import run_tape
from chainrule.errors import ShapeError, import_optional
from chainrule.frameworks.functions import FrameworkFunctions, OperatorCall, refuse_length
from chainrule.frameworks.operators import Operator, product_key

jax = import_optional("jax", "robot.jax")
jnp = import_optional("jax.numpy", "robot.jax")
ad = import_optional("jax.interpreters.ad", "robot.jax")
batching = import_optional("jax.interpreters.batching", "robot.jax")
mlir = import_optional("jax.interpreters.mlir", "robot.jax")
core = import_optional("jax.extend.core", "robot.jax")

MAX_STATES = 2**31 - 4096
"""States that a kernel of Pallas can count."""

MIN_COMPUTE_CAPABILITY = 8.0
"""That of the oldest GPUs for which Triton compiles."""


class JaxFunctions(FrameworkFunctions):
    """Functions of a robot on arrays of JAX.

    Each has derivatives of every order with respect to all of its arrays. Configurations are differentiated by their
    nq numbers as stored; a quaternion counts as its unit multiple. Results are float32 unless an argument is float64,
    which needs jax.config.update("jax_enable_x64", True).
    """

    framework = "jax"

    def vectors(self, given: Mapping[str, Any], lengths: Sequence[int]) -> list[Any]:
        """Arrays of one precision, with equal batch dimensions."""
        arrays = [_array(value, what) for what, value in given.items()]
        precision = jnp.result_type(*(x.dtype for x in arrays))
        for array, length, what in zip(arrays, lengths, given, strict=True):
            refuse_length(array.shape, length, what)
        try:
            batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        except ValueError:
            shapes = ", ".join(f"{what} {x.shape}" for what, x in zip(given, arrays, strict=True))
            raise ShapeError(f"the leading (batch) dimensions do not fit together: {shapes}") from None
        return _varying_together([jnp.broadcast_to(x.astype(precision), (*batch, x.shape[-1])) for x in arrays])

    def apply(self, plan: OperatorCall, vectors: list[Any]) -> Any:
        """The result of the operator of a plan."""
        return evaluate.bind(*vectors, key=plan.key).reshape((*vectors[0].shape[:-1], *plan.shape))


def _array(value: Any, what: str) -> Any:
    """An array of single or double precision."""
    try:
        array = jnp.asarray(value)
    except Exception as error:
        raise ShapeError(f"{what} must be an array of numbers, got {type(value).__name__}") from error
    if jnp.issubdtype(array.dtype, jnp.integer):
        return array.astype(float)
    if array.dtype not in (np.float32, np.float64):
        raise ShapeError(f"{what} must be of float32 or float64, got {array.dtype}")
    return array


def _varying_together(arrays: list[Any]) -> list[Any]:
    """Arrays that differ between devices along the same axes of a mesh, inside shard_map."""
    own = [_varying_axes(x) for x in arrays]
    axes = frozenset().union(*own)
    pairs = zip(arrays, own, strict=True)
    return [x if mine == axes else jax.lax.pcast(x, tuple(axes - mine), to="varying") for x, mine in pairs]


def _varying_axes(array: Any) -> frozenset[Any]:
    kind = jax.typeof(array)
    return frozenset(kind.manual_axis_type.varying if hasattr(kind, "manual_axis_type") else kind.vma)


evaluate = core.Primitive("chainrule_evaluate")


def _impl(*arrays: Any, key: str) -> Any:
    return _jit(key)(*arrays)


@cache
def _jit(key: str) -> Callable[..., Any]:
    return jax.jit(lambda *arrays: evaluate.bind(*arrays, key=key))


def _abstract(*arrays: Any, key: str) -> Any:
    return arrays[0].update(shape=(*arrays[0].shape[:-1], Operator.find(key).size), weak_type=False)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, key: str) -> Any:
    places = [k for k, tangent in enumerate(tangents) if type(tangent) is not ad.Zero]
    rates = [tangents[k] for k in places]
    return evaluate.bind(*primals, key=key), evaluate.bind(*primals, *rates, key=product_key(key, "jvp", places))


def _transpose(cotangent: Any, *arrays: Any, key: str) -> list[Any]:
    """The cotangents of the arguments in which a product is linear: tangents of a jvp, the cotangent of a vjp."""
    unknown = [k for k, x in enumerate(arrays) if ad.is_undefined_primal(x)]
    found: list[Any] = [None] * len(arrays)
    if type(cotangent) is ad.Zero:
        return found
    base, _, step = key.rpartition("/")
    kind, *places = step.split("-")
    if kind == "jvp":
        known = arrays[: len(arrays) - len(places)]
        wanted = [int(places[k - len(known)]) for k in unknown]
        whole = evaluate.bind(*known, cotangent, key=product_key(base, "vjp", wanted))
        ends = np.cumsum([known[k].shape[-1] for k in wanted])[:-1]
        for k, part in zip(unknown, jnp.split(whole, ends, axis=-1), strict=True):
            found[k] = part
    else:
        known, chosen = arrays[:-1], [int(k) for k in places]
        ends = np.cumsum([known[k].shape[-1] for k in chosen])[:-1]
        parts = jnp.split(cotangent, ends, axis=-1)
        found[-1] = evaluate.bind(*known, *parts, key=product_key(base, "jvp", chosen))
    return found


def _batch(arrays: Sequence[Any], dimensions: Sequence[Any], *, key: str) -> Any:
    pairs = list(zip(arrays, dimensions, strict=True))
    size = next(x.shape[d] for x, d in pairs if d is not None)
    first = [jnp.broadcast_to(x, (size, *x.shape)) if d is None else jnp.moveaxis(x, d, 0) for x, d in pairs]
    return evaluate.bind(*first, key=key), 0


# --- lowering ---


def _lower_on_cpu(context: Any, *operands: Any, key: str) -> Any:
    bits = 8 * context.avals_in[0].dtype.itemsize
    handler = Operator.find(key).xla_handler(bits) if foreign_calls_possible() else None
    if handler is None:
        return mlir.lower_fun(_call_python, multiple_results=False)(context, *operands, key=key)
    return jax.ffi.ffi_lowering(_register(key, bits))(context, *operands)


@cache
def _register(key: str, bits: int) -> str:
    """Make compiled code known to XLA under a name."""
    return _register_handler(f"chainrule/{key}/{bits}", Operator.find(key).xla_handler(bits))


def _register_handler(name: str, handler: Any) -> str:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    _handlers.append(handler)
    jax.ffi.register_ffi_target(name, make(handler.address, None, None), platform="cpu")
    return name


_handlers: list[Any] = []
"""Those that XLA knows, and may call at any time from now on."""


@cache
def foreign_calls_possible() -> bool:
    """Whether XLA's interface has the version whose structures are known here, and a call of it computes a sum."""
    try:
        text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    except OSError:
        return False
    version = {name: int(number) for name, number in re.findall(r"#define XLA_FFI_API_(M\w+OR) (\d+)", text)}
    if version.get("MAJOR") != API_MAJOR or version.get("MINOR", -1) < API_MINOR:
        return False
    try:
        from chainrule.compile.fast_calls.xla_handler import self_test_handler

        name = _register_handler("chainrule/self_test", self_test_handler())
        with jax.ensure_compile_time_eval(), jax.default_device(jax.devices("cpu")[0]):
            result = jax.ShapeDtypeStruct((3, 1), np.float32)
            sums = jax.ffi.ffi_call(name, result)(np.arange(6, dtype=np.float32).reshape(3, 2))
        return bool(np.asarray(sums).tolist() == [[1.0], [5.0], [9.0]])
    except Exception:
        return False


def _call_python(*arrays: Any, key: str) -> Any:
    """A call of the operator on arrays of NumPy."""
    operator = Operator.find(key)
    result = jax.ShapeDtypeStruct((*arrays[0].shape[:-1], operator.size), arrays[0].dtype)
    return jax.pure_callback(lambda *given: operator([np.asarray(x) for x in given]), result, *arrays)


def _lower_on_cuda(*arrays: Any, key: str) -> Any:
    """A kernel of Pallas; plain arithmetic where there is none."""
    operator, batch = Operator.find(key), arrays[0].shape[:-1]
    if 0 in (operator.size, *batch):
        return jnp.zeros((*batch, operator.size), arrays[0].dtype)
    states = math.prod(batch)
    if not pallas_possible() or not isinstance(states, int) or states > MAX_STATES:
        return _lower_to_arithmetic(*arrays, key=key)
    from chainrule.frameworks import pallas

    rows = [x.reshape((states, x.shape[-1])) for x in arrays]
    return pallas.evaluate(operator.tape, rows).reshape((*batch, operator.size))


@cache
def pallas_possible() -> bool:
    """Whether Pallas can compile for the GPUs of this machine; without any, whether it is there."""
    try:
        import_module("jax.experimental.pallas.triton")
        found = [float(device.compute_capability) for device in jax.devices("cuda")]
    except ImportError:
        return False
    except RuntimeError:  # no GPU: a program for another machine
        return True
    return min(found) >= MIN_COMPUTE_CAPABILITY


def _lower_to_arithmetic(*arrays: Any, key: str) -> Any:
    """The operations of the operator, one after the other."""
    columns = run_tape(Operator.find(key).tape, arrays, jnp)
    zero = jnp.zeros(arrays[0].shape[:-1], arrays[0].dtype)
    return jnp.stack([column + zero for column in columns], axis=-1)


evaluate.def_impl(_impl)
evaluate.def_abstract_eval(_abstract)
ad.primitive_jvps[evaluate] = _jvp
ad.primitive_transposes[evaluate] = _transpose
batching.primitive_batchers[evaluate] = _batch
mlir.register_lowering(evaluate, _lower_on_cpu, platform="cpu")
mlir.register_lowering(evaluate, mlir.lower_fun(_lower_on_cuda, multiple_results=False), platform="cuda")
mlir.register_lowering(evaluate, mlir.lower_fun(_lower_to_arithmetic, multiple_results=False))
