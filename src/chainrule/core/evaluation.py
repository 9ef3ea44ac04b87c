"""Functions of the table on a robot: options checked, kernels called, and calls that go straight to machine code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from chainrule.arguments import Array, checked_out, names, result_array, together
from chainrule.compile.backend import COMPILED, Call, active, is_worth_compiling
from chainrule.compile.fast_calls.dispatch_table import DispatchTable, Pattern
from chainrule.compile.fast_calls.numpy_abi import single_calls_possible
from chainrule.compile.jacobian_products import JacobianProduct
from chainrule.compile.runtime import memory_cache
from chainrule.core.derived import (
    backend_of,
    has_moving_mass,
    massless_joints,
    merged_model,
    remember,
)
from chainrule.core.parameter_values import bound_parameters, read_parameters
from chainrule.core.patterns import CallPatterns, PlainCall
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import NO_LOADS, Loads, read_arguments, read_state
from chainrule.core.requirements import describe_lack
from chainrule.errors import ChainruleError, ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.functions.table import (
    ARGUMENTS,
    DISPLACEMENTS,
    FUNCTIONS,
    POSITIONS,
    RATES,
    VELOCITIES,
    Function,
    Needs,
    entry_of,
)
from chainrule.model.parameters import find_parameters

if TYPE_CHECKING:
    from chainrule.compile.cuda.kernel import CudaKernel
    from chainrule.compile.fast_calls.builtins import Learn
    from chainrule.compile.kernel import Kernel
    from chainrule.core.mechanism import Mechanism


MAX_COPIED = 2**16
"""Numbers of a result that is computed by the quickest call and copied into the array of the user's, 30 us at most."""
STATES = (POSITIONS, VELOCITIES, DISPLACEMENTS, RATES)


def require(robot: Mechanism, function: str) -> None:
    """Raise where the robot lacks what a function needs: masses, or a mass matrix that can be inverted."""
    needs = FUNCTIONS[function].needs
    if needs is Needs.NOTHING or not robot.model.nv:
        return
    if not has_moving_mass(robot) or (needs is Needs.INVERTIBLE_MASS and massless_joints(robot)):
        raise ModelError(describe_lack(function, robot.model, massless_joints(robot) if has_moving_mass(robot) else ()))


def evaluate(
    robot: Mechanism,
    function: str,
    loads: Loads = NO_LOADS,
    /,
    *,
    parameters: Any = None,
    out: Any = None,
    **arguments: Any,
) -> Array:
    """A function of the table, batched; `arguments` are its vectors and its options by name.

    parameters={"hand.payload": (..., 10)} are values of parameters of the robot, as of `robot.at`. The result
    is written into the array `out` where one is given.
    """
    if parameters is None and "_parameters" in robot.__dict__:
        parameters = bound_parameters(robot)
    if parameters is None and 0 < getattr(out, "size", 0) <= MAX_COPIED:
        values = evaluate(robot, function, loads, **arguments)
        result = checked_out(out, values.shape, values.dtype, function)
        result[...] = values
        return result
    if parameters is not None or out is not None:
        return _evaluate_with(robot, parameters, out, function, loads, arguments)
    vectors = [arguments.pop(name) for name in FUNCTIONS[function].arguments]
    evaluations: dict[Hashable, Callable[..., Array]] = robot.__dict__.setdefault("_evaluations", {})
    key = (function, loads.links, loads.labels, *arguments.items())
    try:
        evaluation = evaluations.get(key)
    except TypeError:  # a list among the options
        return _new_evaluation(robot, function, loads, arguments)(*vectors, *loads.wrenches)
    if evaluation is None:
        evaluation = evaluations[key] = _new_evaluation(robot, function, loads, arguments)
    found: Array = evaluation(*vectors, *loads.wrenches)
    return found


