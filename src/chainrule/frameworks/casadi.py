"""The functions of a robot in CasADi, made from the arithmetic that kernels are compiled from.

A function is a graph of CasADi's SX, so that CasADi differentiates it, inlines it, maps it and writes C for it. Where
the table has the derivatives of a function, as `inverse_dynamics_derivatives`, they are attached as its Jacobian: a
recursion that takes fewer operations than CasADi's differentiation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import names
from chainrule.compile.backend import Call
from chainrule.compile.tape import Tape
from chainrule.compile.traced_function import casadi_operation
from chainrule.core.derived import remember
from chainrule.core.products import TIP_WRENCH, WRENCH
from chainrule.errors import ShapeError, import_optional, short_repr
from chainrule.frameworks.functions import FrameworkFunctions, OperatorCall
from chainrule.frameworks.operators import Operator
from chainrule.functions.table import FUNCTIONS, entry_of

if TYPE_CHECKING:
    import casadi
else:
    casadi = import_optional("casadi", "robot.casadi")

DERIVATIVES = "_derivatives"
"""The name of the function that gives the derivatives of a function for all its arguments ends so."""


class CasadiFunctions(FrameworkFunctions):
    """Functions of a robot on symbols and numbers of CasADi, for one state: columns in, a matrix out.

    `function` gives them as functions of CasADi, for map, code generation and solvers. Configurations are
    differentiated by their nq numbers as stored; a quaternion counts as its unit multiple.

    >>> import casadi
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> q = casadi.MX.sym("q", 2)
    >>> casadi.jacobian(arm.casadi.gravity_torque(q), q).shape
    (2, 2)
    >>> arm.casadi.function("mass_matrix")
    Function(mass_matrix:(q[2])->(mass_matrix[2x2]) SXFunction)
    """

    framework = "casadi"

    def vectors(self, given: Mapping[str, Any], lengths: Sequence[int]) -> list[Any]:
        """Columns of CasADi."""
        return [_column(value, length, what) for (what, value), length in zip(given.items(), lengths, strict=True)]

    def apply(self, plan: OperatorCall, vectors: list[Any]) -> Any:
        """The matrix of the operator of a plan; on symbols of SX, its arithmetic."""
        return self._function(plan, inlined=any(isinstance(x, casadi.SX) for x in vectors))(*vectors)

    def parts(self, result: Any, shape: tuple[int, ...]) -> list[Any]:
        """The matrices that lie one below the other in a result."""
        if len(shape) == 2:
            return [result[k, :].T for k in range(shape[0])]
        return list(casadi.vertsplit(result, shape[1]))

    def function(
        self,
        name: str,
        *,
        tip_wrench: bool = False,
        external: Sequence[str] = (),
        parameters: Sequence[str] = (),
        **options: Any,
    ) -> casadi.Function:
        """A function of the table as a function of CasADi, for one state.

        Its inputs are the arguments, as columns, its output a matrix; results with three dimensions are matrices one
        below the other.

        Parameters
        ----------
        name
            As of the method: "inverse_dynamics", "pose", ...
        tip_wrench
            Whether it takes the wrench that the end-effector applies, as a further input.
        external
            Links or frames on each of which it takes a wrench, as further inputs.
        parameters
            Numbers of the robot that it takes as further inputs, as of `robot.at`.
        options
            Those of the function, as link and frame.
        """
        entry = entry_of(name)
        further = [f"{WRENCH}{link}" for link in names(external, "casadi: external")]
        further += [TIP_WRENCH] if tip_wrench or entry.acts else []
        given = (*entry.arguments, *further, *names(parameters, "casadi: parameters"))
        return self._function(self.plan(name, given, tuple(options.items())))

    def _function(self, plan: OperatorCall, inlined: bool = False) -> casadi.Function:
        return remember(self.robot, ("casadi", plan, inlined), lambda: self._make(plan, inlined))

    def _make(self, plan: OperatorCall, inlined: bool) -> casadi.Function:
        operator = Operator.find(plan.key)
        name, own = _label(operator.call.function), FUNCTIONS[operator.call.function].arguments
        inputs = [casadi.SX.sym(f"x{k}", length) for k, length in enumerate(plan.lengths)]
        labels = [*own, *(f"input{k}" for k in range(len(own), len(inputs)))]
        jacobian = None if inlined else self._jacobian(operator, inputs, labels)
        attached: Any = (
            {} if jacobian is None else {"custom_jacobian": jacobian, "never_inline": True, "jac_penalty": 0}
        )
        signed = [-x if sign < 0 else x for x, sign in zip(inputs, plan.signs, strict=True)]
        result = _matrix(expression(operator.tape, signed), operator.shape)
        return casadi.Function(name, inputs, [result], labels, [name], attached)

    def _jacobian(self, operator: Operator, inputs: Sequence[Any], labels: Sequence[str]) -> casadi.Function | None:
        """The Jacobian by each input, where the table has it; None elsewhere."""
        call, name = operator.call, _label(operator.call.function)
        takes = FUNCTIONS[call.function].takes
        ways = (f"{call.function}{DERIVATIVES}", f"derivatives.{name}{DERIVATIVES}")
        derivatives = next((way for way in ways if way in FUNCTIONS and FUNCTIONS[way].takes == takes), None)
        if derivatives is None:
            return None
        is_plain = len(inputs) == len(takes)  # neither wrenches nor numbers of the robot
        if not is_plain or call.model.constraints or call.model.quaternions:  # with these, q varies by velocities
            return None
        options = {name: x for name, x in call.options if name in FUNCTIONS[derivatives].options}
        whole = Operator.of(Call.of(call.model, derivatives, options), operator.backend)
        if whole.shape != (len(inputs), *operator.shape, call.model.nv):
            return None
        blocks = casadi.vertsplit(_matrix(expression(whole.tape, inputs), whole.shape), max(operator.size, 1))
        outputs = [f"jac_{name}_{label}" for label in labels]
        result = casadi.SX.sym("result", operator.size)
        return casadi.Function(f"jac_{name}", [*inputs, result], blocks, [*labels, f"out_{name}"], outputs)


def _label(function: str) -> str:
    """The name of a function, without dots: CasADi takes none."""
    return function.replace(".", "_")


def expression(tape: Tape, inputs: Sequence[Any]) -> Any:
    """The outputs of a tape as a column of SX, for columns of SX."""
    entries = [casadi.vertsplit(x) if x.numel() else [] for x in inputs]
    return casadi.vertcat(*tape.walk(lambda k, entry: entries[k][entry], casadi.SX, casadi_operation))


def _matrix(column: Any, shape: tuple[int, ...]) -> Any:
    """A flat list of numbers as a matrix, row by row; those of more dimensions one below the other."""
    if len(shape) < 2:
        return column
    return casadi.reshape(column, shape[-1], column.numel() // shape[-1]).T


def _column(value: Any, length: int, what: str) -> Any:
    """A column of symbols or numbers."""
    if not isinstance(value, (casadi.SX, casadi.MX, casadi.DM)):
        try:
            value = casadi.DM(np.asarray(value, dtype=float))
        except Exception as error:
            raise ShapeError(f"{what} must be a symbol of CasADi or numbers, got {short_repr(value)}") from error
    if value.shape not in ((length, 1), (1, length)):
        raise ShapeError(
            f"{what} must be a column of {length} numbers, got shape {value.shape}; for many states, "
            "robot.casadi.function(..).map(count)"
        )
    return value if value.shape == (length, 1) else value.T
