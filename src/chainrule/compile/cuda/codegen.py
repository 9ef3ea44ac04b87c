"""CUDA C from tapes: a kernel that computes a function for each state of a batch, one thread a state.

The numbers of a state lie one after the other in memory. So that neighboring threads read and write neighboring
numbers, the threads of a warp move the rows of their 32 states together, through tiles of shared memory, where each
thread then finds its own row. A result with many numbers is computed in parts, each with a tile that fits.

No name from a model reaches the code, but in comments, as in `codegen.c`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from chainrule.compile.codegen.c_expressions import NearAngles, Real, number, sines_and_cosines, statements
from chainrule.compile.codegen.elementary import (
    HALF_PI,
    HALF_PI_SINGLE,
    MAX_REDUCED_ANGLE,
    MAX_REDUCED_ANGLE_SINGLE,
)
from chainrule.compile.liveness import Spill, register_pressure, spills
from chainrule.compile.portable import COSINE, SINE
from chainrule.compile.subtape import subtape
from chainrule.compile.tape import Tape, Value, with_shared_reciprocals

WARP = 32
"""Threads that go in step."""

REALS = {
    32: Real("float", "f", "sine_and_cosine", "reciprocal"),
    64: Real("double", "", "sine_and_cosine"),
}

MAX_TILE_BYTES = 40 * 1024
"""Shared memory for the rows of a warp's result; a larger result is computed in parts."""
MAX_SHARED_BYTES = 47 * 1024
"""Shared memory that a block may take without asking for more."""
MAX_WARPS = 4
"""Warps in a block, for a tape of less than MAX_SMALL_TAPE instructions.

A longer one needs so many registers that few warps find room: one warp in a block leaves none of it empty.
"""
MAX_SMALL_TAPE = 700
REGISTERS = {32: 220, 64: 95}
"""Values of a tape that find room in registers, of which a thread has 255 of 32 bits."""
MOST_WAITING = {32: 400, 64: 150}
"""Values that wait for their use beyond which some are kept in shared memory: the compiler itself can do with less."""
MIN_WIDE_BYTES = 150
MAX_WIDE_INSTRUCTIONS = 4
"""Bytes of a state, and instructions for each byte, of functions for which memory alone sets the speed."""

BEGINNING = """#define INLINE static __device__ __forceinline__ __attribute__((unused))
#define APART static __device__ __noinline__ __attribute__((unused))
#define KEEP(slot) keep[32 * (slot)]
#ifndef NAN
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#endif
"""
"""A word for small functions, and numbers that are not finite: the run-time compiler knows no names for them."""


def _polynomial(coefficients: Sequence[float], real: Real) -> str:
    """The polynomial in z with these coefficients, the constant first."""
    text = number(coefficients[-1], real)
    for c in reversed(coefficients[:-1]):
        text = f"fma{real.suffix}({text}, z, {number(c, real)})"
    return text


def _reduction(parts: Sequence[float], real: Real) -> str:
    """The remainder after k times a number that is given in parts."""
    return "".join(f"  r = fma{real.suffix}(k, {number(-subtape, real)}, r);\n" for subtape in parts)


SINE_OF_HALF_TURN = (-0.16666656732559204, 0.008333017118275166, -0.00019806601630989462, 2.600024345156271e-06)
COSINE_OF_HALF_TURN = (-0.5, 0.04166664183139801, -0.00138884037733078, 2.476187000866048e-05, -2.607681608424173e-07)
"""sin(r) = r + r z p(z) and cos(r) = 1 + z p(z), with z = r^2, for r within a quarter turn; off by less than 5e-9."""

RECIPROCAL = """
/* The device's estimate, and a step of Newton's method, which fails where the estimate is exact: at 0 and infinity. */
INLINE real reciprocal(real x)
{
#ifdef __CUDA_ARCH__
  real estimate;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(estimate) : "f"(x));
#else
  const real estimate = 1.0f / x;
#endif
  const real y = fmaf(fmaf(-x, estimate, 1.0f), estimate, estimate);
  return y == y ? y : estimate;
}
"""

SINCOS_SINGLE = f"""
INLINE void near_sine_and_cosine(real x, real *sine, real *cosine)
{{
  const real shifted = fmaf(x, {number(1 / math.pi, REALS[32])}, 12582912.0f); /* whole in its last bits */
  const real k = shifted - 12582912.0f;
  real r = x;
{_reduction([2 * subtape for subtape in HALF_PI_SINGLE], REALS[32])}  const real z = r * r;
  const real s = fmaf(r * z, {_polynomial(SINE_OF_HALF_TURN, REALS[32])}, r);
  const real c = fmaf(z, {_polynomial(COSINE_OF_HALF_TURN, REALS[32])}, 1.0f);
  const int sign = __float_as_int(shifted) << 31;
  *sine = __int_as_float(__float_as_int(s) ^ sign);
  *cosine = __int_as_float(__float_as_int(c) ^ sign);
}}
"""

