"""CUDA C from tapes: a kernel that computes a function for each state of a batch, one thread a state.

The numbers of a state lie one after the other in memory. So that neighboring threads read and write neighboring
numbers, the threads of a warp move the rows of their 32 states together, through tiles of shared memory, where each
thread then finds its own row. A result with many numbers is computed in parts, each with a tile that fits.

No name from a model reaches the code, but in comments, as in `emit.c`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from chainrule.compile.emit.c_arithmetic import NearAngles, Real, number, sines_and_cosines, statements
from chainrule.compile.emit.elementary import (
    COSINE,
    HALF_PI,
    HALF_PI_SINGLE,
    MAX_REDUCED_ANGLE,
    MAX_REDUCED_ANGLE_SINGLE,
    SINE,
)
from chainrule.compile.parts import part
from chainrule.compile.tape import Tape, Value, with_shared_reciprocals

WARP = 32
"""Threads that go in step."""

REALS = {32: Real("float", "f", "sine_and_cosine"), 64: Real("double", "", "sine_and_cosine")}

MAX_TILE_BYTES = 20 * 1024
"""Shared memory for the rows of a warp's result; a larger result is computed in parts."""
MAX_SHARED_BYTES = 48 * 1024
"""Shared memory that a block may take without asking for more."""
MAX_WARPS = 4
"""Warps in a block."""

NUMBERS = """#ifndef NAN
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#endif
"""
"""Numbers that are not finite, which the run-time compiler knows only by these names."""


def _polynomial(coefficients: Sequence[float], real: Real) -> str:
    """The polynomial in z with these coefficients, the constant first."""
    text = number(coefficients[-1], real)
    for c in reversed(coefficients[:-1]):
        text = f"fma{real.suffix}({text}, z, {number(c, real)})"
    return text


def _reduction(parts: Sequence[float], real: Real) -> str:
    """The remainder after k times a number that is given in parts."""
    return "".join(f"  r = fma{real.suffix}(k, {number(-part, real)}, r);\n" for part in parts)


SINE_OF_HALF_TURN = (-0.16666656732559204, 0.008333017118275166, -0.00019806601630989462, 2.600024345156271e-06)
COSINE_OF_HALF_TURN = (-0.5, 0.04166664183139801, -0.00138884037733078, 2.476187000866048e-05, -2.607681608424173e-07)
"""sin(r) = r + r z p(z) and cos(r) = 1 + z p(z), with z = r^2, for r within a quarter turn; off by less than 5e-9."""

SINCOS_SINGLE = f"""
static __device__ __forceinline__ void near_sine_and_cosine(real x, real *sine, real *cosine)
{{
  const real shifted = fmaf(x, {number(1 / math.pi, REALS[32])}, 12582912.0f); /* whole in its last bits */
  const real k = shifted - 12582912.0f;
  real r = x;
{_reduction([2 * part for part in HALF_PI_SINGLE], REALS[32])}  const real z = r * r;
  const real s = fmaf(r * z, {_polynomial(SINE_OF_HALF_TURN, REALS[32])}, r);
  const real c = fmaf(z, {_polynomial(COSINE_OF_HALF_TURN, REALS[32])}, 1.0f);
  const int sign = __float_as_int(shifted) << 31;
  *sine = __int_as_float(__float_as_int(s) ^ sign);
  *cosine = __int_as_float(__float_as_int(c) ^ sign);
}}
"""

SINCOS_DOUBLE = f"""
static __device__ __forceinline__ void near_sine_and_cosine(real x, real *sine, real *cosine)
{{
  const real shifted = fma(x, {number(2 / math.pi, REALS[64])}, 6755399441055744.0); /* whole in its last bits */
  const real k = shifted - 6755399441055744.0;
  real r = x;
{_reduction(HALF_PI, REALS[64])}  const real z = r * r;
  const real a = fma(r * z, {_polynomial(SINE, REALS[64])}, r);
  const real b = fma(z * z, {_polynomial(COSINE, REALS[64])}, fma(z, -0.5, 1.0));
  const int quadrant = __double2loint(shifted);
  const real s = quadrant & 1 ? b : a, c = quadrant & 1 ? a : b;
  *sine = quadrant & 2 ? -s : s;
  *cosine = (quadrant + 1) & 2 ? -c : c;
}}
"""

