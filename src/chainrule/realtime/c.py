"""A tick as C99, and the same with a header of C++17 over it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chainrule.compile.codegen.c import MARK
from chainrule.compile.codegen.c_expressions import number, statements
from chainrule.realtime.tick_code import CALLS, MAX_DIFFERENCE, TickCode, table

BUILD = "cc -std=c99 -O2 -Wall"


def files(code: TickCode, path: Path) -> Mapping[Path, str]:
    """The texts of all files."""
    stem = code.stem
    what = {f"{stem}.c, {stem}.h": "the code: C99 that needs math.h alone"}
    what[f"{stem}_check.c, {stem}_recorded.h"] = "the self-test with recorded inputs and outputs, and the times"
    commands = f"{BUILD} {stem}_check.c {stem}.c -lm -o {stem}_check\n./{stem}_check\n./{stem}_check {CALLS}"
    names = ", ".join([*code.inputs, *code.outputs])
    call = f"{stem}_state state;\n{stem}_reset(&state);\n{stem}_step(&state, {names});   /* in each period */"
    recorded = "".join(f", recorded_{x}[k]" for x in code.inputs) + "".join(f", {x}" for x in code.outputs)
    declared = "".join(f"static double {x}[{n}];\n" for x, n in code.outputs.items()) + f"static {stem}_state state;\n"
    return {
        path: _source(code),
        path.with_name(f"{stem}.h"): _header(code),
        path.with_name(f"{stem}_recorded.h"): _recording(code, "const double {x}[{rows}][{n}]"),
        path.with_name(f"{stem}_check.c"): _check(
            code, f'"{stem}.h"', declared, f"{stem}_reset(&state)", "state.tick", f"{stem}_step(&state{recorded})"
        ),
        path.with_name(f"{stem}.md"): code.readme(what, commands, call),
    }


def files_of_cpp(code: TickCode, path: Path) -> Mapping[Path, str]:
    """The texts of all files of C++."""
    stem, outputs = code.stem, [f"out.{x}" for x in code.outputs]
    given = ", ".join(f"const std::array<double, {n}> &{x}" for x, n in code.inputs.items())
    fields = "".join(f"  std::array<double, {n}> {x};\n" for x, n in code.outputs.items())
    passed = "".join(f", {x}.data()" for x in [*code.inputs, *outputs])
    header = f"""// {MARK}
{code.comment("// ")}
#pragma once

#include "{stem}.h"
#include <array>

namespace {stem}_code {{

struct Outputs {{
{fields}}};

class Controller {{
public:
  static constexpr double period = {stem.upper()}_PERIOD;
  {stem}_state state;

  Controller() noexcept {{ reset(); }}
  void reset() noexcept {{ {stem}_reset(&state); }}
  Outputs step({given}) noexcept
  {{
    Outputs out;
    {stem}_step(&state{passed});
    return out;
  }}
}};

}}  // namespace {stem}_code
"""
    what = {f"{stem}.hpp": "a class over the code, C++17", f"{stem}.c, {stem}.h": "the code: C99 with math.h alone"}
    what[f"{stem}_check.cpp, {stem}_recorded.h"] = "the self-test with recorded inputs and outputs, and the times"
    commands = f"{BUILD} -c {stem}.c\nc++ -std=c++17 -O2 -Wall {stem}_check.cpp {stem}.o -o {stem}_check\n"
    names, taken = ", ".join(code.inputs), ", ".join(f"recorded_{x}[k]" for x in code.inputs)
    declared = "".join(f"static std::array<double, {n}> {x};\n" for x, n in code.outputs.items())
    stored = ", ".join(f"{x} = out.{x}" for x in code.outputs)
    step = f"const auto out = controller.step({taken}); {stored}"
    check = _check(
        code, f'"{stem}.hpp"', declared + f"static {stem}_code::Controller controller;\n", "controller.reset()",
        "controller.state.tick", step,
    )  # fmt: skip
    return {
        path: header,
        path.with_name(f"{stem}.c"): _source(code),
        path.with_name(f"{stem}.h"): _header(code),
        path.with_name(f"{stem}_recorded.h"): _recording(code, "const std::array<double, {n}> {x}[{rows}]"),
        path.with_name(f"{stem}_check.cpp"): check,
        path.with_name(f"{stem}.md"): code.readme(
            what,
            f"{commands}./{stem}_check\n./{stem}_check {CALLS}",
            f"{stem}_code::Controller controller;\nconst auto out = controller.step({names});   // in each period",
        ),
    }


def _prototype(code: TickCode) -> str:
    inputs = "".join(f", const double {x}[{n}]" for x, n in code.inputs.items())
    return f"void {code.stem}_step({code.stem}_state *state{inputs}" + "".join(
        f", double {x}[{n}])" if x == [*code.outputs][-1] else f", double {x}[{n}]" for x, n in code.outputs.items()
    )


def _header(code: TickCode) -> str:
    stem, upper = code.stem, code.stem.upper()
    memory = f"  double memory[{len(code.memory)}];\n" if code.memory else ""
    return f"""/* {MARK}
{code.comment("   ")} */
#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* The time from one tick to the next, in s. */
#define {upper}_PERIOD {number(code.period)}

/* The number of ticks so far, which is the time in the motion, and what is remembered from tick to tick. */
typedef struct {{
  uint64_t tick;
{memory}}} {stem}_state;

void {stem}_reset({stem}_state *state);
{_prototype(code)};

#ifdef __cplusplus
}}
#endif