def _new_evaluation(robot: Mechanism, function: str, loads: Loads, options: dict[str, Any]) -> Callable[..., Array]:
    """A function with its options, as a function of vectors and wrenches; builtin where that is possible."""
    entry = FUNCTIONS[function]
    if loads.links:
        options["loads"] = loads.links
    call = _plain_call(robot, function, options)

    def compute(*arrays: Array) -> Array:
        backend = active(backend_of(robot))
        result = backend.evaluate(call, arrays)
        if backend.compiles and call not in _installed_calls(robot) and result.size:
            _install_call(robot, call)
        return result

    def evaluate(*values: Any) -> Array:
        arrays = _read(robot, function, dict(zip(entry.arguments, values, strict=False)))
        if loads.wrenches:
            arrays |= zip(loads.labels, values[len(arrays) :], strict=True)
        result: Array = on_arrays(*together(arrays, function))
        return result

    def learn(records: DispatchTable, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        kernel = None if records.records else memory_cache.lookup(call)
        if kernel is not None and kernel.target.fits:
            records.add(Pattern.of_arrays(len(arguments)), kernel.target)

    if not (active(backend_of(robot)).compiles and single_calls_possible() and is_worth_compiling(call)):
        on_arrays: Callable[..., Array] = compute
        return evaluate
    on_arrays = _builtin(robot, compute, function, "", learn)
    return _builtin(robot, evaluate, function, "", learn)


def _builtin(robot: Mechanism, fallback: Callable[..., Any], name: str, doc: str, learn: Learn) -> Any:
    """A builtin for arrays, which are taken as its records say; anything else goes to `fallback`."""
    with memory_cache.compile_lock():  # a fork must not happen in an import
        from chainrule.compile.fast_calls.builtins import array_function

        return array_function(fallback, name, doc, learn)


def _evaluate_with(
    robot: Mechanism, parameters: Any, out: Any, function: str, loads: Loads, arguments: dict[str, Any]
) -> Array:
    """A function with parameters of the robot, or one whose result is written into an array of the user's, checked."""
    entry = FUNCTIONS[function]
    bound = read_parameters(robot.model, function, parameters)
    vectors = {name: arguments.pop(name) for name in entry.arguments}
    if entry.loaded:
        arguments["loads"] = loads.links
    call = call_of(robot, function, arguments, parameters=bound.names)
    backend = active(backend_of(robot))
    own = entry.shape(robot.model if entry.whole else merged_model(robot), dict(call.options))
    further = (*loads.wrenches, *bound.arrays)
    arrays = _read(robot, function, vectors)
    arrays |= zip((*loads.labels, *bound.labels), further, strict=True)
    inputs = together(arrays, function)
    if out is None:
        return backend.evaluate(call, inputs)
    result = result_array(out, (*inputs[0].shape[:-1], *own), inputs, function)
    if any(np.may_share_memory(result, array) for array in inputs):  # rows must not change before they are read
        result[...] = backend.evaluate(call, inputs)
        return result
    return backend.evaluate(call, inputs, result)


def _read(robot: Mechanism, function: str, vectors: Mapping[str, Any]) -> dict[str, Array]:
    """The arguments of a function; a warning where a configuration looks like degrees.

    Calls that go straight to machine code do not come here: of arrays, those of a function's first call are looked at.
    """
    arrays = read_arguments(robot, function, vectors)
    if gives_states(FUNCTIONS[function]):  # a step of other functions, which speak of it themselves
        return arrays
    for name, value in vectors.items():
        if ARGUMENTS[name].is_configuration:
            warn_of_degrees(robot, arrays[name], f"{function}: {name}", computed=type(value) is not list)
    return arrays


def gives_states(entry: Function) -> bool:
    """Whether a function gives states of the joints, such as `integrate` and `difference`."""
    return any(axis in STATES for axis in entry.gives)


def zeros(robot: Mechanism, function: str, shape: tuple[int, ...], out: Any = None, /, **state: Any) -> Array:
    """Zeros of this shape for each state, where there is nothing to compute: for checked arguments."""
    arrays = read_state(robot, function, **state)
    whole = (*arrays[0].shape[:-1], *shape)
    if out is None:
        return np.zeros(whole)
    result = result_array(out, whole, arrays, function)
    result[...] = 0.0
    return result


def _plain_call(robot: Mechanism, function: str, options: Mapping[str, Any]) -> Call:
    """A function with its options, checked once, on the model that it is computed on."""
    try:
        return remember(robot, (function, *options.items()), lambda: _new_call(robot, function, options))
    except TypeError:  # a list among the options
        return _new_call(robot, function, options)


def call_of(
    robot: Mechanism,
    function: str,
    options: Mapping[str, Any],
    *,
    parameters: Sequence[str] = (),
    products: Sequence[JacobianProduct] = (),
) -> Call:
    """A function with its options, checked: with numbers of the robot as further arguments, or its products.

    Numbers are those of the whole model; its fixed joints are welded when they are in place.
    """
    plain = _plain_call(robot, function, options)
    further = {"parameters": tuple(parameters), "products": tuple(products)}
    chosen = dict(plain.options) | {name: value for name, value in further.items() if value}
    if not parameters:
        return Call.of(plain.model, function, chosen)
    find_parameters(robot.model, parameters)
    return Call.of(robot.model, function, chosen)


def _new_call(robot: Mechanism, function: str, options: Mapping[str, Any]) -> Call:
    require(robot, function)
    chosen = options_of(robot, function, options)
    if FUNCTIONS[function].whole:
        return Call.of(robot.model, function, chosen)
    return Call.of(merged_model(robot), function, chosen)


def options_of(robot: Mechanism, function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a function: those given, checked, and the defaults of the others."""
    known = FUNCTIONS[function].options_for(robot.model)
    chosen: dict[str, Any] = {}
    for name, option in known.items():
        value = given.get(name)
        chosen[name] = option.default_for(robot, chosen) if value is None else option.check(robot, value)
    for name in given:
        if name not in known:
            raise UnknownNameError.of("option", name, known, f"the kernel {function!r}")
    return chosen


@overload
def kernel_of(
    robot: Mechanism, /, name: str, target: Literal["cpu"] = "cpu", *, parameters: Sequence[str] = (), **options: Any
) -> Kernel: ...
@overload
def kernel_of(
    robot: Mechanism, /, name: str, target: Literal["cuda"], *, parameters: Sequence[str] = (), **options: Any
) -> CudaKernel: ...


def kernel_of(
    robot: Mechanism, /, name: str, target: str = "cpu", *, parameters: Sequence[str] = (), **options: Any
) -> Kernel | CudaKernel:
    """The compiled function of one name, with its signature, instruction count, flops, compile time, IR, assembly.

    Parameters
    ----------
    name
        A function of the table, named as the method is.
    target
        "cpu", or "cuda": a function of arrays on a graphics processor, of CuPy, PyTorch or JAX.
    parameters
        Numbers of the robot that become arguments as well, so that one kernel serves many robots, by the names that
        `robot.at` takes: "gravity", "LINK.inertial", "LINK.payload", "JOINT.origin", "JOINT.viscous", ... Each has its
        numbers in the last dimension of its argument.
    options
        Those of the method: link and frame of a Jacobian; `loads`, the links that wrenches act on, each then an
        argument of six numbers; with closed loops, the independent `rows` of the constraints and the places of
        the `actuated` velocities.
    """
    if not isinstance(target, str) or target not in ("cpu", "cuda"):
        raise ShapeError(f"kernels are made for the target 'cpu' or 'cuda', got {short_repr(target)}")
    entry_of(name)
    if not robot.model.nv:
        raise ModelError(f"robot {robot.name!r} has no degrees of freedom, so there is nothing to compile")
    call = call_of(robot, name, options, parameters=names(parameters, "parameters"))
    if target == "cuda":
        return COMPILED.cuda_kernel(call)
    kernel = COMPILED.kernel(call)
    if active(backend_of(robot)).compiles and call not in _installed_calls(robot):
        _install_call(robot, call)
    return kernel


def _installed_calls(robot: Mechanism) -> set[Call]:
    """The calls for which a builtin has been installed, or has been found impossible."""
    calls: set[Call] = robot.__dict__.setdefault("_installed", set())
    return calls


def _install_call(robot: Mechanism, call: Call) -> None:
    """Let plain calls of the method go straight to machine code, and anything else to the method.

    One state, without options, goes to a call of its own; other arrays and options by the patterns of calls.
    """
    _installed_calls(robot).add(call)
    entry = FUNCTIONS[call.function]
    name = entry.variant_of or call.function
    subject, _, attribute = name.rpartition(".")
    owner = getattr(robot, subject, None) if subject else robot
    method = getattr(type(owner), attribute, None)
    if method is None or not is_worth_compiling(call) or not single_calls_possible():
        return
    if not getattr(method, "__module__", "").startswith("chainrule."):
        return  # somebody's own method of the same name, in a subclass
    patterns = CallPatterns(method, name, robot.model)
    if not patterns.is_plain:
        return
    kernel = COMPILED.kernel(call)
    finish = entry.finish(robot.model, {})
    is_default = _is_default(robot, call) and kernel.has_plain_call and (finish is None or entry.named is not None)
    if attribute in owner.__dict__ and not is_default:
        return

    def learn(records: DispatchTable, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        found = patterns.new_call(arguments, keywords)
        if found is not None:
            _add_record(robot, records, found)

    bound, doc = method.__get__(robot), method.__doc__ or ""
    builtin = kernel.plain_call(bound, doc, learn) if is_default else _builtin(robot, bound, attribute, doc, learn)
    if is_default:
        builtin.__self__.add(Pattern.of_arrays(len(entry.takes)), kernel.target, finish)
    owner.__dict__[attribute] = _with_names(builtin, entry.named, bound) if is_default and entry.named else builtin


def _is_default(robot: Mechanism, call: Call) -> bool:
    """Whether a method with no options makes this call."""
    entry = FUNCTIONS[call.function]
    if entry.variant_of or entry.acts or not entry.is_direct(robot.model):
        return False
    try:
        return call == _plain_call(robot, call.function, {})
    except ChainruleError:  # no end-effector to take when none is named
        return False


def _add_record(robot: Mechanism, records: DispatchTable, found: PlainCall) -> None:
    """Let calls of a pattern go to the kernel that they mean, if it has been made."""
    call = _plain_call(robot, found.function, found.options)
    kernel = memory_cache.lookup(call)
    if kernel is not None and kernel.target.fits:
        finish = FUNCTIONS[found.function].finish(robot.model, dict(call.options))
        records.add(found.pattern, kernel.target, finish)


def _with_names(builtin: Callable[..., Any], named: type[tuple[Any, ...]], method: Any) -> Callable[..., Any]:
    """A builtin whose array for one state becomes the named result; its answers for batches are named already."""
    make, array = tuple.__new__, np.ndarray

    @wraps(method)
    def call(*arguments: Any, **keywords: Any) -> Any:
        answer = builtin(*arguments, **keywords)
        return make(named, answer) if type(answer) is array else answer

    return call
