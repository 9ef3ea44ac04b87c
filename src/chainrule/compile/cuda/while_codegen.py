"""The loop of a tape over a batch whose rows end at different times, as a CUDA kernel.

Each thread takes a row, repeats the tape on it until it has ended, and takes the next row that waits, by a counter
that all threads share: no thread runs idle for long as long as rows are left. A row that has failed begins again from
another start, before any other row is taken. The starts of a row are chosen before, by another kernel: of several sets
of candidates, the nearest of each.
"""

from __future__ import annotations

from typing import NamedTuple

from chainrule.compile.cuda.codegen import device_function
from chainrule.compile.tape import Tape

THREADS = 128
"""Threads of a block, in both kernels."""
QUAD = 4
"""Numbers that are read from shared memory at once."""


class WhileShape(NamedTuple):
    """Numbers of a row: those that all rows share, its own, its state, and those of a start, which begin the state.

    After the start the state has the cost, by which the states of several starts are compared, and the number of
    repetitions, which goes on counting from start to start. The last number is positive once the row has ended, and
    more than one once it has failed.
    """

    shared: int
    own: int
    state: int
    start: int

    @property
    def result(self) -> int:
        """Numbers in the result of a row: the best state's start, cost and repetitions, and how the row has ended."""
        return self.start + 3


NOT_FINITE = 3
"""How a row has ended whose own numbers are not finite."""


def while_kernel(name: str, tape: Tape, start: int, bits: int) -> str:
    """The kernel `name(count, order, shared, own, tries, chosen, starts, blank, counters, result, failed)`.

    Launch it with as many blocks of THREADS threads as the device runs at once, or more.

    count
        Rows to work on: those that `order` lists, or the first ones where it is null.
    shared, own
        Numbers of all rows, and of each.
    tries, chosen, starts
        Starts of each listed row, as places in the array of all of them, in the order of their use.
    blank
        The state before the first repetition, but for the start.
    counters
        Rows taken, and rows that have failed; both 0 before.
    result
        As in `WhileShape.result`, to be improved: a row that has not been tried has a cost that is infinite.
    failed
        Room for the numbers of the rows that have failed, in no order.
    """
    shared, own, state = tape.inputs
    shape = WhileShape(shared, own, state, start)
    cost, spent, last = start, start + 1, state - 1
    return (
        device_function(f"{name}_step", tape, bits)
        + f"""extern "C" __global__ void __launch_bounds__({THREADS}) {name}(long long count, const long long *order,
    const real *shared, const real *own, long long tries, const int *chosen, const real *starts, const real *blank,
    unsigned long long *counters, real *result, long long *failures)
{{
  __shared__ real common[{max(1, shared)}], fresh[{state}];
  for (int i = threadIdx.x; i < {shared}; i += {THREADS}) common[i] = shared[i];
  for (int i = threadIdx.x; i < {state}; i += {THREADS}) fresh[i] = blank[i];
  __syncthreads();
  long long job = 0, row = 0, attempt = 0;
  real numbers[{max(1, own)}], state[{state}], next[{state}];
  bool takes = true;
  for (;;) {{
    if (takes) {{
      job = (long long)atomicAdd(counters, 1ULL);
      if (job >= count) break;
      row = order ? order[job] : job;
      real sum = 0;
      for (int i = 0; i < {own}; ++i) {{
        numbers[i] = own[row * {own} + i];
        sum += numbers[i] - numbers[i];
      }}
      if (!(sum == 0)) {{
        result[row * {shape.result} + {shape.result - 1}] = {NOT_FINITE};
        continue;
      }}
      attempt = 0;
      for (int i = 0; i < {state}; ++i) state[i] = fresh[i];
      const real *start = starts + (long long)chosen[job * tries] * {start};
      for (int i = 0; i < {start}; ++i) state[i] = start[i];
      takes = false;
    }}
    {name}_step(common, numbers, state, next);
    for (int i = 0; i < {state}; ++i) state[i] = next[i];
    if (state[{last}] > 0) {{
      real *best = result + row * {shape.result};
      const bool failed = state[{last}] > 1;
      if (!failed || state[{cost}] < best[{cost}]) {{
        for (int i = 0; i <= {cost}; ++i) best[i] = state[i];
      }}
      const real repetitions = state[{spent}];
      takes = !failed || ++attempt == tries;
      if (takes) {{
        best[{spent}] += repetitions;
        best[{spent + 1}] = state[{last}];
        if (failed) failures[atomicAdd(counters + 1, 1ULL)] = row;
      }} else {{
        for (int i = 0; i < {state}; ++i) state[i] = fresh[i];
        const real *start = starts + (long long)chosen[job * tries + attempt] * {start};
        for (int i = 0; i < {start}; ++i) state[i] = start[i];
        state[{spent}] = repetitions;
      }}
    }}
  }}
}}

"""
    )


def nearest_kernel(name: str, own: int, count: int, candidates: int) -> str:
    """The kernel `name(rows, order, own, sets, features, chosen)`: of each set, the candidate nearest to a row.

    Launch it with a thread for each row. The distance of a candidate is the product of its features (`feature_pitch`
    numbers) and the first `count` of a row's `own` numbers, followed by a one. `chosen` has `sets` places for each row.
    """
    pitch = feature_pitch(count)
    names = ("a", "b", "c", "d")
    terms = [f"f{i // QUAD}.{names[i % QUAD]} * {f'x[{i}]' if i < count else '1'}" for i in range(count + 1)]
    loads = "".join(f"        const Four f{j} = tile[c * {pitch // QUAD} + {j}];\n" for j in range(pitch // QUAD))
    return f"""struct __align__(16) Four {{ real a, b, c, d; }};

extern "C" __global__ void __launch_bounds__({THREADS}) {name}(long long rows, const long long *order, const real *own,
    long long sets, const Four *features, int *chosen)
{{
  __shared__ Four tile[{candidates * pitch // QUAD}];
  const long long job = (long long)blockIdx.x * {THREADS} + threadIdx.x;
  real x[{count}];
  if (job < rows) {{
    const long long row = order ? order[job] : job;
    for (int i = 0; i < {count}; ++i) x[i] = own[row * {own} + i];
  }}
  for (long long k = 0; k < sets; ++k) {{
    __syncthreads();
    for (int i = threadIdx.x; i < {candidates * pitch // QUAD}; i += {THREADS})
      tile[i] = features[k * {candidates * pitch // QUAD} + i];
    __syncthreads();
    if (job < rows) {{
      real least = 0;
      int best = 0;
      for (int c = 0; c < {candidates}; ++c) {{
{loads}        const real distance = {" + ".join(terms)};
        if (c == 0 || distance < least) {{
          least = distance;
          best = c;
        }}
      }}
      chosen[job * sets + k] = (int)k * {candidates} + best;
    }}
  }}
}}

"""


def feature_pitch(count: int) -> int:
    """Numbers from one candidate's features to the next one's: those of the product, and zeros."""
    return -(-(count + 1) // QUAD) * QUAD