SINCOS_DOUBLE = f"""
INLINE void near_sine_and_cosine(real x, real *sine, real *cosine)
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
/* A place in shared memory that counts the bytes of copies under way; `turn` is 0 or 1, for every second use. */
struct Arrival {
  unsigned long long count;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define COPIES_ALONE 1 /* the device copies whole pieces of memory by itself */
#endif

INLINE void prepare(Arrival *arrival)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
#endif
}

/* One thread: so many bytes will come. */
INLINE void expect(Arrival *arrival, int bytes)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
#endif
}

INLINE void wait_for(Arrival *arrival, int turn)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }"
               ::"r"(at), "r"(turn) : "memory");
#endif
}

/* Adjacent bytes into shared memory, a multiple of 16: by one thread, or by all of a warp where the device cannot. */
INLINE void copy_in(void *tile, const void *from, int bytes, int lane, Arrival *arrival)
{
#ifdef COPIES_ALONE
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile), at = (unsigned)__cvta_generic_to_shared(arrival);
  if (lane == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(at)
                 : "memory");
#else
  for (int i = lane; i < bytes / 16; i += 32) ((float4 *)tile)[i] = ((const float4 *)from)[i];
#endif
}

/* The same out of shared memory; `finish_copies_out` before the tile is written again. */
INLINE void copy_out(void *to, const void *tile, int bytes, int lane)
{
#ifdef COPIES_ALONE
  const unsigned from = (unsigned)__cvta_generic_to_shared(tile);
  if (lane == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(from), "r"(bytes)
                 : "memory");
#else
  for (int i = lane; i < bytes / 16; i += 32) ((float4 *)to)[i] = ((const float4 *)tile)[i];
#endif
}

INLINE void finish_copies_out(int lane)
{
#ifdef COPIES_ALONE
  if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* All threads of a warp see what each has written to shared memory, and so do copies. */
INLINE void meet()
{
#ifdef COPIES_ALONE
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncwarp();
}

/* Rows of N numbers that lie anyhow, for the states of a warp, into a tile in which they lie PITCH numbers apart. */
template <int N, int PITCH>
INLINE void take(const real *rows, long long stride, int states, int lane, real *tile)
{
#pragma unroll 4
  for (int i = lane; i < states * N; i += 32) tile[i / N * PITCH + i % N] = rows[i / N * stride + i % N];
}

/* The same back into rows that lie `stride` numbers apart. */
template <int N, int PITCH>
INLINE void give(const real *tile, int states, int lane, long long stride, real *rows)
{
#pragma unroll 4
  for (int i = lane; i < states * N; i += 32) rows[i / N * stride + i % N] = tile[i / N * PITCH + i % N];
}
"""


class SharedMemory(NamedTuple):
    """Shared memory of a kernel: warps in a block, and for each argument whether its rows go through tiles."""

    bits: int
    warps: int
    has_tile: tuple[bool, ...]
    parts: tuple[tuple[int, int], ...]
    """The first entry of the result and the one after the last, for each part."""

    is_wide: bool
    """Whether it moves many bytes for little arithmetic."""
    slots: int
    """Values of a thread that may be kept in shared memory."""

    @property
    def blocks(self) -> int:
        """Blocks for each multiprocessor beyond which states are computed in turns, as measured."""
        return 1024 if self.is_wide else 128

    @property
    def threads(self) -> int:
        """Threads of one block, each with a state at a time."""
        return WARP * self.warps