#endif
"""


def _source(code: TickCode) -> str:
    stem, last = code.stem, len(code.breaks) - 1
    vectors = {name: values for name, values in (code.tables | {"start": code.memory}).items() if values}
    tables = "".join(
        f"static const double {x}[{len(v)}] = {{\n{table([v], number, '', '')}}};\n" for x, v in vectors.items()
    )
    find = row = ""
    if code.breaks:
        rows = table(code.rows, number, "{", "}")
        tables += f"static const double rows[{len(code.rows)}][{len(code.rows[0])}] = {{\n{rows}}};\n"
        row = "  const double *row = find_row(times[1], &times[0]);\n"
        find = f"""/* The piece of the motion at t, and how long it lasts; always {code.comparisons} comparisons. */
static const double *find_row(double t, double *since)
{{
  int k = 0, stride;
  for (stride = {code.stride}; stride > 0; stride /= 2)
    if (k + stride <= {last + 1} && breaks[k + stride - 1] <= t) k += stride;
  if (k == 0 || t > breaks[{last}]) return rows[k];
  if (k > {last}) k = {last};
  *since = t - breaks[k - 1];
  return rows[k];
}}

"""
    copies = "".join(
        f"  for (i = 0; i < {end - at}; ++i) {'state->' * (x == 'memory')}{x}[i] = out[{at} + i];\n"
        for x, at, end in code.results
    )
    reset = (
        f"  int i;\n  for (i = 0; i < {len(code.memory)}; ++i) state->memory[i] = start[i];\n" if code.memory else ""
    )
    return f"""/* {MARK} */
#include "{stem}.h"
#include <math.h>

/* Each operation is rounded by itself: no product is fused with a sum, and nothing is reordered. */
#if defined(__FAST_MATH__)
#error "compile without -ffast-math"
#elif defined(__clang__) || defined(_MSC_VER)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

{tables}
{find}static void compute({", ".join(f"const double *x{k}" for k in range(len(code.arguments)))}, double *out)
{{
{statements(code.tape)}}}

void {stem}_reset({stem}_state *state)
{{
{reset}  state->tick = 0;
}}

{_prototype(code)}
{{
  double times[2] = {{0.0, (double)state->tick * {stem.upper()}_PERIOD}}, out[{len(code.tape.outputs)}];
{row}  int i;
  compute({", ".join({"memory": "state->memory"}.get(name, name) for name in code.arguments)}, out);
{copies}  state->tick += 1;
}}
"""


def _recording(code: TickCode, declaration: str) -> str:
    ticks = ", ".join(map(str, code.ticks))
    text = f"/* {MARK} */\n#define RECORDED {len(code.ticks)}\nstatic const unsigned ticks[RECORDED] = {{{ticks}}};\n"
    for x, rows in code.record().items():
        name = declaration.format(x=f"recorded_{x}", rows=len(rows), n=len(rows[0]))
        text += f"static {name} = {{\n{table(rows, number, '{', '}')}}};\n"
    return text


def _check(code: TickCode, header: str, declared: str, reset: str, tick: str, step: str) -> str:
    """The program that tests the code, and measures its times."""
    compare = "".join(
        f"    for (i = 0; i < {n}; ++i) compare({x}[i], recorded_{x}[k][i]);\n" for x, n in code.outputs.items()
    )
    return f"""/* {MARK} Without an argument, the self-test; with a number, the times of so many calls,
   whose distribution goes into a file that is named after it. Times are in ns, that of reading the clock among them. */
#define _POSIX_C_SOURCE 199309L
#include {header}
#include "{code.stem}_recorded.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BINS 100000
static unsigned long bins[BINS + 1];
{declared}static long compared = 0, different = 0;
static double largest = 0.0;

static void compare(double found, double expected)
{{
  const double apart = fabs(found - expected) / (1.0 + fabs(expected));
  compared += 1;
  if (found != expected) different += 1;
  if (!(apart <= largest)) largest = apart;
}}

static int test(void)
{{
  int i, k;
  for (k = 0; k < RECORDED; ++k) {{
    {tick} = ticks[k];
    {{ {step}; }}
{compare}  }}
  printf("%ld of %ld numbers differ, by %.3g at most\\n", different, compared, largest);
  return !(largest <= {MAX_DIFFERENCE:g});
}}

static long long now(void)
{{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000LL * t.tv_sec + t.tv_nsec;
}}

static long share(double part, long calls)
{{
  unsigned long sum = 0;
  long n = 0;
  while (n < BINS && (double)(sum += bins[n]) < part * (double)calls) n += 1;
  return n;
}}

int main(int argc, char **argv)
{{
  const long calls = argc > 1 ? atol(argv[1]) : 0;
  long long longest = 0;
  double sum = 0.0;
  FILE *file;
  long n;
  {reset};
  if (!calls) return test();
  for (n = 0; n < calls; ++n) {{
    const int k = (int)(n % RECORDED);
    const long long start = now();
    {{ {step}; }}
    const long long time = now() - start;
    bins[time < BINS ? time : BINS] += 1;
    longest = time > longest ? time : longest;
    sum += {next(iter(code.outputs))}[0];
  }}
  printf("%ld calls: median %ld ns, 99.99 per cent %ld ns, longest %lld ns (sum %g)\\n", calls, share(0.5, calls),
         share(0.9999, calls), longest, sum);
  file = argc > 2 ? fopen(argv[2], "w") : NULL;
  for (n = 0; file && n <= BINS; ++n)
    if (bins[n]) fprintf(file, "%ld %lu\\n", n, bins[n]);
  return file ? fclose(file) : 0;
}}
"""