MOVES = """
/* Sixteen bytes into shared memory, to arrive before the next `wait_for_copies`. */
static __device__ __forceinline__ void copy_ahead(float4 *to, const float4 *from)
{
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
#else
  *to = *from;
#endif
}

/* Copies up to here are one group; wait until at most so many groups are under way. */
static __device__ __forceinline__ void end_copies()
{
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int GROUPS> static __device__ __forceinline__ void wait_for_copies()
{
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
#endif
  __syncwarp();
}

/* Rows of N numbers, for the states of one warp, into a tile in which they lie PITCH numbers apart. */
template <int N, int PITCH>
static __device__ __forceinline__ void take(const real *rows, long long stride, int states, int lane, real *tile)
{
  if (PITCH == N && stride == N && states == 32 && (unsigned long long)rows % 16 == 0) {
    for (int i = lane; i < 2 * N * (int)sizeof(real); i += 32) copy_ahead((float4 *)tile + i, (const float4 *)rows + i);
  } else {
#pragma unroll 4
    for (int i = lane; i < states * N; i += 32) tile[i / N * PITCH + i % N] = rows[i / N * stride + i % N];
  }
}

/* The same back into rows that lie `stride` numbers apart. */
template <int N, int PITCH>
static __device__ __forceinline__ void give(const real *tile, int states, int lane, long long stride, real *rows)
{
  if (PITCH == N && stride == N && states == 32 && (unsigned long long)rows % 16 == 0) {
    for (int i = lane; i < 2 * N * (int)sizeof(real); i += 32) ((float4 *)rows)[i] = ((const float4 *)tile)[i];
  } else {
#pragma unroll 4
    for (int i = lane; i < states * N; i += 32) rows[i / N * stride + i % N] = tile[i / N * PITCH + i % N];
  }
}
"""


class Layout(NamedTuple):
    """Shared memory of a kernel: warps in a block, and for each argument whether its rows go through tiles."""

    warps: int
    has_tile: tuple[bool, ...]
    parts: tuple[tuple[int, int], ...]
    """The first entry of the result and the one after the last, for each part."""

    @property
    def threads(self) -> int:
        """Threads of one block, each with a state at a time."""
        return WARP * self.warps


