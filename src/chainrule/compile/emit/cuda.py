"""CUDA C from tapes: a kernel that computes a function for each state of a batch, one thread a state.

The numbers of a state lie one after the other in memory. So that neighboring threads read and write neighboring
numbers, the threads of a warp move the rows of their 32 states together, through tiles of shared memory, where each
thread then finds its own row. A result with many numbers is computed in parts, each with a tile that fits.

No name from a model reaches the code, but in comments, as in `emit.c`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chainrule.compile.emit.c_arithmetic import Real, statements
from chainrule.compile.parts import part
from chainrule.compile.tape import Tape, with_shared_reciprocals

WARP = 32
"""Threads that go in step."""

REALS = {32: Real("float", "f", has_sincos=True), 64: Real("double", "", has_sincos=True)}

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

MOVES = """
/* Rows of N numbers, for the states of one warp, into a tile in which they lie PITCH numbers apart. */
template <int N, int PITCH>
static __device__ __forceinline__ void take(const real *rows, long long stride, int states, int lane, real *tile)
{
  const int wide = 16 / sizeof(real);
  if (PITCH == N && stride == N && states == 32 && (unsigned long long)rows % 16 == 0) {
    const float4 *from = (const float4 *)rows;
    for (int i = lane; i < 32 * N / wide; i += 32) ((float4 *)tile)[i] = from[i];
  } else {
    for (int i = lane; i < states * N; i += 32) tile[i / N * PITCH + i % N] = rows[i / N * stride + i % N];
  }
}

/* The same back into rows that lie `stride` numbers apart. */
template <int N, int PITCH>
static __device__ __forceinline__ void give(const real *tile, int states, int lane, long long stride, real *rows)
{
  const int wide = 16 / sizeof(real);
  if (PITCH == N && stride == N && states == 32 && (unsigned long long)rows % 16 == 0) {
    float4 *to = (float4 *)rows;
    for (int i = lane; i < 32 * N / wide; i += 32) to[i] = ((const float4 *)tile)[i];
  } else {
    for (int i = lane; i < states * N; i += 32) rows[i / N * stride + i % N] = tile[i / N * PITCH + i % N];
  }
}
"""


class Layout(NamedTuple):
    """Shared memory of a kernel: warps in a block, and for each argument whether its rows go through a tile."""

    warps: int
    has_tile: tuple[bool, ...]
    parts: tuple[tuple[int, int], ...]
    """The first entry of the result and the one after the last, for each part."""

    @property
    def states(self) -> int:
        """States of one block."""
        return WARP * self.warps


def layout_of(tape: Tape, bits: int) -> Layout:
    """The layout of a kernel."""
    size = bits // 8
    limit = MAX_TILE_BYTES // (WARP * size)
    count = max(1, -(-len(tape.outputs) // limit))
    step = -(-len(tape.outputs) // count)
    step = step if count == 1 else -(-step // 8) * 8  # parts of rows that begin at whole sectors of memory
    parts = tuple((i, min(i + step, len(tape.outputs))) for i in range(0, max(1, len(tape.outputs)), max(1, step)))
    left = MAX_SHARED_BYTES - WARP * size * pitch(parts[0][1] - parts[0][0])
    has_tile = []
    used = MAX_SHARED_BYTES - left
    for n in tape.inputs:
        needed = WARP * size * pitch(n)
        has_tile.append(used + needed <= MAX_SHARED_BYTES)
        used += needed if has_tile[-1] else 0
    return Layout(max(1, min(MAX_WARPS, MAX_SHARED_BYTES // max(1, used))), tuple(has_tile), parts)


def pitch(length: int) -> int:
    """The distance of rows in a tile: threads that read the same entry of their rows then find it in other banks."""
    return length if length % 4 else length + 1


def prelude(bits: int) -> str:
    """The type of numbers, and the moves of rows."""
    return f"{NUMBERS}typedef {REALS[bits].name} real;\n{MOVES}\n"


def device_function(name: str, tape: Tape, bits: int) -> str:
    """A function of pointers to the numbers of one state: `name(x0, x1, .., out)`."""
    arguments = "".join(f"const real *__restrict__ x{i}, " for i in range(len(tape.inputs)))
    head = f"static __device__ __forceinline__ void {name}({arguments}real *__restrict__ out)\n"
    return head + "{\n" + statements(with_shared_reciprocals(tape), REALS[bits], outputs_last=False) + "}\n\n"


def batch_kernel(name: str, tape: Tape, bits: int) -> str:
    """The kernel `name(count, x0, stride0, x1, stride1, .., out)` of a function, and the functions of its parts.

    x<i> are rows of numbers that lie stride<i> numbers apart, which is 0 for one row that all states share. Launch it
    with blocks of `layout.states` threads, enough of them for the states, as (blocks, parts).
    """
    layout = layout_of(tape, bits)
    functions, cases = [], []
    for k, (first, last) in enumerate(layout.parts):
        own = part(tape, tape.outputs[first:last]) if len(layout.parts) > 1 else tape
        functions.append(device_function(f"{name}_part{k}", own, bits))
        cases.append(_case(f"{name}_part{k}", own, layout, (first, len(tape.outputs))))
    return "".join(functions) + _kernel(name, tape, layout, cases)


def _kernel(name: str, tape: Tape, layout: Layout, cases: Sequence[str]) -> str:
    rows = "".join(f"const real *x{i}, long long stride{i}, " for i in range(len(tape.inputs)))
    takes, size = [], 0
    for i, n in enumerate(tape.inputs):
        if layout.has_tile[i] and n:
            takes.append(
                f"  take<{n}, {pitch(n)}>(x{i} + first * stride{i}, stride{i}, states, lane, tile + {size});\n"
                f"  const real *const row{i} = tile + {size} + lane * {pitch(n)};\n"
            )
            size += WARP * pitch(n)
        else:
            takes.append(f"  const real *const row{i} = x{i} + (first + (lane < states ? lane : 0)) * stride{i};\n")
    result = size
    size += WARP * pitch(max(last - first for first, last in layout.parts))
    chosen = cases[0] if len(cases) == 1 else _switch(cases)
    return f"""extern "C" __global__ void __launch_bounds__({layout.states}) {name}(long long count, {rows}real *out)
{{
  __shared__ __align__(16) real tiles[{layout.warps}][{size}];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long first = ((long long)blockIdx.x * {layout.warps} + warp) * 32;
  if (first >= count) return;
  const int states = count - first < 32 ? (int)(count - first) : 32;
  real *const tile = tiles[warp];
  real *const result = tile + {result};
{"".join(takes)}  __syncwarp();
{chosen}}}

"""


def _switch(cases: Sequence[str]) -> str:
    texts = [f"    case {k}: {{\n{case}    }} break;\n" for k, case in enumerate(cases)]
    return f"  switch (blockIdx.y) {{\n{''.join(texts)}  }}\n"


def _case(function: str, tape: Tape, layout: Layout, place: tuple[int, int]) -> str:
    """The call of one part, and its result written; `place` is its first entry, and the length of the whole row."""
    n = len(tape.outputs)
    first, whole = place
    rows = "".join(f"row{i}, " for i in range(len(tape.inputs)))
    at = f"out + first * {whole}" + (f" + {first}" if first else "")
    return (
        f"  {function}({rows}result + lane * {pitch(n)});\n  __syncwarp();\n"
        f"  give<{n}, {pitch(n)}>(result, states, lane, {whole}, {at});\n"
    )
