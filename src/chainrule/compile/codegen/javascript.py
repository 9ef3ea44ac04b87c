"""JavaScript from tapes: a module without dependencies, for pages and for programs.

A function takes one list or typed array of numbers for each argument. It returns a new Float64Array, or fills one that
is passed in last. `about` holds the names and units of the joints, and for each function its arguments, the shape of
its result and their meanings. Names from a model stand in `about` alone, as texts, and never in the code.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from chainrule.compile.codegen.c import CONVENTIONS, MARK, identifier
from chainrule.compile.codegen.statements import Syntax, exact_number
from chainrule.compile.partition import partition
from chainrule.compile.tape import SYSTEM_FUNCTIONS, Instruction, Tape

MAX_OPERATIONS = 1_000
"""Operations in one function of the text. Engines compile longer functions badly or not at all: V8 leaves those of more
than 60 kB of its bytecode, some 5,000 operations, to its interpreter. A mass matrix of G1 takes 2.31 us in functions of
2,500 operations, 2.16 in those of 1,000 and 2.23 in those of 800."""

SPACES = re.compile(r"^ +| (===|!==|<=|&&|\|\||[-+*/<=?:]) ", re.MULTILINE)
"""Spaces that the arithmetic does not need."""

EXPRESSIONS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}",
    "lt": "{} < {} ? 1 : 0", "le": "{} <= {} ? 1 : 0", "eq": "{} === {} ? 1 : 0", "ne": "{} !== {} ? 1 : 0",
    "and": "{} !== 0 && {} !== 0 ? 1 : 0", "or": "{} !== 0 || {} !== 0 ? 1 : 0", "not": "{} === 0 ? 1 : 0",
    "choose": "{} !== 0 ? {} : 0", "sqrt": "Math.sqrt({})", "abs": "Math.abs({})", "sin": "Math.sin({})",
    "cos": "Math.cos({})",
    **{name: f"Math.{name}({', '.join(['{}'] * count)})" for name, count in SYSTEM_FUNCTIONS.items()},
}  # fmt: skip


def files(path: Path, tapes: Mapping[str, Tape], about: Mapping[str, Any]) -> dict[Path, str]:
    """The module, by its path."""
    return {path: source(tapes, about)}


def source(tapes: Mapping[str, Tape], about: Mapping[str, Any]) -> str:
    """The text of the module."""
    facts = {identifier(name): entry for name, entry in about["functions"].items()}
    parts = [
        f"/* {MARK}\n{CONVENTIONS}\n   Functions take lists of numbers, and return a Float64Array: see `about`. */\n"
    ]
    parts += [write_function(identifier(name), tape, _names(about, name)) for name, tape in tapes.items()]
    return "\n".join([*parts, f"export const about = {literal({**about, 'functions': facts})};\n"])


def namespace(name: str, tapes: Mapping[str, Tape], about: Mapping[str, Any]) -> str:
    """A constant that holds the functions, for a script that is written into a page; with few spaces."""
    functions = "".join(
        write_function(identifier(function), tape, _names(about, function)) for function, tape in tapes.items()
    )
    short = SPACES.sub(r"\1", functions.replace("export function", "function"))
    return f"const {name}=(()=>{{\n{short}return{{{','.join(map(identifier, tapes))}}};\n}})();\n"


def literal(value: object, indent: int | None = 1) -> str:
    """A value as JSON that is safe inside of a script of a page too."""
    return json.dumps(value, indent=indent, allow_nan=False).replace("<", "\\u003c")


number = partial(exact_number, not_a_number="NaN", infinity="Infinity")


def _names(about: Mapping[str, Any], function: str) -> list[str]:
    return [argument["name"] for argument in about["functions"][function]["arguments"]]


def write_function(name: str, tape: Tape, arguments: list[str]) -> str:
    """A function that checks the lengths of its arguments, and its arithmetic, in one piece or in several."""
    lines = [f"export function {name}({', '.join([*arguments, f'out = new Float64Array({len(tape.outputs)})'])}) {{"]
    for argument, length in zip(arguments, tape.inputs, strict=True):
        lines.append(f"  if ({argument}.length !== {length})")
        message = f"{name}: {argument} must have {length} numbers"
        lines.append(f'    throw new RangeError("{message}, got " + {argument}.length);')
    operations = sum(bool(instruction.operands) for instruction in tape.instructions)
    if operations <= MAX_OPERATIONS:
        lines += SYNTAX.statements(tape, arguments)
        lines += _stores(tape, SYNTAX.outputs(tape))
        return "\n".join([*lines, "  return out;", "}", ""])
    parts = partition(tape, MAX_OPERATIONS)
    pieces, names = [], list(arguments)
    for k, piece in enumerate(parts.tapes):
        stored = f"{name}_{k}"
        pieces.append(f"const {stored} = new Float64Array({len(piece.outputs)});")
        pieces.append(f"function {name}_piece{k}({', '.join(arguments)}) {{")
        pieces += SYNTAX.statements(piece, names)
        pieces += [f"  {stored}[{place}] = {value};" for place, value in enumerate(SYNTAX.outputs(piece))]
        pieces.append("}\n")
        lines.append(f"  {name}_piece{k}({', '.join(arguments)});")
        names.append(stored)
    lines += _stores(tape, [f"{name}_{k}[{entry}]" for k, entry in parts.outputs])
    return "\n".join([*pieces, *lines, "  return out;", "}", ""])


def _stores(tape: Tape, values: Sequence[str]) -> list[str]:
    """The lines that store a result; those of its zeros, of which matrices have many, are one."""
    zeros = {place for place, value in enumerate(tape.outputs) if _is_zero(tape.instructions[value])}
    stored = [f"  out[{place}] = {value};" for place, value in enumerate(values) if place not in zeros]
    return ["  out.fill(0);", *stored] if zeros else stored


def _is_zero(instruction: Instruction) -> bool:
    return (
        instruction.operation == "constant" and instruction.constant == 0 and math.copysign(1, instruction.constant) > 0
    )


SYNTAX = Syntax(EXPRESSIONS, number, "  const v{k} = {value};")
"""How JavaScript writes the arithmetic of a tape."""