def layout_of(tape: Tape, bits: int) -> Layout:
    """The layout of a kernel."""
    row = WARP * bits // 8
    limit = MAX_TILE_BYTES // row
    count = max(1, -(-len(tape.outputs) // limit))
    step = -(-len(tape.outputs) // count)
    step = max(1, step if count == 1 else -(-step // 8) * 8)  # parts of rows that begin at whole sectors of memory
    parts = tuple((i, min(i + step, len(tape.outputs))) for i in range(0, max(1, len(tape.outputs)), step))
    used = row * pitch(parts[0][1] - parts[0][0])
    has_tile = []
    for n in tape.inputs:
        needed = 2 * row * pitch(n)
        has_tile.append(used + needed <= MAX_SHARED_BYTES)
        used += needed if has_tile[-1] else 0
    return Layout(max(1, min(MAX_WARPS, MAX_SHARED_BYTES // max(1, used))), tuple(has_tile), parts)


def pitch(length: int) -> int:
    """The distance of rows in a tile: threads that read the same entry of their rows then find it in other banks."""
    return length if length % 4 else length + 1


def prelude(bits: int) -> str:
    """The type of numbers, and the moves of rows."""
    return f"{NUMBERS}typedef {REALS[bits].name} real;\n{_sine_and_cosine(bits)}{MOVES}\n"


def _sine_and_cosine(bits: int) -> str:
    """Functions for the sine and the cosine of an angle that is not large, and of any angle.

    Of doubles by the method of `emit.elementary`. Of floats, whose arithmetic costs no more than that of integers, by a
    reduction to half a turn, after which only a sign remains to be set. Neither converts to integers, which is slow.
    """
    real = REALS[bits]
    limit = number(MAX_REDUCED_ANGLE_SINGLE if bits == 32 else MAX_REDUCED_ANGLE, real)
    return f"""{SINCOS_SINGLE if bits == 32 else SINCOS_DOUBLE}
static __device__ __forceinline__ int is_near(real x)
{{
  return fabs{real.suffix}(x) <= {limit};
}}

/* The angle within half a turn; not a number where it is not finite. */
static __device__ __noinline__ real near_angle(real x)
{{
  real s, c;
  sincos{real.suffix}(x, &s, &c);
  return is_near(x) ? x : atan2{real.suffix}(s, c);
}}

static __device__ __forceinline__ void sine_and_cosine(real x, real *sine, real *cosine)
{{
  near_sine_and_cosine(is_near(x) ? x : near_angle(x), sine, cosine);
}}
"""


def device_function(name: str, tape: Tape, bits: int) -> str:
    """A function of pointers to the numbers of one state: `name(x0, x1, .., out)`."""
    real = REALS[bits]
    arguments = "".join(f"const real *__restrict__ x{i}, " for i in range(len(tape.inputs)))
    head = f"static __device__ __forceinline__ void {name}({arguments}real *__restrict__ out)\n"
    written = with_shared_reciprocals(tape)
    angles = _angles(written)
    names = {value: f"angle{k}" for k, value in enumerate(angles)}
    body = statements(written, real, outputs_last=False, angles=NearAngles(names, "near_sine_and_cosine"))
    return f"{head}{{\n{_near(written, names)}{body}}}\n\n"


def _angles(tape: Tape) -> list[Value]:
    """The entries of arguments that have a sine and a cosine."""
    operands = dict.fromkeys(tape.instructions[k].operands[0] for k in sines_and_cosines(tape))
    return [value for value in operands if tape.instructions[value].operation == "input"]


def _near(tape: Tape, names: Mapping[Value, str]) -> str:
    """Statements that set the variables of angles, with one question for all of them whether any is large."""
    if not names:
        return ""
    entries = {name: tape.instructions[value] for value, name in names.items()}
    lines = [f"  real {name} = x{i.argument}[{i.entry}];\n" for name, i in entries.items()]
    lines.append(f"  if (!({' & '.join(f'is_near({name})' for name in entries)})) {{\n")
    lines += [f"    {name} = near_angle({name});\n" for name in entries]
    return "".join([*lines, "  }\n"])


def batch_kernel(name: str, tape: Tape, bits: int) -> str:
    """The kernel `name(count, x0, stride0, x1, stride1, .., out)` of a function, and the functions of its parts.

    x<i> are rows of numbers that lie stride<i> numbers apart, which is 0 for one row that all states share. Launch it
    with blocks of `layout.threads` threads, as (blocks, parts). Each warp goes on to further states until there are no
    more, so that any number of blocks computes all; it copies the arguments of the next ones while it computes.
    """
    layout = layout_of(tape, bits)
    functions, cases = [], []
    for k, (first, last) in enumerate(layout.parts):
        own = part(tape, tape.outputs[first:last]) if len(layout.parts) > 1 else tape
        functions.append(device_function(f"{name}_part{k}", own, bits))
        cases.append(_case(f"{name}_part{k}", own, (first, len(tape.outputs))))
    return "".join(functions) + _kernel(name, tape, layout, cases)


def _kernel(name: str, tape: Tape, layout: Layout, cases: Sequence[str]) -> str:
    arguments = "".join(f"const real *x{i}, long long stride{i}, " for i in range(len(tape.inputs)))
    takes, rows, size = [], [], 0
    for i, n in enumerate(tape.inputs):
        if layout.has_tile[i] and n:
            place = f"tile + {size} * 2 + turn * {WARP * pitch(n)}"
            takes.append(f"take<{n}, {pitch(n)}>(x{i} + first * stride{i}, stride{i}, states, lane, {place});")
            rows.append(f"    const real *const row{i} = {place} + lane * {pitch(n)};\n")
            size += WARP * pitch(n)
        else:
            rows.append(f"    const real *const row{i} = x{i} + (first + (lane < states ? lane : 0)) * stride{i};\n")
    result = 2 * size
    size = result + WARP * pitch(max(last - first for first, last in layout.parts))
    chosen = cases[0] if len(cases) == 1 else _switch(cases)
    head = (
        f'extern "C" __global__ void __launch_bounds__({layout.threads}) {name}(long long count, {arguments}real *out)'
    )
    return f"""{head}
{{
  __shared__ __align__(16) real tiles[{layout.warps}][{size}];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  real *const tile = tiles[warp];
  real *const result = tile + {result};
  const auto fetch = [&](long long first, int turn) {{
    const int states = count - first < 32 ? (int)(count - first) : 32;
{"".join(f"    {take}{chr(10)}" for take in takes)}    (void)states;
    end_copies();
  }};
  const long long step = (long long)gridDim.x * {layout.threads};
  long long first = ((long long)blockIdx.x * {layout.warps} + warp) * 32;
  if (first >= count) return;
  fetch(first, 0);
  for (int turn = 0; first < count; first += step, turn ^= 1) {{
    const int states = count - first < 32 ? (int)(count - first) : 32;
    if (first + step < count) {{
      fetch(first + step, turn ^ 1);
      wait_for_copies<1>();
    }} else {{
      wait_for_copies<0>();
    }}
{"".join(rows)}{chosen}    __syncwarp();
  }}
}}

"""


def _switch(cases: Sequence[str]) -> str:
    texts = [f"    case {k}: {{\n{case}    }} break;\n" for k, case in enumerate(cases)]
    return f"    switch (blockIdx.y) {{\n{''.join(texts)}    }}\n"


def _case(function: str, tape: Tape, place: tuple[int, int]) -> str:
    """The call of one part, and its result written; `place` is its first entry, and the length of the whole row."""
    n = len(tape.outputs)
    first, whole = place
    rows = "".join(f"row{i}, " for i in range(len(tape.inputs)))
    at = f"out + first * {whole}" + (f" + {first}" if first else "")
    return (
        f"    {function}({rows}result + lane * {pitch(n)});\n    __syncwarp();\n"
        f"    give<{n}, {pitch(n)}>(result, states, lane, {whole}, {at});\n"
    )
