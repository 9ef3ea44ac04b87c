"""From a function of CasADi to a tape: for what users write with its symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi

from chainrule.compile.replay import replay
from chainrule.compile.tape import Instruction, Tape, Value, with_shared_reciprocals
from chainrule.errors import ChainruleError
from chainrule.spatial import Scalar

_BINARY = {
    casadi.OP_ADD: "add", casadi.OP_SUB: "sub", casadi.OP_MUL: "mul", casadi.OP_DIV: "div", casadi.OP_ATAN2: "atan2",
    casadi.OP_LT: "lt", casadi.OP_LE: "le", casadi.OP_IF_ELSE_ZERO: "choose", casadi.OP_AND: "and", casadi.OP_OR: "or",
    casadi.OP_NE: "ne", casadi.OP_EQ: "eq", casadi.OP_POW: "pow", casadi.OP_CONSTPOW: "pow",
}  # fmt: skip
_UNARY = {
    casadi.OP_NEG: "neg", casadi.OP_SQRT: "sqrt", casadi.OP_SIN: "sin", casadi.OP_COS: "cos", casadi.OP_NOT: "not",
    casadi.OP_FABS: "abs", casadi.OP_EXP: "exp", casadi.OP_LOG: "log", casadi.OP_TAN: "tan", casadi.OP_TANH: "tanh",
    casadi.OP_SINH: "sinh", casadi.OP_COSH: "cosh", casadi.OP_ASIN: "asin", casadi.OP_ACOS: "acos",
    casadi.OP_ATAN: "atan",
}  # fmt: skip


class UnsupportedOperationError(ChainruleError, NotImplementedError):
    """An operation that has no machine code."""


def _name_of(code: int) -> str:
    """CasADi's name of an operation."""
    return next((name for name in dir(casadi) if name.startswith("OP_") and getattr(casadi, name) == code), str(code))


def unsupported_operation(function: casadi.Function) -> str | None:
    """The reason why a function of CasADi has no machine code; None where it has."""
    try:
        tape_of(function, tuple(function.numel_in(i) for i in range(function.n_in())))
    except UnsupportedOperationError as error:
        return str(error)
    return None


def through_casadi(compute: Callable[..., Sequence[Scalar]], arguments: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The results of a text on lists of scalars, by way of CasADi's symbols: for a text that serves no others."""
    symbols = [casadi.SX.sym(f"x{k}", len(part)) for k, part in enumerate(arguments)]
    results = compute(*(list(casadi.vertsplit(x)) if x.numel() else [] for x in symbols))
    function = casadi.Function("f", symbols, casadi.cse([casadi.vertcat(*map(casadi.SX, results))]))
    return replay(tape_of(function, tuple(map(len, arguments))), arguments)


def tape_of(function: casadi.Function, lengths: tuple[int, ...]) -> Tape:
    """The instructions of a CasADi function, with its reused work entries turned into values that are set once."""
    instructions: list[Instruction] = []
    work: dict[int, Value] = {}
    outputs: list[Value | None] = [None] * function.numel_out(0)
    constants: dict[float, Value] = {}

    def append(operation: str, *operands: Value, **rest: Any) -> Value:
        instructions.append(Instruction(operation, operands, **rest))
        return len(instructions) - 1

    def constant(x: float) -> Value:
        if x not in constants:
            constants[x] = append("constant", constant=x)
        return constants[x]

    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        into, of = function.instruction_output(k), function.instruction_input(k)
        if code == casadi.OP_INPUT:
            work[into[0]] = append("input", argument=of[0], entry=of[1])
        elif code == casadi.OP_OUTPUT:
            outputs[into[1]] = work[of[0]]
        elif code == casadi.OP_CONST:
            work[into[0]] = constant(function.instruction_constant(k))
        elif code in _BINARY:
            work[into[0]] = append(_BINARY[code], work[of[0]], work[of[1]])
        elif code in _UNARY:
            work[into[0]] = append(_UNARY[code], work[of[0]])
        elif code == casadi.OP_SQ:
            work[into[0]] = append("mul", work[of[0]], work[of[0]])
        elif code == casadi.OP_TWICE:
            work[into[0]] = append("add", work[of[0]], work[of[0]])
        elif code == casadi.OP_INV:
            work[into[0]] = append("div", constant(1.0), work[of[0]])
        elif code in (casadi.OP_FMIN, casadi.OP_FMAX):
            a, b = (work[i] for i in of) if code == casadi.OP_FMIN else (work[i] for i in reversed(of))
            less = append("lt", a, b)  # the smaller where it is the first; for the larger, the roles change
            first, second = work[of[0]], work[of[1]]
            work[into[0]] = append("add", append("choose", less, first), append("choose", append("not", less), second))
        elif code == casadi.OP_SIGN:
            zero_ = constant(0.0)
            work[into[0]] = append("sub", append("lt", zero_, work[of[0]]), append("lt", work[of[0]], zero_))
        elif code == casadi.OP_ASSIGN:
            work[into[0]] = work[of[0]]
        else:
            raise UnsupportedOperationError(f"CasADi's operation {_name_of(code)} has no translation")
    zero = None
    for i, value in enumerate(outputs):
        if value is None:
            zero = constant(0.0) if zero is None else zero
            outputs[i] = zero
    tape = Tape(lengths, tuple(instructions), tuple(v for v in outputs if v is not None))
    return with_shared_reciprocals(tape)
