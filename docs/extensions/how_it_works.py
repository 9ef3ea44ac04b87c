"""The pieces of `how_it_works.md`: one small function as text, symbols, instructions, IR, assembly, made by the library."""

from __future__ import annotations

import inspect
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

import chainrule as cr
from chainrule.algorithms import rnea

ROBOT, FUNCTION = "planar_2r", "gravity_torque"
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


@cache
def _kernel() -> Any:
    return cr.load(ROBOT).compiled.kernel(FUNCTION)


def fenced(text: str, language: str) -> str:
    """A block of code in Markdown."""
    return f"```{language}\n{text.strip()}\n```"


def text() -> str:
    """The algorithm as it is written."""
    parts = (rnea.gravity_torque, rnea.body_torque, rnea.inward, rnea.project)
    return fenced("\n\n\n".join(inspect.getsource(part).strip() for part in parts), "python")


def numbers() -> str:
    """Its value for floats."""
    tau = rnea.gravity_torque(cr.load(ROBOT).model, [0.3, 0.5])
    return fenced(f">>> rnea.gravity_torque(arm.model, [0.3, 0.5])\n{[float(np.round(t, 6)) for t in tau]}", "python")


def symbols() -> str:
    """Its value for symbols of SymPy, as formulas."""
    q = sp.symbols("q_1 q_2")
    rows = [sp.N(sp.trigsimp(sp.expand(t)), 4) for t in rnea.gravity_torque(cr.load(ROBOT).model, q)]
    return "\n\n".join(f"$$g_{k} = {sp.latex(row)}$$" for k, row in enumerate(rows, 1))


def tape() -> str:
    """Its instructions, each an operation on earlier ones."""
    tape = _kernel().tape
    lines = []
    for k, (operation, operands, _, entry, constant) in enumerate(tape.instructions):
        values = [f"v{operand}" for operand in operands]
        if operation == "input":
            said = f"q[{entry}]"
        elif operation == "constant":
            said = f"{constant:g}"
        elif operation in SIGNS:
            said = f" {SIGNS[operation]} ".join(values)
        else:
            said = f"{operation}({', '.join(values)})"
        lines.append(f"v{k} = {said}")
    outputs = ", ".join(f"v{value}" for value in tape.outputs)
    return fenced("\n".join([*lines, f"return {outputs}"]), "text")


def counts() -> str:
    """Its size, as a sentence."""
    kernel = _kernel()
    return (
        f"{len(kernel.tape.instructions)} instructions, {kernel.flops} floating-point operations (a sine or a cosine counts "
        f"for twenty), {kernel.lanes} states at once on the machine that built this page."
    )


def ir() -> str:
    """The part of the LLVM IR that computes."""
    found = re.search(r"^define internal void @core\.0\(.*?^}", _kernel().ir(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return fenced(found[0], "llvm")


def assembly() -> str:
    """The machine code of that part, from its label to its return."""
    found = re.search(r"^_?core\.0:\n.*?^\s+retq?$", _kernel().assembly(), re.MULTILINE | re.DOTALL)
    assert found is not None
    lines = [line for line in found[0].splitlines() if not re.match(r"\s+\.", line)]
    return fenced("\n".join(lines), "text")


def exported(target: str, suffix: str, language: str) -> str:
    """The same function as source code of another language."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"arm{suffix}"
        cr.load(ROBOT).compiled.export(target, functions=[FUNCTION], path=path)
        return fenced(path.read_text(encoding="utf-8"), language)


def c() -> str:
    """In C99."""
    return exported("c", ".c", "c")
