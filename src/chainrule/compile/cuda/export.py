"""CUDA in files: kernels with functions that launch them, their header, and a small program that tries them.

The source compiles with nvcc, or at run time (NVRTC, CuPy's RawModule), where it needs no header.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.compile.codegen.c import CONVENTIONS, MARK, comment, identifier
from chainrule.compile.cuda.codegen import REALS, batch_kernel, prelude, shared_memory_of
from chainrule.compile.tape import Tape

PROCESSORS = 128
"""Multiprocessors of a large device."""


def files(path: Path, tapes: Mapping[str, Tape], _about: Mapping[str, Any]) -> dict[Path, str]:
    """The source, its header, and a program that tries it, by their paths."""
    prefix, tapes = identifier(path.stem), {identifier(name): tape for name, tape in tapes.items()}
    return {
        path: source(prefix, tapes),
        path.with_name(f"{prefix}.h"): header(prefix, tapes),
        path.with_name(f"{path.stem}_main.cu"): program(prefix, tapes),
    }


def header(prefix: str, tapes: Mapping[str, Tape]) -> str:
    """The declarations of the functions that launch kernels."""
    guard = f"{prefix.upper()}_H"
    opening = f"""/* {MARK}
{CONVENTIONS}
   Each function queues a kernel on a stream, for `count` states whose rows lie one after the other in device memory.
   The kernels themselves take (count, x0, stride0, x1, stride1, .., out): rows that lie stride numbers apart, 0 for one
   row that all states share. */
#ifndef {guard}
#define {guard}

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {{
#endif

"""
    declarations = "".join(
        comment(tape) + "".join(f"{_prototype(prefix, name, tape, bits)};\n" for bits in REALS) + "\n"
        for name, tape in tapes.items()
    )
    return opening + declarations + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


def source(prefix: str, tapes: Mapping[str, Tape]) -> str:
    """Kernels for floats and doubles, and where nvcc compiles it the functions that launch them."""
    parts = [f'/* {MARK} */\n#ifndef __CUDACC_RTC__\n#include "{prefix}.h"\n#endif\n\n']
    for bits in REALS:
        kernels = "".join(batch_kernel(f"{prefix}_{name}_kernel_f{bits}", tape, bits) for name, tape in tapes.items())
        parts.append(f"namespace chainrule_f{bits} {{\n{prelude(bits)}{kernels}}}\n\n")
    launches = "".join(_launch(prefix, name, tape, bits) for name, tape in tapes.items() for bits in REALS)
    return "".join([*parts, f"#ifndef __CUDACC_RTC__\n{launches}#endif\n"])


def _prototype(prefix: str, name: str, tape: Tape, bits: int) -> str:
    real = REALS[bits].name
    inputs = "".join(f"const {real} *x{i}, " for i in range(len(tape.inputs)))
    return f"cudaError_t {prefix}_{name}_f{bits}(long long count, {inputs}{real} *out, cudaStream_t stream)"


def _launch(prefix: str, name: str, tape: Tape, bits: int) -> str:
    layout = shared_memory_of(tape, bits)
    most = layout.blocks * PROCESSORS
    rows = "".join(f"x{i}, {n}, " for i, n in enumerate(tape.inputs))
    kernel = f"chainrule_f{bits}::{prefix}_{name}_kernel_f{bits}"
    return f"""extern "C" {_prototype(prefix, name, tape, bits)}
{{
  if (count <= 0) return cudaSuccess;
  const long long needed = (count + {layout.threads - 1}) / {layout.threads};
  const dim3 blocks(needed < {most} ? (unsigned)needed : {most}, {len(layout.parts)});
  {kernel}<<<blocks, {layout.threads}, 0, stream>>>(count, {rows}out);
  return cudaGetLastError();
}}

"""


def program(prefix: str, tapes: Mapping[str, Tape]) -> str:
    """A main that reads the arguments of each function from its input, for one state, and prints what it returns."""
    lines = [f'/* {MARK} */\n#include "{prefix}.h"\n#include <stdio.h>\n\n']
    lines.append("static double *on_device(const double *x, int n)\n{\n  double *y;\n")
    lines.append("  const size_t size = (n > 0 ? n : 1) * sizeof(double);\n")
    lines.append("  if (cudaMalloc(&y, size) != cudaSuccess) return NULL;\n")
    lines.append(
        "  return cudaMemcpy(y, x, n * sizeof(double), cudaMemcpyHostToDevice) == cudaSuccess ? y : NULL;\n}\n\n"
    )
    lines.append("static int read_all(double *x, int n)\n{\n  for (int i = 0; i < n; ++i)\n")
    lines.append('    if (scanf("%lf", &x[i]) != 1) return 0;\n  return 1;\n}\n\n')
    lines.append("int main(void)\n{\n")
    for name, tape in tapes.items():
        count, last = len(tape.outputs), len(tape.inputs)
        lines.append("  {\n")
        lines += [f"    static double x{i}[{max(1, n)}];\n" for i, n in enumerate((*tape.inputs, count))]
        lines += [f"    if (!read_all(x{i}, {n})) return 1;\n" for i, n in enumerate(tape.inputs)]
        lines += [f"    double *y{i} = on_device(x{i}, {n});\n" for i, n in enumerate((*tape.inputs, count))]
        lines.append(f"    if ({' || '.join(f'!y{i}' for i in range(last + 1))}) return 1;\n")
        call = "".join(f"y{i}, " for i in range(last + 1))
        lines.append(f"    if ({prefix}_{name}_f64(1, {call}0) != cudaSuccess) return 1;\n")
        lines.append(
            f"    if (cudaMemcpy(x{last}, y{last}, sizeof x{last}, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;\n"
        )
        lines.append(f'    for (int i = 0; i < {count}; ++i) printf("%.17g ", x{last}[i]);\n    printf("\\n");\n')
        lines += [f"    cudaFree(y{i});\n" for i in range(last + 1)]
        lines.append("  }\n")
    return "".join([*lines, "  return 0;\n}\n"])
