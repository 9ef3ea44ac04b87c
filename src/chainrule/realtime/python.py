"""A tick as a module of Python that imports the standard library alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from chainrule.compile.codegen.c import MARK
from chainrule.compile.codegen.statements import Syntax, exact_number
from chainrule.compile.tape import SYSTEM_FUNCTIONS
from chainrule.realtime.tick_code import CALLS, MAX_DIFFERENCE, TickCode, table

EXPRESSIONS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{0} / {1} if {1} else divide({0}, {1})", "neg": "-{}",
    "sqrt": "math.sqrt({0}) if {0} >= 0.0 else math.nan", "abs": "abs({})",
    "lt": "1.0 if {} < {} else 0.0", "le": "1.0 if {} <= {} else 0.0", "eq": "1.0 if {} == {} else 0.0",
    "ne": "1.0 if {} != {} else 0.0", "and": "1.0 if {} and {} else 0.0", "or": "1.0 if {} or {} else 0.0",
    "not": "0.0 if {} else 1.0", "choose": "{1} if {0} else 0.0",
    **{name: f"call(math.{name}, {', '.join(['{}'] * count)})" for name, count in SYSTEM_FUNCTIONS.items()},
}  # fmt: skip


number = partial(exact_number, not_a_number="math.nan", infinity="math.inf")
SYNTAX = Syntax(EXPRESSIONS, number, "    v{k} = {value}")


def files(code: TickCode, path: Path) -> Mapping[Path, str]:
    """The texts of all files."""
    stem, names = code.stem, ", ".join(code.inputs)
    what = {f"{stem}.py": "the code: Python 3.8 or newer, without packages"}
    what[f"{stem}_check.py, {stem}_recorded.py"] = "the self-test with recorded inputs and outputs, and the times"
    call = f"controller = {stem}.Controller()\n{', '.join(code.outputs)} = controller.step({names})   # in each period"
    tables = "".join(f"{x.upper()} = [\n{table([v], number, '', '')}]\n" for x, v in code.tables.items() if v)
    find, row = "", "        times = [0.0, self.tick * PERIOD]\n"
    if code.breaks:
        tables += f"ROWS = [\n{table(code.rows, number)}]\n"
        row = "        row, times = find_row(self.tick * PERIOD)\n"
        find = '''
def find_row(t):
    """The piece of the motion at the time t, and how long it has lasted, with the time."""
    if not BREAKS[0] <= t <= BREAKS[-1]:
        return ROWS[0 if t < BREAKS[0] else -1], [0.0, t]
    k = min(bisect.bisect_right(BREAKS, t), len(BREAKS) - 1)
    return ROWS[k], [t - BREAKS[k - 1], t]

'''
    passed = {"memory": "self.memory", "parameters": "PARAMETERS", "row": "row", "times": "times"}
    passed |= {x: f"vector({x!r}, {x}, {n})" for x, n in code.inputs.items()}
    memory = f"        self.memory = [{', '.join(map(number, code.memory))}]\n" if code.memory else ""
    keep = "".join(f"        self.memory = out[{at}:]\n" for x, at, _ in code.results if x == "memory")
    source = f'''# {MARK}
"""
{code.comment("")}
"""

import bisect
import math

PERIOD = {number(code.period)}
"""The time from one tick to the next, in s."""

{tables}

class Controller:
    """The number of ticks so far, which is the time in the motion, and what is remembered from tick to tick."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.tick = 0
{memory}
    def step(self, {names}):
{row}        out = compute({", ".join(passed[x] for x in code.arguments)})
{keep}        self.tick += 1
        return {", ".join(f"out[{at}:{end}]" for x, at, end in code.results if x != "memory")}

{find}
def vector(name, values, length):
    if len(values) != length:
        raise ValueError("%s must have %d numbers, got %d" % (name, length, len(values)))
    return [float(x) for x in values]


def divide(a, b):
    """A quotient by zero, as IEEE 754 has it."""
    return math.copysign(math.inf, a) * math.copysign(1.0, b) if a and a == a else math.nan


def call(function, *arguments):
    """A function of the system, not a number or infinite where Python raises an error."""
    try:
        return function(*arguments)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def compute({", ".join(code.arguments)}):
{chr(10).join(SYNTAX.statements(code.tape, [*code.arguments]))}
    return [{", ".join(SYNTAX.outputs(code.tape))}]
'''
    step = f"controller.step({', '.join(f'recorded.{x}[k]' for x in code.inputs)})"
    expected = " + ".join(f"recorded.{x}[k]" for x in code.outputs)
    found = f"sum({step}, [])" if len(code.outputs) > 1 else step
    check = f'''# {MARK}
"""Without an argument, the self-test; with a number, the times of so many calls in ns."""

import sys
import time

import {stem}_recorded as recorded
from {stem} import Controller

calls = int(sys.argv[1]) if len(sys.argv) > 1 else 0
controller = Controller()
different, apart, times = 0, [], []
for k in range(0 if calls else len(recorded.ticks)):
    controller.tick = recorded.ticks[k]
    for found, expected in zip({found}, {expected}):
        different += found != expected
        apart.append(abs(found - expected) / (1 + abs(expected)))
for n in range(calls):
    k = n % len(recorded.ticks)
    start = time.perf_counter_ns()
    {step}
    times.append(time.perf_counter_ns() - start)
if calls:
    times.sort()
    shares = times[calls // 2], times[min(int(0.9999 * calls), calls - 1)], times[-1]
    print("%d calls: median %d ns, 99.99 per cent %d ns, longest %d ns" % (calls, *shares))
else:
    print("%d of %d numbers differ, by %.3g at most" % (different, len(apart), max(apart)))
    sys.exit(not all(x <= {MAX_DIFFERENCE:g} for x in apart))
'''
    recorded = "".join(f"{x} = [\n{table(rows, number)}]\n" for x, rows in code.record().items())
    commands = f"python {stem}_check.py\npython {stem}_check.py {CALLS // 100}"
    return {
        path: source,
        path.with_name(
            f"{stem}_recorded.py"
        ): f"# {MARK}\nimport math  # noqa: F401\n\nticks = {code.ticks}\n{recorded}",
        path.with_name(f"{stem}_check.py"): check,
        path.with_name(f"{stem}.md"): code.readme(what, commands, call),
    }
