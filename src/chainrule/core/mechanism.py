"""A model and its functions, evaluated: all state and machinery of a robot, without hooks.

`Robot` is this class with a table of contents. Subjects (kinematics, dynamics, loops, simulation, ..) are files of free
functions over a Mechanism: they read arguments with `read`, evaluate functions of the table with `evaluate`, and keep
what is computed once with `remember`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, Self, SupportsIndex, TypeVar, overload

import numpy as np

from chainrule.arguments import MAX_DIMENSIONS, Array, named_dofs, names, result_array, together
from chainrule.compile import memory
from chainrule.compile.backend import COMPILED, INTERPRETED, Backend, Call, active, is_worth_compiling
from chainrule.compile.load.numpy_abi import single_calls_possible
from chainrule.compile.load.records import Pattern, Records
from chainrule.compile.steps import Product
from chainrule.core.closure import Closure
from chainrule.core.configurations import Configurations
from chainrule.core.loads import NO_LOADS, Loads, read_loads
from chainrule.core.names import read_joint_array, read_joint_numbers
from chainrule.core.parameters import read_parameters
from chainrule.core.patterns import CallPatterns, PlainCall
from chainrule.core.pickling import pack_model, reduce_robot
from chainrule.core.requirements import describe_lack
from chainrule.core.results import Limits
from chainrule.core.validation import has_mass, idle_joints
from chainrule.errors import ChainruleError, ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.functions.table import ARGUMENTS, FUNCTIONS, Needs, entry_of
from chainrule.lazy import cached_property
from chainrule.model import Layout, Model, Quantity, edits
from chainrule.model.parameters import find_parameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.compile.cuda_kernel import CudaKernel
    from chainrule.compile.kernel import Kernel
    from chainrule.compile.load.gufunc import Learn

T = TypeVar("T")


class Mechanism:
    """An immutable model and the functions of its state.

    States are arrays whose last dimension is the joint's, `q` (..., nq) and `qd`, `qdd`, `tau` (..., nv); leading
    dimensions are a batch of the user's, and broadcast. SI units throughout. Spatial vectors have their angular
    part first. Methods that return one array take `out`, an array that the result is written into.
    """

    def __init__(self, model: Model, backend: Backend = COMPILED) -> None:
        if not isinstance(model, Model):
            raise ModelError(f"a Robot is made of a Model, not of {short_repr(model)}; cr.load takes names and paths")
        self._model = model
        self._backend = backend

    # --- what it is ---

    @property
    def model(self) -> Model:
        """The links, joints, frames and constraints: immutable. An edit returns a new robot."""
        return self._model

    @property
    def backend(self) -> Backend:
        """The evaluation of functions: compiled, or as they are written."""
        return self._backend

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.model.name

    @property
    def nq(self) -> int:
        """The number of coordinates in q."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """The number of degrees of freedom."""
        return self.model.nv

    @property
    def n(self) -> int:
        """The number of degrees of freedom, nv."""
        return self.model.nv

    @property
    def layout(self) -> Layout:
        """One record for each number of q and of qd: its joint, name, unit, limits and neutral value."""
        return self.model.layout

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints with coordinates of their own, in the order of those in q; neither fixed nor mimic ones."""
        return self.layout.joint_names

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The name of each number of q: "elbow", or "base.x" and "base.qw" for a joint with several."""
        return self.layout.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The name of each number of qd, qdd and tau: "elbow", or "base.wx" for a joint with several."""
        return self.layout.velocity_names

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """All links, the base first."""
        return tuple(link.name for link in self.model.links)

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """The constraints that close loops, in order."""
        return tuple(constraint.name for constraint in self.model.constraints)

    @property
    def end_effector(self) -> str:
        """The link or frame that functions take when none is named."""
        return self.model.tip

    @property
    def gravity(self) -> Array:
        """The gravity vector in base axes, in m/s^2."""
        return np.array(list(self.model.gravity), dtype=float)

    @cached_property
    def mass(self) -> float:
        """Mass of all links but the base, in kg."""
        return float(sum(link.mass for link in self.merged.links[1:]))

    @cached_property
    def limits(self) -> Limits:
        """Limits on position, speed and effort: an array of (n,) each, infinite where there are none."""
        return Limits.of(self.layout)

    @cached_property
    def configurations(self) -> Mapping[str, Array]:
        """The named configurations, read-only: name -> q (nq,). `with_configuration` adds one.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r").with_configuration("bent", [0.3, -1.2])
        >>> arm.configurations["bent"].tolist()
        [0.3, -1.2]
        """
        entries = {c.name: _read_only(c.coordinates(self.layout)) for c in self.model.configurations}
        return Configurations(self.name, entries)

    @cached_property
    def merged(self) -> Model:
        """The model with its fixed joints welded: what dynamics is computed on. It has no geometry."""
        return edits.merge_fixed(edits.without_annotations(self.model))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every number and name that shapes the model's motion."""
        return fingerprint(self.model)

    @cached_property
    def merged_fingerprint(self) -> str:
        """A digest of every number and name that shapes the merged model's motion."""
        return fingerprint(self.merged)

    @cached_property
    def actuated(self) -> tuple[int, ...]:
        """The places in qd of the velocities that can be driven: those whose effort limit is not zero."""
        return tuple(velocity.index for velocity in self.layout.velocities if not velocity.dof.passive)

    @property
    def passive_joints(self) -> tuple[str, ...]:
        """The joints that nothing drives: those with an effort limit of zero."""
        return tuple(dict.fromkeys(velocity.joint for velocity in self.layout.velocities if velocity.dof.passive))

    @cached_property
    def closure(self) -> Closure:
        """The closing of its loops."""
        return Closure(self.model, self.evaluate)

    @property
    def independent_rows(self) -> tuple[int, ...]:
        """Equations of the constraints that do not follow from others, chosen greedily in listed order."""
        return self.closure.independent_rows

    @property
    def loop_rows(self) -> tuple[int, ...]:
        """Equations of the constraints that the dynamics solves: all but those that follow from others everywhere."""
        return self.closure.rows

    @cached_property
    def has_mass(self) -> bool:
        """Whether anything that moves has a mass, an inertia or a rotor."""
        return has_mass(self.merged)

    @cached_property
    def idle_joints(self) -> tuple[str, ...]:
        """Joints that move no mass, so that the mass matrix is singular."""
        return tuple(idle_joints(self.merged))

    @cached_property
    def reference(self) -> Self:
        """This robot, evaluated by the algorithms as they are written: slow, transparent, and the measure of others."""
        return type(self)(self.model, INTERPRETED)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.n} degrees of freedom, {len(self.link_names)} links>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        own = type(self).__getstate__ is Mechanism.__getstate__ and type(self).__setstate__ is Mechanism.__setstate__
        return (reduce_robot(self) if own else None) or super().__reduce_ex__(protocol)

    def __copy__(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy(self)  # a model does not change

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        model = pack_model(self)
        return type(self), self.backend.compiles, self.fingerprint if model is None else model.digest

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "compiled": self.backend.compiles}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._model = state["model"]
        self._backend = COMPILED if state["compiled"] else INTERPRETED

    def remember(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result of `compute`, computed once for this robot."""
        memory: dict[Hashable, Any] = self.__dict__.setdefault("_remembered", {})
        if key not in memory:
            memory[key] = compute()
        value: T = memory[key]
        return value

    # --- what users pass in ---

    def link(self, name: str | None = None) -> str:
        """The link or frame of this name, or the end-effector where none is named; an unknown name is refused."""
        chosen = self.model.tip if name is None else name
        self.model.locate(chosen)
        return chosen

    def find_joints(self, joints: Sequence[str]) -> tuple[str, ...]:
        """Names of joints, fixed and mimic ones too; an unknown name is refused."""
        chosen = names(joints, "joints")
        known = {joint.name for joint in self.model.joints}
        for name in chosen:
            if name not in known:
                edits.find_joint(self.model, name)
        return chosen

    def find_velocities(self, caller: str, joints: Sequence[str]) -> tuple[int, ...]:
        """The places in qd of joints, by their names; those without coordinates of their own are refused."""
        for name in joints:
            edits.find_joint(self.model, name)
            if name not in self.layout.by_joint:
                raise ModelError(f"{caller}: joint {name!r} has no coordinate of its own to hold")
        return self.layout.velocities_of(joints)

    def read(self, caller: str, /, **arguments: ArrayLike) -> list[Array]:
        """Arguments as arrays with equal batch dimensions, checked; errors name the caller and the argument."""
        arrays = {name: self.read_one(caller, name, value) for name, value in arguments.items()}
        return together(arrays, caller)

    def read_one(self, caller: str, name: str, value: ArrayLike) -> Array:
        """One argument as an array whose last dimension has the right length."""
        argument = ARGUMENTS[name]
        length = argument.length(self.model)
        is_plain = type(value) is np.ndarray and value.dtype == np.float64 and 0 < value.ndim <= MAX_DIMENSIONS
        if is_plain and value.shape[-1] == length:  # type: ignore[union-attr]
            array: Array = value  # type: ignore[assignment]
        else:
            array = self.read_joints(value, argument.quantity, f"{caller}: {name}")
        if argument.is_configuration and self.model.quaternions:
            self.refuse_zero_quaternions(array, f"{caller}: {name}")
        return array

    def read_joints(self, value: Any, quantity: Quantity, what: str) -> Array:
        """Numbers of the joints as an array in the robot's order, (..., nq) or (..., nv), from an array or by names."""
        return read_joint_array(self.model, value, quantity, what, self.describe_coordinates())

    def read_per_joint(self, value: Any, what: str, quantity: Quantity | None = None) -> Array:
        """One number for all degrees of freedom, or numbers (..., nv), or by names; of no known unit: gains, limits."""
        return read_joint_numbers(self.model, value, quantity, what)

    def describe_coordinates(self) -> str:
        """The joints whose numbers an argument holds, for messages about its length."""
        return f"robot {self.name!r}: {named_dofs(self.joint_names)}"

    def refuse_zero_quaternions(self, q: Array, what: str) -> None:
        """Raise where a quaternion in q is zero, which is no orientation."""
        for joint, i in self.model.quaternions:
            with np.errstate(all="ignore"):
                squares = (q[..., i : i + 4] ** 2).sum(axis=-1)
            if not squares.all():
                raise ShapeError(
                    f"{what}: the quaternion of joint {joint!r} (places {i} to {i + 3}) is zero, which is no "
                    "orientation; robot.neutral() has (0, 0, 0, 1) there"
                )

    def loads(
        self, caller: str, tip_wrench: ArrayLike | None = None, wrenches: Mapping[str, ArrayLike] | None = None
    ) -> Loads:
        """The wrenches of a call, checked."""
        return read_loads(self.model, caller, tip_wrench, wrenches)

    def require(self, function: str) -> None:
        """Raise where the robot lacks what a function needs: masses, or a mass matrix that can be inverted."""
        needs = FUNCTIONS[function].needs
        if needs is Needs.NOTHING or not self.nv:
            return
        if not self.has_mass or (needs is Needs.INVERTIBLE_MASS and self.idle_joints):
            raise ModelError(describe_lack(function, self.model, self.idle_joints if self.has_mass else ()))

    # --- evaluation ---

    def evaluate(
        self, function: str, loads: Loads = NO_LOADS, /, *, parameters: Any = None, out: Any = None, **arguments: Any
    ) -> Array:
        """A function of the table, batched; `arguments` are its vectors and its options by name.

        parameters={"payload:hand": (..., 10)} are numbers of the robot in place of its own, as in `kernel`. The result
        is written into the array `out` where one is given.
        """
        if parameters is not None or out is not None:
            return self._evaluate_with(parameters, out, function, loads, arguments)
        vectors = [arguments.pop(name) for name in FUNCTIONS[function].arguments]
        key = (function, loads.links, loads.labels, *arguments.items())
        try:
            evaluation = self._evaluations.get(key)
        except TypeError:  # a list among the options
            return self._new_evaluation(function, loads, arguments)(*vectors, *loads.wrenches)
        if evaluation is None:
            evaluation = self._evaluations[key] = self._new_evaluation(function, loads, arguments)
        result: Array = evaluation(*vectors, *loads.wrenches)
        return result

    @cached_property
    def _evaluations(self) -> dict[Hashable, Callable[..., Array]]:
        """Functions with their options, as functions of arrays."""
        return {}

    def _new_evaluation(self, function: str, loads: Loads, options: dict[str, Any]) -> Callable[..., Array]:
        """A function with its options, as a function of vectors and wrenches; builtin where that is possible."""
        entry = FUNCTIONS[function]
        if entry.loaded:
            options["loads"] = loads.links
        call = self._call(function, options)

        def compute(*arrays: Array) -> Array:
            backend = active(self.backend)
            result = backend.evaluate(call, arrays)
            if backend.compiles and call not in self._installed_calls and result.size:
                self._install_call(call)
            return result

        def evaluate(*values: Any) -> Array:
            arrays = {name: self.read_one(function, name, x) for name, x in zip(entry.arguments, values, strict=False)}
            if loads.links:
                arrays |= zip(loads.labels, values[len(arrays) :], strict=True)
            result: Array = on_arrays(*together(arrays, function))
            return result

        def learn(records: Records, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            kernel = None if records.records else memory.find(call)
            if kernel is not None and kernel.target.fits:
                records.add(Pattern.of_arrays(len(arguments)), kernel.target)

        if not (active(self.backend).compiles and single_calls_possible() and is_worth_compiling(call)):
            on_arrays: Callable[..., Array] = compute
            return evaluate
        on_arrays = self._builtin(compute, function, "", learn)
        return self._builtin(evaluate, function, "", learn)

    def _builtin(self, fallback: Callable[..., Any], name: str, doc: str, learn: Learn) -> Any:
        """A builtin for arrays, which are taken as its records say; anything else goes to `fallback`."""
        with memory.building():  # a fork must not happen in an import
            from chainrule.compile.load.gufunc import array_function

            return array_function(fallback, name, doc, learn)

    def _evaluate_with(
        self, parameters: Any, out: Any, function: str, loads: Loads, arguments: dict[str, Any]
    ) -> Array:
        """A function with numbers of the robot, or one whose result is written into an array of the user's, checked."""
        entry = FUNCTIONS[function]
        numbers = read_parameters(self.model, function, parameters)
        vectors = {name: arguments.pop(name) for name in entry.arguments}
        if entry.loaded:
            arguments["loads"] = loads.links
        call = self.call(function, arguments, parameters=numbers.names)
        backend = active(self.backend)
        own = entry.shape(self.model if entry.whole else self.merged, dict(call.options))
        further = (*loads.wrenches, *numbers.arrays)
        arrays = {name: self.read_one(function, name, value) for name, value in vectors.items()}
        arrays |= zip((*loads.labels, *numbers.labels), further, strict=True)
        inputs = together(arrays, function)
        if out is None:
            return backend.evaluate(call, inputs)
        result = result_array(out, (*inputs[0].shape[:-1], *own), inputs, function)
        if any(np.may_share_memory(result, array) for array in inputs):  # rows must not change before they are read
            result[...] = backend.evaluate(call, inputs)
            return result
        return backend.evaluate(call, inputs, result)

    def _call(self, function: str, options: Mapping[str, Any]) -> Call:
        """A function with its options, checked once, on the model that it is computed on."""
        try:
            return self.remember((function, *options.items()), lambda: self._new_call(function, options))
        except TypeError:  # a list among the options
            return self._new_call(function, options)

    def call(
        self,
        function: str,
        options: Mapping[str, Any],
        *,
        parameters: Sequence[str] = (),
        products: Sequence[Product] = (),
    ) -> Call:
        """A function with its options, checked: with numbers of the robot as further arguments, or its products.

        Numbers are those of the whole model; its fixed joints are welded when they are in place.
        """
        plain = self._call(function, options)
        further = {"parameters": tuple(parameters), "products": tuple(products)}
        chosen = dict(plain.options) | {name: value for name, value in further.items() if value}
        if not parameters:
            return Call.of(plain.model, plain.fingerprint, function, chosen)
        find_parameters(self.model, parameters)
        return Call.of(self.model, self.fingerprint, function, chosen)

    def _new_call(self, function: str, options: Mapping[str, Any]) -> Call:
        self.require(function)
        chosen = self.options(function, options)
        if FUNCTIONS[function].whole:
            return Call.of(self.model, self.fingerprint, function, chosen)
        return Call.of(self.merged, self.merged_fingerprint, function, chosen)

    def options(self, function: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a function: those given, checked, and the defaults of the others."""
        known = FUNCTIONS[function].options_for(self.model)
        chosen: dict[str, Any] = {}
        for name, option in known.items():
            value = given.get(name)
            chosen[name] = option.default(self, chosen) if value is None else option.check(self, value)
        for name in given:
            if name not in known:
                raise UnknownNameError.of("option", name, known, f"the kernel {function!r}")
        return chosen

    @overload
    def kernel(
        self, name: str, target: Literal["cpu"] = "cpu", *, parameters: Sequence[str] = (), **options: Any
    ) -> Kernel: ...
    @overload
    def kernel(
        self, name: str, target: Literal["cuda"], *, parameters: Sequence[str] = (), **options: Any
    ) -> CudaKernel: ...

    def kernel(
        self, name: str, target: str = "cpu", *, parameters: Sequence[str] = (), **options: Any
    ) -> Kernel | CudaKernel:
        """The compiled function of one name, with its signature, instruction count, flops, compile time, IR, assembly.

        Parameters
        ----------
        name
            A function of the table, named as the method is.
        target
            "cpu", or "cuda": a function of arrays on a graphics processor, of CuPy, PyTorch or JAX.
        parameters
            Numbers of the robot that become arguments as well, so that one kernel serves a family of robots:
            "gravity" (3 numbers), "link:LINK" and "payload:LINK" (mass, center of mass, inertia about it: 10 numbers),
            "mass:LINK" (1), "length:LINK" (1), "origin:JOINT" (xyz: 3), "pose:JOINT" (xyz and rpy: 6), and a number
            for each degree of freedom of a joint: "viscous:JOINT", "coulomb:JOINT", "static:JOINT", "rotor:JOINT",
            "gear:JOINT", "stiffness:JOINT", "rest:JOINT"; without ":JOINT", for each one of the robot.
        options
            Those of the method: link and frame of a Jacobian; `loads`, the links that wrenches act on, each then an
            argument of six numbers; with closed loops, the independent `rows` of the constraints and the places of
            the `actuated` velocities.
        """
        if not isinstance(target, str) or target not in ("cpu", "cuda"):
            raise ShapeError(f"kernels are made for the target 'cpu' or 'cuda', got {short_repr(target)}")
        entry_of(name)
        if not self.model.nv:
            raise ModelError(f"robot {self.name!r} has no degrees of freedom, so there is nothing to compile")
        call = self.call(name, options, parameters=names(parameters, "parameters"))
        if target == "cuda":
            return COMPILED.cuda_kernel(call)
        kernel = COMPILED.kernel(call)
        if active(self.backend).compiles and call not in self._installed_calls:
            self._install_call(call)
        return kernel

    @cached_property
    def _installed_calls(self) -> set[Call]:
        """The calls for which a builtin has been installed, or has been found impossible."""
        return set()

    def _install_call(self, call: Call) -> None:
        """Let plain calls of the method go straight to machine code, and anything else to the method.

        One state, without options, goes to a call of its own; other arrays and options by the patterns of calls.
        """
        self._installed_calls.add(call)
        entry = FUNCTIONS[call.function]
        name = entry.method or call.function
        method = getattr(type(self), name, None)
        if method is None or not is_worth_compiling(call) or not single_calls_possible():
            return
        if not getattr(method, "__module__", "").startswith("chainrule."):
            return  # somebody's own method of the same name, in a subclass
        patterns = CallPatterns(method, name, self.model)
        kernel = COMPILED.kernel(call)
        finish = entry.finish(self.model, {})
        is_default = self._is_default(call) and kernel.has_plain_call and (finish is None or entry.named is not None)
        if not patterns.is_plain or (name in self.__dict__ and not is_default):
            return

        def learn(records: Records, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            found = patterns.new_call(arguments, keywords)
            if found is not None:
                self._add_record(records, found)

        bound, doc = method.__get__(self), method.__doc__ or ""
        builtin = kernel.plain_call(bound, doc, learn) if is_default else self._builtin(bound, name, doc, learn)
        if is_default:
            builtin.__self__.add(Pattern.of_arrays(len(entry.takes)), kernel.target, finish)
        self.__dict__[name] = _with_names(builtin, entry.named, bound) if is_default and entry.named else builtin

    def _is_default(self, call: Call) -> bool:
        """Whether a method with no options makes this call."""
        entry = FUNCTIONS[call.function]
        if entry.method or entry.acts or not entry.is_direct(self.model):
            return False
        try:
            return call == self._call(call.function, {})
        except ChainruleError:  # no end-effector to take when none is named
            return False

    def _add_record(self, records: Records, found: PlainCall) -> None:
        """Let calls of a pattern go to the kernel that they mean, if it has been made."""
        call = self._call(found.function, found.options)
        kernel = memory.find(call)
        if kernel is not None and kernel.target.fits:
            finish = FUNCTIONS[found.function].finish(self.model, dict(call.options))
            records.add(found.pattern, kernel.target, finish)


def _with_names(builtin: Callable[..., Any], named: type[tuple[Any, ...]], method: Any) -> Callable[..., Any]:
    """A builtin whose answer for one state is an array, with the named result made of its parts; others have names."""
    make, array = tuple.__new__, np.ndarray

    @wraps(method)
    def call(*arguments: Any, **keywords: Any) -> Any:
        answer = builtin(*arguments, **keywords)
        return make(named, answer) if type(answer) is array else answer

    return call


def _read_only(values: Sequence[float]) -> Array:
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array


def fingerprint(model: Model) -> str:
    """A digest of every number and name that shapes a model's motion: not of geometry, configurations and notes."""
    from chainrule.formats.native import to_json

    plain = edits.without_conventions(edits.without_annotations(model))
    laws = [dof.friction_function for joint in model.joints for dof in joint.dofs]
    if any(laws):
        plain = edits.map_dofs(plain, lambda dof: replace(dof, friction_function=None))
    texts = [law.text if law else "" for law in laws] if any(laws) else []
    return hashlib.sha256("\n".join([to_json(plain), *texts]).encode()).hexdigest()
