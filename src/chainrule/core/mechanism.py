"""What a robot is: its model, and how its functions are evaluated.

`Robot` is this class with a table of contents. Subjects (kinematics, dynamics, loops, simulation, ..) are files of free
functions over a Mechanism: they read arguments (`core/reading.py`), evaluate functions of the table
(`core/evaluation.py`), and compute what follows from the model once (`core/derived.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, NoReturn, Self, SupportsIndex

import numpy as np

from chainrule.arguments import Array, read_only
from chainrule.compile.backend import COMPILED, INTERPRETED, Backend
from chainrule.core.derived import fingerprint, merged_model
from chainrule.core.named_configurations import Configurations
from chainrule.core.pickling import pack_model, reduce_robot
from chainrule.core.results import Limits
from chainrule.errors import ArgumentError, ModelError, short_repr
from chainrule.lazy import cached_property
from chainrule.model import Model


class GravityVector(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of three numbers; called like a function, it says where the torques of gravity are."""

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        """An array is no function."""
        raise ArgumentError("robot.gravity is the gravity vector in m/s^2; its torques are robot.gravity_torque(q)")

    def __setitem__(self, key: Any, value: Any) -> None:
        """The robot is not changed by its gravity vector; a copy of the vector may be."""
        if not self.flags.writeable:
            raise ArgumentError(
                "a robot is not changed: robot.edit(gravity=(0, 0, -1.62)) gives one with another gravity, in m/s^2"
            )
        super().__setitem__(key, value)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What is computed from it is a plain array."""
        return array[()] if return_scalar else np.asarray(array)

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


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
    def joint_names(self) -> tuple[str, ...]:
        """Joints with coordinates of their own, in the order of those in q; neither fixed nor mimic ones."""
        return self.model.layout.joint_names

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The name of each number of q: "elbow", or "base.x" and "base.qw" for a joint with several."""
        return self.model.layout.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The name of each number of qd, qdd and tau: "elbow", or "base.wx" for a joint with several."""
        return self.model.layout.velocity_names

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """All links, the base first."""
        return tuple(link.name for link in self.model.links)

    @property
    def end_effector(self) -> str:
        """The link or frame that functions take when none is named."""
        return self.model.tip

    @property
    def gravity(self) -> Array:
        """The gravity vector in base axes, in m/s^2."""
        return read_only(list(self.model.gravity)).view(GravityVector)

    @cached_property
    def mass(self) -> float:
        """Mass of all links but the base, in kg."""
        return float(sum(link.mass for link in merged_model(self).links[1:]))

    @cached_property
    def limits(self) -> Limits:
        """Limits on position, speed and effort: an array of (n,) each, infinite where there are none."""
        return Limits.of(self.model.layout)

    @cached_property
    def configurations(self) -> Mapping[str, Array]:
        """The named configurations, read-only: name -> q (nq,). `edit` adds one.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r").edit(configurations={"bent": [0.3, -1.2]})
        >>> arm.configurations["bent"].tolist()
        [0.3, -1.2]
        """
        entries = {c.name: read_only(c.coordinates(self.model.layout)) for c in self.model.configurations}
        return Configurations(self.name, entries)

    @property
    def passive_joints(self) -> tuple[str, ...]:
        """The joints that nothing drives: those with an effort limit of zero."""
        return tuple(dict.fromkeys(v.joint for v in self.model.layout.velocities if v.dof.passive))

    @cached_property
    def reference(self) -> Self:
        """This robot, evaluated by the algorithms as they are written: slow, transparent, and the measure of others."""
        return type(self)(self.model, INTERPRETED)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.nv} degrees of freedom, {len(self.link_names)} links>"

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
        return type(self), self._backend.compiles, fingerprint(self) if model is None else model.digest

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "compiled": self._backend.compiles}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._model = state["model"]
        self._backend = COMPILED if state["compiled"] else INTERPRETED
