"""CUDA C of the loop backward in time that carries the gradient of a number from the end of a motion to its start.

One thread a row, as in `cuda.scan_codegen`. The states of all steps are stored; each thread goes through those of its
row from the last to the first, with the gradient with respect to the state in registers. Gradients with respect to
parameters are summed in shared memory.
"""

from __future__ import annotations

from chainrule.compile.cuda.codegen import MAX_SHARED_BYTES, WARP, device_function, pitch, prelude
from chainrule.compile.cuda.scan_codegen import bits_of_reals, parameter_arguments, place_in_batch, read_parameters
from chainrule.compile.subtape import subtape
from chainrule.compile.tape import Tape

MAX_WARPS = 2
"""Warps in a block: their registers are many, and blocks of few warps fill a multiprocessor better."""


def adjoint_warps(parameters: int, state: int, bits: int) -> int:
    """Warps in a block whose sums fit into shared memory; 0 where those of a single one do not."""
    return min(MAX_WARPS, MAX_SHARED_BYTES // (_tile(parameters, state) * bits // 8))


def _tile(parameters: int, state: int) -> int:
    return WARP * (pitch(max(parameters, 1)) + pitch(state))


def adjoint_kernel(tape: Tape, sizes: tuple[int, int, int, int], bits: int, shared: bool) -> str:
    """The text of the kernel `adjoint`, from the tape of the gradient of one step.

    The tape takes (parameters, state, signals of three stages, gradient by the state after the step) and gives the
    gradients by the first three, one after the other. `sizes` are those of parameters, state, and of q and v in it.
    `adjoint(rows, steps, states, dq, dqd, signals, signals_stride, by_start, by_parameters, by_signals, parameters..)`:
    states (rows, steps + 1, state), weights dq and dqd (rows, steps + 1, n) or null, and the three results (rows, ..),
    of which by_signals (rows, steps, signals) may be null. Parameters are as in `time_loop_kernel`.
    """
    count, state, nq, nv = sizes
    signals = tape.inputs[2]
    warps = adjoint_warps(count, state, bits)
    parts = {"p": (0, count), "x": (count, count + state), "s": (count + state, count + state + signals)}
    functions = "".join(
        device_function(f"by_{name}", subtape(tape, tape.outputs[first:last]), bits)
        for name, (first, last) in parts.items()
        if last > first
    )
    call = "by_{0}(p, x, s, a, {1});"
    return f"""{prelude(bits)}{bits_of_reals()}{functions}
static __device__ __forceinline__ void weigh(const real *dq, const real *dqd, real *a)
{{
  if (dq) {{
#pragma unroll
    for (int i = 0; i < {nq}; ++i) a[i] += dq[i];
  }}
  if (dqd) {{
#pragma unroll
    for (int i = 0; i < {nv}; ++i) a[{nq} + i] += dqd[i];
  }}
}}

extern "C" __global__ void __launch_bounds__({WARP * warps}) adjoint(
  long long rows, long long steps, const real *states_of_steps, const real *dq, const real *dqd, const real *signals,
  long long signals_stride, real *by_start, real *by_parameters, real *by_signals, {parameter_arguments(count, shared)})
{{
  __shared__ __align__(16) real tiles[{warps}][{_tile(count, state)}];
{place_in_batch()}{read_parameters(count, shared)}
  real *const sums = tile + {WARP * pitch(state)} + lane * {pitch(max(count, 1))};
  const long long width = (steps + 1) * {state};
  real a[{state}];
#pragma unroll
  for (int i = 0; i < {state}; ++i) a[i] = 0;
#pragma unroll
  for (int i = 0; i < {count}; ++i) sums[i] = 0;
  const long long weights = row * (steps + 1);
  weigh(dq ? dq + (weights + steps) * {nq} : dq, dqd ? dqd + (weights + steps) * {nv} : dqd, a);
  for (long long k = steps - 1; k >= 0; --k) {{
    __syncwarp();
    take<{state}, {pitch(state)}>(states_of_steps + first * width + k * {state}, width, states, lane, tile);
    __syncwarp();
    const real *const x = tile + lane * {pitch(state)};
    const real *const s = signals + row * signals_stride + k * {signals};
    real before[{state}];
{_gradient_by_parameters(call, count)}{_gradient_by_signals(call, signals)}    {call.format("x", "before")}
    weigh(dq ? dq + (weights + k) * {nq} : dq, dqd ? dqd + (weights + k) * {nv} : dqd, before);
#pragma unroll
    for (int i = 0; i < {state}; ++i) a[i] = before[i];
  }}
  if (lane < states) {{
#pragma unroll
    for (int i = 0; i < {state}; ++i) by_start[row * {state} + i] = a[i];
    for (int i = 0; i < {count}; ++i) by_parameters[row * {count} + i] = sums[i];
  }}
}}
"""


def _gradient_by_parameters(call: str, count: int) -> str:
    if not count:
        return ""
    return f"""    real by_numbers[{count}];
    {call.format("p", "by_numbers")}
#pragma unroll
    for (int i = 0; i < {count}; ++i) sums[i] += by_numbers[i];
"""


def _gradient_by_signals(call: str, signals: int) -> str:
    if not signals:
        return ""
    return f"""    if (by_signals) {{
      real by_stages[{signals}];
      {call.format("s", "by_stages")}
      if (lane < states) {{
        for (int i = 0; i < {signals}; ++i) by_signals[(row * steps + k) * {signals} + i] = by_stages[i];
      }}
    }}
"""
