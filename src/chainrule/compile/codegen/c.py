"""C99 from tapes: a file without dependencies, its header, and a small program that tries it.

No name from a model reaches the code: functions are called by this library's own words, and the file's name becomes
an identifier of letters, digits and underscores. Comments name joints and links, with letters, digits and a few signs
that cannot end a comment; anything else in a name becomes an underscore.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.compile.codegen.c_expressions import statements
from chainrule.compile.tape import Tape

MARK = "Written by chainrule."
COMMENT_COLUMNS = 116
CONVENTIONS = """
   SI units. Arrays of several dimensions are stored row by row. Twists, wrenches and momenta have their angular part
   first. Quaternions are (x, y, z, w). The velocity of a free joint is the twist (angular, linear) of its body, in the
   axes of the body."""


def files(path: Path, tapes: Mapping[str, Tape], _about: Mapping[str, Any]) -> dict[Path, str]:
    """The source, its header, and a program that tries it, by their paths."""
    prefix, tapes = identifier(path.stem), {identifier(name): tape for name, tape in tapes.items()}
    return {
        path: source(prefix, tapes),
        path.with_name(f"{prefix}.h"): header(prefix, tapes),
        path.with_name(f"{path.stem}_main.c"): program(prefix, tapes),
    }


def identifier(name: str) -> str:
    """A C identifier like the name."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name) or "robot"
    return plain if plain[0].isalpha() else f"r_{plain}"


def header(prefix: str, tapes: Mapping[str, Tape]) -> str:
    """The declarations."""
    guard = f"{prefix.upper()}_H"
    declarations = "".join(comment(tape) + _prototype(prefix, name, tape) + ";\n\n" for name, tape in tapes.items())
    opening = f"/* {MARK}\n{CONVENTIONS} */\n#ifndef {guard}\n#define {guard}\n\n"
    opening += '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    return opening + declarations + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


def source(prefix: str, tapes: Mapping[str, Tape]) -> str:
    """The functions: straight-line code, no allocation, no global state; needs only functions of math.h."""
    parts = [f'/* {MARK} */\n#include "{prefix}.h"\n#include <math.h>\n\n']
    parts += [_prototype(prefix, name, tape) + "\n{\n" + statements(tape) + "}\n\n" for name, tape in tapes.items()]
    return "".join(parts).rstrip("\n") + "\n"


def program(prefix: str, tapes: Mapping[str, Tape]) -> str:
    """A main that reads the arguments of each function from its input and prints what it returns."""
    lines = [f'/* {MARK} */\n#include "{prefix}.h"\n#include <stdio.h>\n\n']
    lines.append("static int read_all(double *x, int n)\n{\n  int i;\n  for (i = 0; i < n; ++i)\n")
    lines.append('    if (scanf("%lf", &x[i]) != 1) return 0;\n  return 1;\n}\n\n')
    lines.append("int main(void)\n{\n")
    for name, tape in tapes.items():
        sizes = [*tape.inputs, len(tape.outputs)]
        lines.append("  {\n    int i;\n")
        lines += [f"    double x{i}[{max(1, n)}];\n" for i, n in enumerate(sizes)]
        for i, n in enumerate(tape.inputs):
            lines.append(f"    if (!read_all(x{i}, {n})) return 1;\n")
        call = ", ".join(f"x{i}" for i in range(len(sizes)))
        lines.append(f"    {prefix}_{name}({call});\n")
        last = len(sizes) - 1
        lines.append(
            f'    for (i = 0; i < {len(tape.outputs)}; ++i) printf("%.17g ", x{last}[i]);\n    printf("\\n");\n  }}\n'
        )
    return "".join([*lines, "  return 0;\n}\n"])


def comment(tape: Tape) -> str:
    """The meaning of arguments and result, as a comment."""
    places = [*(f"x{i}[{n}]" for i, n in enumerate(tape.inputs)), f"out[{len(tape.outputs)}]"]
    if not tape.meanings:
        return f"/* {', '.join(places[:-1])} in, {places[-1]}; {tape.flops()} flops */\n"
    lines = []
    for place, meaning in zip(places, tape.meanings, strict=True):
        text = f"{place:<7} {inert(meaning)}"
        lines += textwrap.wrap(text, COMMENT_COLUMNS, initial_indent="   ", subsequent_indent=" " * 11)
    return "/*\n" + "\n".join(lines) + f"\n   {tape.flops()} flops */\n"


def inert(text: str) -> str:
    """Text without anything that could end a comment or mean something to a C compiler."""
    return re.sub(r"[^A-Za-z0-9_.,:;()^/ =+-]", "_", text)


def _prototype(prefix: str, name: str, tape: Tape) -> str:
    inputs = "".join(f"const double *x{i}, " for i in range(len(tape.inputs)))
    return f"void {prefix}_{name}({inputs}double *out)"
