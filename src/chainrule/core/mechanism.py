"""How a robot computes: arguments checked, then a compiled kernel, or the reference path."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from chainrule.algorithms.euler import ORDERS
from chainrule.algorithms.jacobians import FRAMES
from chainrule.arguments import Array, named_dofs, names, rows_of, together
from chainrule.core.validation import has_mass, idle_joints
from chainrule.errors import ChainruleError, ModelError, ShapeError, UnknownNameError, shown
from chainrule.functions import reference
from chainrule.functions.table import FUNCTIONS, length, shape, unrolled
from chainrule.model import Model, edits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.compile.kernel import Kernel


def kernels_enabled() -> bool:
    """Whether robots use compiled kernels: CHAINRULE_KERNELS=off makes them all run the reference path."""
    return os.environ.get("CHAINRULE_KERNELS", "").lower() not in ("off", "0", "none", "no", "false")


class Evaluation:
    """A robot's functions, evaluated."""

    model: Model
    _compiled = True

    def __init__(self, model: Model) -> None:
        raise NotImplementedError

    @cached_property
    def reference(self) -> Self:
        """This robot, evaluated by the algorithms as they are written: slow, transparent, and the measure of others."""
        robot = type(self)(self.model)
        robot._compiled = False
        return robot

    def kernel(self, name: str, target: str = "cpu", *, parameters: Sequence[str] = (), **options: Any) -> Kernel:
        """The compiled function of one name, with its signature, instruction count, flops, compile time, IR, assembly.

        Options are those of the method of the same name: link and frame of a Jacobian; `loads`, the links that
        wrenches act on, each then an argument of six numbers; with closed loops, the independent `rows` of the
        constraints and the places of the `actuated` velocities. Parameters are numbers of the robot that become
        arguments as well, so that one kernel serves a family of robots: "gravity" (3 numbers), "link:NAME" and
        "payload:NAME" (mass, centre of mass, inertia about it: 10 numbers).
        """
        if target != "cpu":
            raise ShapeError(f"kernels are made for the target 'cpu', got {target!r}")
        _refuse_unknown(name)
        if not self.model.nv:
            raise ModelError(f"robot {self.model.name!r} has no degrees of freedom, so there is nothing to compile")
        if FUNCTIONS[name].masses:
            self._require_masses(name)
        defaults = self._defaults(name, options)
        for option in options:
            if option not in defaults:
                raise UnknownNameError.of("option", option, defaults, f"the kernel {name!r}")
        chosen = {**defaults, **options}
        if names(parameters, "parameters"):
            chosen["parameters"] = tuple(parameters)
        jacobian_frame(chosen.get("frame", "space"))
        angle_order(chosen.get("order", "rpy"))
        for link in [*([chosen["link"]] if "link" in chosen else []), *names(chosen.get("loads", ()), "loads")]:
            self.model.locate(link)
        for joint in names(chosen.get("joints", ()), "joints"):
            edits.find_joint(self.model, joint)
        if name == "static_torque" and len(chosen["loads"]) != 1:
            raise ShapeError(f"static_torque takes one load, the link that applies the wrench, got {chosen['loads']!r}")
        self._check_loop_options(chosen)
        return self._kernel(name, chosen)

    def _loop_options(self, function: str) -> dict[str, Any]:
        """The options that closed loops add to those of a function."""
        return {}

    def _check_loop_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options of closed loops that make no sense."""

    def export(
        self, target: str, *, functions: Sequence[str] = ("inverse_dynamics",), path: str | PathLike[str]
    ) -> list[Path]:
        """Write functions of this robot as source code, and return the files written.

        target "c": C99 without dependencies, `path` (.c) with a header and a small program beside it that reads
        arguments from its input and prints results. Functions are named as the methods are, prefixed with the file's
        name; end-effector and Jacobian frame are the defaults.
        """
        from chainrule.compile.emit import c
        from chainrule.compile.trace import trace

        if target != "c":
            raise ShapeError(f"code can be exported to the target 'c', got {target!r}")
        if not names(functions, "functions"):
            raise ShapeError(f"functions must be a list of names, such as ['mass_matrix'], got {functions!r}")
        place = Path(path)
        if place.suffix != ".c":
            raise ShapeError(f"path must end in .c, got {str(path)!r}")
        tapes = {}
        for name in functions:
            _refuse_unknown(name)
            tapes[name] = trace(self._model_for(name), name, **self._defaults(name))
        prefix = c.identifier(place.stem)
        texts = {
            place: c.source(prefix, tapes),
            place.with_name(f"{prefix}.h"): c.header(prefix, tapes),
            place.with_name(f"{place.stem}_main.c"): c.program(prefix, tapes),
        }
        for file, text in texts.items():
            file.write_text(text, encoding="ascii")
        return list(texts)

    def _defaults(self, name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The options of a function that a plain call of the method means; those given need no default."""
        options: dict[str, Any] = {"loads": ()} if FUNCTIONS[name].loaded else {}
        if name in ("pose", "jacobian", "jacobian_derivative", "analytic_jacobian", "pose_vector"):
            options["link"] = given["link"] if given and "link" in given else self.model.tip
        if name in ("jacobian", "jacobian_derivative"):
            options["frame"] = "space"
        if name in ("analytic_jacobian", "pose_vector"):
            options["order"] = "rpy"
        if name == "joint_wrenches":
            options["joints"] = tuple(joint.name for joint in self.model.moving)
        if name == "static_torque":
            options["loads"] = given["loads"] if given and "loads" in given else (self.model.tip,)
        return {**options, **self._loop_options(name)}

    def _kernel(self, name: str, options: dict[str, Any]) -> Kernel:
        key = (name, *sorted((k, tuple(v) if isinstance(v, list) else v) for k, v in options.items()))
        if key not in self._kernels:
            from chainrule.compile.kernel import Kernel

            print_ = self._print if FUNCTIONS[name].whole else self._merged_print
            with BUILDING:
                if key not in self._kernels:
                    kernel = Kernel(self._model_for(name), name, print_, options)
                    self._shorten(name, options, kernel)
                    self._kernels[key] = kernel
        return self._kernels[key]

    @cached_property
    def _kernels(self) -> dict[tuple[Any, ...], Kernel]:
        return {}

    def _shorten(self, name: str, options: dict[str, Any], kernel: Kernel) -> None:
        """Let a plain call on one state go straight to machine code, and anything else to the method as before."""
        method = getattr(type(self), name, None)
        if getattr(method, "__qualname__", "") != f"Robot.{name}" or name in INDIRECT or not FUNCTIONS[name].shape:
            return  # somebody's own method, or one that does more
        if not (self._compiled and kernels_enabled() and kernel.has_plain_call):
            return
        if name == "inverse_dynamics" and self.model.constraints:
            return  # with closed loops, the method looks whether there are such torques
        if name == "difference" and self.model.quaternions:
            return  # the plain call looks for zero quaternions in its first argument only
        try:
            plain = options == self._defaults(name)
        except ChainruleError:  # no end-effector to take when none is named
            return
        if plain and method is not None:
            self.__dict__[name] = kernel.plain_call(method.__get__(self), method.__doc__ or "")

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "_compiled": self._compiled}

    @cached_property
    def _merged(self) -> Model:
        """What dynamics is computed on: the same robot with its fixed joints welded."""
        return edits.merge_fixed(self.model)

    def _model_for(self, function: str) -> Model:
        """The merged model, or the whole one where every link counts."""
        return self.model if FUNCTIONS[function].whole else self._merged

    @cached_property
    def _print(self) -> str:
        return fingerprint(self.model)

    @cached_property
    def _merged_print(self) -> str:
        return fingerprint(self._merged)

    def _name(self, link: str | None) -> str:
        name = edits.meant(self.model, link)
        self.model.locate(name)
        return name

    def _evaluate(self, function: str, arguments: Mapping[str, ArrayLike], **options: Any) -> Array:
        """Check the arguments and compute."""
        options = {**self._loop_options(function), **options}
        if any(is_lazy(a) for a in arguments.values()):
            return self._lazy(function, arguments, options)
        arrays = self._arguments(function, arguments)
        if FUNCTIONS[function].masses:
            self._require_masses(function)
        if self._compiled and self._worth_compiling(function, options):
            with np.errstate(all="ignore"):
                return self._kernel(function, options).spread(arrays)
        return reference.evaluate(self._model_for(function), function, arrays, **options)

    def _worth_compiling(self, function: str, options: dict[str, Any]) -> bool:
        """Not for a robot that cannot move, an empty answer, or code that would take minutes to make."""
        if not (self.model.nv and kernels_enabled()) or 0 in shape(self._model_for(function), function, **options):
            return False
        return unrolled(self._merged, function) <= UNROLLED

    def _lazy(self, function: str, arguments: Mapping[str, ArrayLike], options: dict[str, Any]) -> Any:
        """The same on Dask arrays: nothing is computed now, and the robot travels to where it will be."""
        import dask.array

        shape_ = shape(self._model_for(function), function, **options)
        inputs = ",".join(f"(i{k})" for k in range(len(arguments)))
        outputs = ",".join(f"o{k}" for k in range(len(shape_)))

        def compute(*arrays: Array) -> Array:
            return self._evaluate(function, dict(zip(arguments, arrays, strict=True)), **options)

        return dask.array.apply_gufunc(
            compute,
            f"{inputs}->({outputs})",
            *arguments.values(),
            output_dtypes=np.float64,
            output_sizes={f"o{k}": n for k, n in enumerate(shape_)},
            allow_rechunk=True,
        )

    def _loaded(
        self,
        function: str,
        arguments: dict[str, ArrayLike],
        tip_wrench: ArrayLike | None,
        wrenches: Mapping[str, ArrayLike] | None,
        **options: Any,
    ) -> Array:
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise ShapeError(
                f"{function}: wrenches must be a dictionary of link names and wrenches, got {wrenches!r:.60}"
            )
        loads: list[str] = []
        loaded = dict(arguments)
        for name, wrench in (wrenches or {}).items():
            self.model.locate(name)
            loads.append(name)
            loaded[f"wrenches[{name!r}]"] = wrench
        if tip_wrench is not None:
            loads.append(self.model.tip)
            loaded["tip_wrench"] = -rows_of(tip_wrench, 6, f"{function}: tip_wrench", "moment and force")
        return self._evaluate(function, loaded, loads=tuple(loads), **options)

    def _arguments(self, function: str, arguments: Mapping[str, ArrayLike]) -> list[Array]:
        arrays = {name: self._argument(function, name, value) for name, value in arguments.items()}
        return together(arrays, function)

    def _argument(self, function: str, name: str, value: ArrayLike) -> Array:
        what = f"{function}: {name}"
        if "wrench" in name:
            return rows_of(value, 6, what, "moment and force")
        array = rows_of(value, length(self.model, name), what, self._coordinates)
        if name in ("q", "q0", "q1"):
            self._refuse_zero_quaternions(array, what)
        return array

    @cached_property
    def _coordinates(self) -> str:
        """Whose numbers an argument holds, for messages about its length."""
        return f"robot {self.model.name!r}: {named_dofs([joint.name for joint in self.model.moving])}"

    def _refuse_zero_quaternions(self, q: Array, what: str) -> None:
        for joint, i in self.model.quaternions:
            with np.errstate(all="ignore"):
                squares = (q[..., i : i + 4] ** 2).sum(axis=-1)
            if not squares.all():
                raise ShapeError(
                    f"{what}: the quaternion of joint {joint!r} (places {i} to {i + 3}) is zero, which is no "
                    "orientation; robot.neutral() has (0, 0, 0, 1) there"
                )

    def _require_masses(self, function: str) -> None:
        if self.model.nv and not self._weighs:
            raise ModelError(
                f"{function}: robot {self.model.name!r} has no masses, so it has no dynamics; give its links masses "
                "and inertias"
            )
        if function in INVERTING and self._idle:
            raise ModelError(
                f"{function}: the mass matrix of robot {self.model.name!r} is singular, because {shown(self._idle)} "
                "moves no mass; give its link an inertia, or the joint a rotor, or lock it"
            )

    @cached_property
    def _weighs(self) -> bool:
        return has_mass(self._merged)

    @cached_property
    def _idle(self) -> list[str]:
        return idle_joints(self._merged)


