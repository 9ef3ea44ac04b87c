"""Controllers: laws for the joint torques, each written once over generic scalars.

How to add a controller
-----------------------
1. Subclass `Controller`.
2. In `__init__`, check the robot and the gains with `known_robot` and `gains` of `chainrule.control.requirements`.
   Then call `super().__init__(robot, {"kp": kp, ..}, target, structure)`. The arrays of the dictionary, (..., k) each,
   become the parameters p, which may vary over a batch. `target` is a `JointTarget` or a `PoseTarget`, or is left out.
   Other attributes may be read by the law as they are: a controller whose attributes differ is compiled by itself.
   `actuated` names the joints with motors; without it, they are all but free joints and those with an effort limit
   of 0. A law that uses the dynamics and knows of closed loops calls `self.close_loops(q)` then.
3. Write `torque(q, qd, z, s, p)` over lists of scalars, in plain arithmetic or NumPy's functions, without a branch on
   a value (`np.where` chooses). `self.parts(p)` gives the arrays of step 2 back, in their order and the target's last;
   `target.at(s, p)` with its part of p is the reference at this moment; `self.model` goes into the functions of
   `chainrule.algorithms`. It returns the torques (nv) and dz/dt (states). `self.project(tau)` leaves those of motors,
   `self.distribute(q, tau)` lets motors do what torques at all joints would.
   With one more parameter, named t, it gets the time in s.
4. For internal states z, such as an integral, set `self.states` to their number. They start at zero.
5. That is all: `controller(t, q, qd)` compiles it for a loop of one's own, and `robot.simulate(..., torque=controller)`
   together with the robot.

tests/control/test_recipe_controller.py follows these steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms.loop_dynamics import actuated_torque
from chainrule.arguments import Array, real_array, rows_of, together
from chainrule.calls import explains_arguments
from chainrule.control.laws.direct_call import Call, Memory, direct_call, moment
from chainrule.control.laws.targets import ControlTarget
from chainrule.control.laws.tracing import Law, is_of_package, law_key, takes_time
from chainrule.control.requirements import Actuated, actuated_velocities
from chainrule.core.closure import closure_of
from chainrule.core.derived import merged_model
from chainrule.core.reading import read_state
from chainrule.display.words import LAWS, called_here, unknown_attribute
from chainrule.errors import ArgumentError
from chainrule.functions.reference import scalars_of, stack
from chainrule.loops.mobility import leading_velocities
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]

LAW_ARGUMENTS = 5
"""The arguments q, qd, z, s and p of a law."""


class Controller(Law, ABC):
    """A law tau = f(t, q, qd, z), with internal states z that start at zero and change by dz/dt.

    `controller(t, q, qd)` is the torque at one moment. The first call compiles the law. Internal states go on from call
    to call, by a step of Euler from one time to the next, until `reset()`.

    The reference, which depends on time alone, is a vector of signals s(t). Gains and constant targets, which may vary
    from one run to the next, are a vector of parameters p. With these, `torque` is a pure function of scalars: it
    runs on arrays here, and is compiled together with a robot in a simulation.

    `robot` is the robot that the controller knows. The one that it controls may be another, with other masses.

    Subclasses give `parameters`, arrays whose last dimensions are joined to p, and write `torque`, which gets them back
    with `self.parts(p)`. Attributes that `torque` reads may differ between instances and may change: compiled code
    is known by what it was made of. `structure` may hold such values too. The steps are at the top of this file.

    `torque(self, q, qd, z, s, p, t)`, with a parameter named t, gets the time too.
    """

    __slots__ = ("__dict__", "__weakref__", "_direct", "_memory")  # what calls make is no attribute of the law

    _direct: Call | None
    _memory: Memory | None

    states: int = 0
    """The number of internal states z."""

    def __init__(
        self,
        robot: Mechanism,
        parameters: Mapping[str, Array],
        target: ControlTarget | None = None,
        structure: tuple[Hashable, ...] = (),
        actuated: Actuated = None,
    ) -> None:
        self.robot = robot
        self.model = merged_model(robot)
        self.actuated = actuated_velocities(robot, actuated, type(self).__name__)
        """The places in qd of the velocities that a motor drives."""
        self.loop_rows: tuple[int, ...] = ()
        """Equations of closed loops that count, for laws that know them."""
        self.loop_rank = 0
        """The number of independent ones among them."""
        self.leading: tuple[int, ...] = ()
        """Places in qd of the velocities, all with motors, that determine the others of a closed mechanism."""
        self.target = target
        self._structure = structure
        self._arrays = dict(parameters)
        if target is not None:
            self._arrays["target"] = target.parameters
        self.parameters = self._join_parameters()
        """The parameters p (..., k), which may vary over a batch: gains and constant targets."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "torque" in vars(cls) and is_of_package(cls):  # the code of a user's law is its key
            cls.torque = _explain_law(cls.torque)  # type: ignore[method-assign]
        if "__init__" in vars(cls) and is_of_package(cls):
            cls.__init__ = explains_arguments(cls.__init__)  # type: ignore[method-assign]

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(name) if name.startswith("_") else unknown_attribute(self, name, LAWS)

    @abstractmethod
    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """The torques (nv), in N m or N, and dz/dt (states)."""

    @property
    def width(self) -> int:
        """The number of signals s."""
        return 0 if self.target is None else self.target.width

    def _join_parameters(self) -> Array:
        p = np.concatenate(together(self._arrays, type(self).__name__), axis=-1) if self._arrays else np.empty(0)
        p.setflags(write=False)
        return p

    def parts(self, p: Scalars) -> list[Scalars]:
        """The parameters by their names, in order; the target's, if there is one, last."""
        lengths = [array.shape[-1] for array in self._arrays.values()]
        ends = np.cumsum(lengths).tolist()
        return [p[end - length : end] for end, length in zip(ends, lengths, strict=True)]

    def signals(self, t: ArrayLike) -> Array:
        """Signals s (T, width) at the times t (T,)."""
        time = real_array(t, "t", "s").astype(float)
        return np.empty((*time.shape, 0)) if self.target is None else self.target.signals(time)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Whatever shapes the arithmetic of `torque`: two controllers with the same key differ in p and s only."""
        return law_key(self)

    @property
    def passive(self) -> tuple[int, ...]:
        """The places in qd of the velocities that no motor drives: the law gives them no torque."""
        driven = set(self.actuated)
        return tuple(i for i in range(self.model.nv) if i not in driven)

    def close_loops(self, q: Array) -> None:
        """Let the law count with closed loops, near a closed configuration q (nq,)."""
        if self.robot.model.constraints:
            self.leading = leading_velocities(self.robot, q, self.actuated, type(self).__name__)
            self.loop_rows = closure_of(self.robot).rows
            self.loop_rank = min(len(self.loop_rows), closure_of(self.robot).rank)

    def distribute(self, q: Scalars, tau: Scalars) -> list[Scalar]:
        """The torques of motors that do what torques tau at all joints would: through closed loops, if there are any.

        Of several that would do, the smallest. Without loops, those of joints without motors are left out.
        """
        if not self.loop_rows:
            return self.project(tau)
        return actuated_torque(self.model, q, tau, self.loop_rows, self.actuated, self.loop_rank)[0]

    def project(self, tau: Scalars) -> list[Scalar]:
        """The torques, zero where there is no motor."""
        driven = set(self.actuated)
        return [t if i in driven else 0.0 for i, t in enumerate(tau)]

    def __setattr__(self, name: str, value: Any) -> None:
        if is_of_package(type(self)) and called_here(name, LAWS):  # no law of the library would read it
            raise unknown_attribute(self, name, LAWS)
        object.__setattr__(self, name, value)
        if name not in ("_direct", "_memory"):
            object.__setattr__(self, "_direct", None)

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._direct = None
        vars(self).update(state)

    @explains_arguments
    def __call__(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None) -> Array:
        """The torque (..., nv) at the time t, in s, in the state q, qd (...).

        Internal states are those kept since the last call; with `z` given, or times (...), nothing is kept, and they
        are z, or zero.
        """
        direct = self._direct
        if direct is None or z is not None or t.__class__ is not float:
            return self._begin(t, q, qd, z)
        return direct(t, q, qd)

    def _begin(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None) -> Array:
        """The torque (..., nv) as `controller(t, q, qd)` has it, compiled if it is not yet."""
        if z is not None or np.ndim(t):
            return self.evaluate(t, q, qd, z)[0]
        if self._direct is None:
            self._memory = getattr(self, "_memory", None) or Memory(self.states)
            self._direct = direct_call(self, self._memory)
        return self._direct(moment(t), q, qd)

    def reset(self) -> None:
        """Begin again: internal states are zero at the next call, which may be at any time."""
        self._direct, self._memory = None, None

    def evaluate(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None) -> tuple[Array, Array]:
        """The torque (..., nv), and dz/dt (..., states)."""
        name = type(self).__name__
        position, velocity = read_state(self.robot, name, q=q, qd=qd)
        internal = rows_of(np.zeros(self.states) if z is None else z, self.states, f"{name}: z", "internal states")
        arrays = together(
            {"q": position, "qd": velocity, "z": internal, "t": self.signals(t), "parameters": self.parameters}, name
        )
        batch = arrays[0].shape[:-1]
        with np.errstate(all="ignore"):
            tau, rates = self.torque(*(scalars_of(a) for a in arrays), **self._time(t, batch))
        return stack(list(tau), batch, (self.model.nv,)), stack(list(rates), batch, (self.states,))

    def _time(self, t: ArrayLike, batch: tuple[int, ...]) -> dict[str, Any]:
        """The time, for a law that takes it."""
        return {"t": np.broadcast_to(real_array(t, "t", "s").astype(float), batch)} if takes_time(self) else {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of robot {self.robot.name!r}>"


def _explain_law(law: Callable[..., Any]) -> Callable[..., Any]:
    """The law of a controller, which says how a controller is called where it is called with a state alone."""

    @wraps(law)
    def torque(self: Controller, *arguments: Any, **options: Any) -> Any:
        if len(arguments) + len(options) < LAW_ARGUMENTS:
            name = type(self).__name__
            raise ArgumentError(
                f"{name}.torque(q, qd, z, s, p) is the law as it is traced; the torque in a state is the controller "
                "called: controller(t, q, qd)"
            )
        return law(self, *arguments, **options)

    return torque