def shared_memory_of(tape: Tape, bits: int) -> SharedMemory:
    """The layout of a kernel: of the tape as it is written, so that whoever launches it finds the same one."""
    tape = with_shared_reciprocals(tape)
    row = WARP * bits // 8
    limit = MAX_TILE_BYTES // row
    count = max(1, -(-len(tape.outputs) // limit))
    step = -(-len(tape.outputs) // count)
    step = max(1, step if count == 1 else -(-step // 8) * 8)  # parts of rows that begin at whole sectors of memory
    parts = tuple((i, min(i + step, len(tape.outputs))) for i in range(0, max(1, len(tape.outputs)), step))
    used = row * pitch(parts[0][1] - parts[0][0])
    waiting = register_pressure(tape)
    is_large = waiting > MOST_WAITING[bits]
    room = (MAX_SHARED_BYTES - used) // row
    slots = room if is_large and waiting - REGISTERS[bits] <= 2 * room else 0  # too few slots are worse than none
    has_tile = []
    for n in tape.inputs:
        needed = 2 * row * n
        has_tile.append(not is_large and used + needed <= MAX_SHARED_BYTES)
        used += needed if has_tile[-1] else 0
    moved = (sum(tape.inputs) + len(tape.outputs)) * bits // 8
    is_wide = moved >= MIN_WIDE_BYTES and len(tape.instructions) < MAX_WIDE_INSTRUCTIONS * moved
    most = MAX_WARPS if len(tape.instructions) < MAX_SMALL_TAPE else 1
    warps = max(1, min(most, MAX_SHARED_BYTES // max(1, used)))
    return SharedMemory(bits, warps, tuple(has_tile), parts, is_wide, slots)


def pitch(length: int) -> int:
    """The distance of rows in the tile of a result: threads that write the same entry of their rows use other banks.

    Tiles in which rows are adjacent are copied as a whole, so that this is given up only where few banks would be used.
    """
    return length if length % 8 else length + 1


def prelude(bits: int) -> str:
    """The type of numbers, and the moves of rows."""
    return f"{BEGINNING}typedef {REALS[bits].name} real;\n{_sine_and_cosine(bits)}{RECIPROCAL * (bits == 32)}{MOVES}\n"


def _sine_and_cosine(bits: int) -> str:
    """Functions for the sine and the cosine of an angle that is not large, and of any angle.

    Of doubles by the method of `codegen.elementary`. Of floats, whose arithmetic is as cheap as that of integers, by
    a reduction to half a turn, after which only a sign remains to be set. Neither converts to integers, which is slow.
    """
    real = REALS[bits]
    limit = number(MAX_REDUCED_ANGLE_SINGLE if bits == 32 else MAX_REDUCED_ANGLE, real)
    return f"""{SINCOS_SINGLE if bits == 32 else SINCOS_DOUBLE}
INLINE int is_near(real x)
{{
  return fabs{real.suffix}(x) <= {limit};
}}

/* The angle within half a turn; not a number where it is not finite. */
APART real near_angle(real x)
{{
  real s, c;
  sincos{real.suffix}(x, &s, &c);
  return is_near(x) ? x : atan2{real.suffix}(s, c);
}}

INLINE void sine_and_cosine(real x, real *sine, real *cosine)
{{
  near_sine_and_cosine(is_near(x) ? x : near_angle(x), sine, cosine);
}}
"""


def device_function(
    name: str, tape: Tape, bits: int, kept: Mapping[Value, Spill] | None = None, *, inlined: bool = True
) -> str:
    """A function of pointers to the numbers of one state: `name(x0, x1, .., out)`.

    It becomes part of whatever calls it, unless it is not to be inlined. Where values are kept in memory, that is one
    more argument, `keep`, in which slots lie a warp apart.
    """
    real, tape = REALS[bits], with_shared_reciprocals(tape)
    arguments = "".join(f"const real *__restrict__ x{i}, " for i in range(len(tape.inputs)))
    memory = ", volatile real *keep" if kept else ""
    head = f"{'INLINE' if inlined else 'APART'} void {name}({arguments}real *__restrict__ out{memory})\n"
    names = {value: f"angle{k}" for k, value in enumerate(_angles(tape))}
    near = NearAngles(names, "near_sine_and_cosine")
    body = statements(tape, real, outputs_last=False, angles=near, kept=kept)
    return f"{head}{{\n{_near(tape, names)}{body}}}\n\n"


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
    tape = with_shared_reciprocals(tape)
    layout = shared_memory_of(tape, bits)
    functions, cases, slots = [], [], 0
    for k, (first, last) in enumerate(layout.parts):
        own = subtape(tape, tape.outputs[first:last]) if len(layout.parts) > 1 else tape
        kept = spills(own, REGISTERS[bits], layout.slots) if layout.slots else {}
        slots = max([slots, *(place.slot + 1 for place in kept.values())])
        functions.append(device_function(f"{name}_part{k}", own, bits, kept))
        cases.append(_case(f"{name}_part{k}", own, (first, len(tape.outputs)), bits, has_memory=bool(kept)))
    return "".join(functions) + _kernel(name, tape, layout, cases, slots)


def _kernel(name: str, tape: Tape, layout: SharedMemory, cases: Sequence[str], slots: int) -> str:
    arguments = "".join(f"const real *x{i}, long long stride{i}, " for i in range(len(tape.inputs)))
    tiles = _tiles(tape, layout)
    size = tiles[-1].place + WARP * pitch(max(last - first for first, last in layout.parts))
    rows = "".join(f"    const real *const row{i} = {tiles[i].row};\n" for i in range(len(tape.inputs)))
    whole = " & ".join(["true", *(tile.is_whole for tile in tiles[:-1] if tile.is_whole)])
    chosen = cases[0] if len(cases) == 1 else _switch(cases)
    warp = "0" if layout.warps == 1 else "__shfl_sync(0xffffffff, threadIdx.x / 32, 0)"  # known as one for all lanes
    memory = f"  __shared__ real keep[{layout.warps}][{slots * WARP}];\n" if slots else ""
    head = (
        f'extern "C" __global__ void __launch_bounds__({layout.threads}) {name}(long long count, {arguments}real *out)'
    )
    return f"""{head}
{{
  __shared__ __align__(16) real tiles[{layout.warps}][{size}];
  __shared__ Arrival arrivals[{layout.warps}][2];
{memory}  const int warp = {warp}, lane = threadIdx.x % 32;
  const long long step = (long long)gridDim.x * {layout.threads};
  long long first = ((long long)blockIdx.x * {layout.warps} + warp) * 32;
  if (first >= count) return;
  real *const tile = tiles[warp], *const result = tile + {tiles[-1].place};
  Arrival *const arrival = arrivals[warp];
  const bool is_whole = {whole};
  const bool is_aligned = (unsigned long long)out % 16 == 0;
  if (lane == 0) {{
    prepare(arrival);
    prepare(arrival + 1);
  }}
  meet();
  const auto fetch = [&](long long first, int buffer) {{
    if (is_whole & (count - first >= 32)) {{
      if (lane == 0) expect(arrival + buffer, {sum(tile.bytes for tile in tiles[:-1])});
{"".join(tile.copy for tile in tiles[:-1])}    }} else {{
      const int states = count - first < 32 ? (int)(count - first) : 32;
      (void)states;
{"".join(tile.take for tile in tiles[:-1])}      meet();
      if (lane == 0) expect(arrival + buffer, 0);
    }}
  }};
  fetch(first, 0);
  for (int k = 0; first < count; first += step, ++k) {{
    const int buffer = k & 1, states = count - first < 32 ? (int)(count - first) : 32;
    if (first + step < count) fetch(first + step, buffer ^ 1);
    wait_for(arrival + buffer, k >> 1 & 1);
    finish_copies_out(lane);
    __syncwarp();
{rows}{chosen}    __syncwarp();
  }}
  finish_copies_out(lane);
}}

"""


class _InputTile(NamedTuple):
    """The tiles of an argument, one for each of two turns: where they begin, and the texts that fill and find them."""

    place: int
    row: str = ""
    is_whole: str = ""
    bytes: int = 0
    copy: str = ""
    take: str = ""


def _tiles(tape: Tape, layout: SharedMemory) -> list[_InputTile]:
    """The tiles of all arguments, in which rows are adjacent, and the place after them."""
    size = layout.bits // 8
    tiles, place = [], 0
    for i, n in enumerate(tape.inputs):
        if not n or not layout.has_tile[i]:
            tiles.append(_InputTile(place, f"x{i} + (first + (lane < states ? lane : 0)) * stride{i}"))
            continue
        at = f"tile + {place} + buffer * {WARP * n}"
        rows = f"x{i} + first * stride{i}"
        tiles.append(
            _InputTile(
                place,
                row=f"{at} + lane * {n}",
                is_whole=f"(stride{i} == {n}) & ((unsigned long long)x{i} % 16 == 0)",
                bytes=WARP * n * size,
                copy=f"      copy_in({at}, {rows}, {WARP * n * size}, lane, arrival + buffer);\n",
                take=f"      take<{n}, {n}>({rows}, stride{i}, states, lane, {at});\n",
            )
        )
        place += 2 * WARP * n
    return [*tiles, _InputTile(place)]


def _switch(cases: Sequence[str]) -> str:
    texts = [f"    case {k}: {{\n{case}    }} break;\n" for k, case in enumerate(cases)]
    return f"    switch (blockIdx.y) {{\n{''.join(texts)}    }}\n"


def _case(function: str, tape: Tape, place: tuple[int, int], bits: int, *, has_memory: bool) -> str:
    """The call of one part, and its result written; `place` is its first entry, and the length of the whole row."""
    n = len(tape.outputs)
    first, whole = place
    rows = "".join(f"row{i}, " for i in range(len(tape.inputs)))
    at = f"out + first * {whole}" + (f" + {first}" if first else "")
    memory = ", keep[warp] + lane" if has_memory else ""
    call = f"    {function}({rows}result + lane * {pitch(n)}{memory});\n    meet();\n"
    give = f"give<{n}, {pitch(n)}>(result, states, lane, {whole}, {at});\n"
    if n != whole or pitch(n) != n:
        return f"{call}    {give}"
    copy = f"copy_out({at}, result, {WARP * n * bits // 8}, lane);\n"
    return f"{call}    if (is_aligned & (states == 32))\n      {copy}    else\n      {give}"