BUILDING = threading.RLock()
"""Kernels are built one at a time."""


def _start_anew() -> None:
    """In a forked child, whoever held the lock is gone."""
    global BUILDING  # noqa: PLW0603
    BUILDING = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)

UNROLLED = 4000
"""Functions that would unroll to more than so many visits of bodies run the reference path instead."""

INVERTING = frozenset(
    (
        "forward_dynamics", "apply_inverse_mass", "constraint_forces", "closing_step", "consistent_velocity",
        "consistent_acceleration",
    )
)  # fmt: skip
"""Functions that divide by the mass matrix."""

INDIRECT = frozenset(("torque_terms", "static_torque", "joint_wrenches"))
"""Functions whose methods do more than evaluate them."""


def _refuse_unknown(function: str) -> None:
    if function not in FUNCTIONS:
        raise UnknownNameError.of("function", function, FUNCTIONS, "chainrule")


def jacobian_frame(frame: str) -> str:
    """The name of a frame that a Jacobian may be in."""
    if frame not in FRAMES:
        raise UnknownNameError.of("frame of a Jacobian", frame, FRAMES, "chainrule")
    return frame


def angle_order(order: str) -> str:
    """The name of an order of three angles."""
    if order not in ORDERS:
        raise UnknownNameError.of("order of angles", order, ORDERS, "chainrule")
    return order


def is_lazy(value: object) -> bool:
    """Whether this is a Dask array, which is to stay one."""
    return type(value).__module__.partition(".")[0] == "dask"


def fingerprint(model: Model) -> str:
    """A digest of every number and name of a model."""
    from chainrule.formats.native import to_json

    return hashlib.sha256(to_json(model).encode()).hexdigest()
