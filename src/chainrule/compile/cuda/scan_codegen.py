"""CUDA C of a program repeated in time: one thread a row, its state in registers, the loop over time inside.

Local arrays are indexed by constants alone once functions are inlined, so that the compiler keeps them in registers.
A function that is called several times is inlined once, in a loop over its calls, where that is possible; else it is a
function of its own, whose arguments are copied to memory. Records go through tiles of shared memory, as in
`cuda.codegen`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from chainrule.compile.cuda.codegen import MAX_SHARED_BYTES, WARP, device_function, pitch, prelude
from chainrule.compile.program import Program, Segment
from chainrule.compile.subtape import subtape
from chainrule.compile.tape import Tape

WARPS = 4
"""Warps in a block."""
BLOCKS_WITH_CONDITIONS = 4
"""Blocks of a multiprocessor where calls depend on conditions, in float32: fewer registers a thread, and faster."""

MAX_LOOPED_CALLS = 4
"""Calls of one function that become a loop, where it is the only one."""

MAX_INLINED_CALLS = 2
"""Calls of one function that are inlined otherwise; where there are more, it is a function of its own."""

MAX_INLINED_INSTRUCTIONS = 4000
"""Instructions of a step up to which there are two copies of it inline, with and without the record."""

MAX_ARGUMENT_PARAMETERS = 64
"""Parameters that all rows share and that are arguments of the kernel, which are read for nothing."""

MAX_FLOAT = 1e30
"""A number larger than all others in a float32, whose products with others are finite."""

COUNT_UNIT, LANE_UNIT = 512, 16
"""A warp's code is severity + LANE_UNIT * lane + COUNT_UNIT * count: of the first of its worst rows, and how many rows
have at least the severity `count_from`."""


@dataclass(frozen=True)
class ScanTapes:
    """Tapes around the repetitions of a program, each of one row.

    The parameters of the program come first among the inputs of each. A severity is a whole number below LANE_UNIT, 0
    where all is well.
    """

    begin: Tape
    """(parameters, q, v) -> the state at the start, and its severity."""
    check: Tape
    """(parameters, state at the start, state at the end) -> severity."""
    watch: Tape | None
    """(parameters, record) -> severity of a record."""
    count_from: int
    """The severity from which on rows are counted."""


def scan_kernel(program: Program, record: int, tapes: ScanTapes, bits: int, shared: bool) -> str:
    """The text of the kernel `rollout`, for rows that share their parameters, or have each their own.

    `rollout(rows, steps, every, ends, q, q_stride, v, v_stride, state, goes_on, signals, signals_stride, records,
    records_stride, codes, parameters..)` starts from q and v, or goes on from `state`, takes `steps` steps and writes
    the record of every `every`-th; where it ends the motion, also that of the end, and a code for each warp; else the
    state. Strides are numbers from row to row. Parameters are the bits of each number, or rows and their stride.
    """
    return prelude(bits) + _KernelWriter(program, record, tapes, bits, shared).text()


def shares_arguments(program: Program) -> bool:
    """Whether parameters that all rows share are arguments of the kernel."""
    return program.inputs[0] <= MAX_ARGUMENT_PARAMETERS


def bits_of_reals() -> str:
    """A function that makes a number of its bits."""
    return """static __device__ __forceinline__ real number(long long bits)
{
  union { long long bits; real number; } both;
  both.bits = bits;
  return both.number;
}

"""


class StepWriter:
    """Writes the functions of a program, and one repetition of it as a function of pointers.

    The functions have names with a prefix, so that a text may hold several programs.
    """

    def __init__(self, program: Program, bits: int, prefix: str = "") -> None:
        self.program, self.bits, self.prefix = program, bits, prefix
        self.names = {name: f"{prefix}call{k}" for k, name in enumerate(program.functions)}
        calls = [segment for segment in program.segments if segment.calls]
        alone = [segment for segment in calls if not segment.is_iteration]
        self.counts = {name: sum(segment.calls == name for segment in alone) for name in program.functions}
        """How often each function is called, but for calls in a row."""
        self.loops = len(program.functions) == 1 and 1 < len(calls) <= MAX_LOOPED_CALLS and not _has_conditions(calls)

    def is_outlined(self, segment: Segment) -> bool:
        """Whether a call is that of a function in memory, not of one that is inlined."""
        return self.counts[segment.calls or ""] > MAX_INLINED_CALLS and not self.loops

    def _name(self, segment: Segment) -> str:
        return self.names[segment.calls or ""] + "_apart" * self.is_outlined(segment)

    def functions(self) -> Iterator[str]:
        """The functions that are called, and those of the segments but the last."""
        calls = self.program.segments[:-1]
        kinds = {(self._name(s), s.calls, self.is_outlined(s)) for s in calls}
        for name, function, outlined in sorted(kinds, key=str):
            yield self.function(name, self.program.functions[function or ""], outlined=outlined)
        for k, segment in enumerate(calls):
            is_repeated = k > 1 and all(s.is_iteration and s.calls == segment.calls for s in calls[k - 2 : k + 1])
            if segment.tape.outputs and not is_repeated:
                yield self.function(f"{self.prefix}segment{k}", segment.tape)

    def function(self, name: str, tape: Tape, *, outlined: bool = False) -> str:
        """A function of pointers to the numbers of one row."""
        return device_function(name, _within_float(tape) if self.bits == 32 else tape, self.bits, inlined=not outlined)

    @property
    def instructions(self) -> int:
        """Instructions of a repetition."""
        segments = self.program.segments
        called = [self.program.functions[s.calls] for s in segments if s.calls and not s.is_iteration]
        return sum(len(tape.instructions) for tape in (*called, *(s.tape for s in segments)))

    def repetition(self, name: str, results: Mapping[str, Sequence[int]], *, outlined: bool = False) -> Iterator[str]:
        """The function `name(x0, x1, .., result, ..)`, with some outputs of the last segment in each result."""
        last = self.program.segments[-1].tape
        for result, places in results.items():
            yield self.function(f"{name}_{result}", subtape(last, [last.outputs[k] for k in places]))
        inputs = "".join(f"const real *__restrict__ x{k}, " for k in range(len(self.program.inputs)))
        outputs = ", ".join(f"real *__restrict__ {result}" for result in results)
        kind = "__noinline__" if outlined else "__forceinline__"
        yield f"static __device__ {kind} void {name}({inputs}{outputs})\n{{\n"
        yield from self._looped_calls() if self.loops else self._calls()
        sources = "".join(f"{source}, " for source in self.sources(len(self.program.segments) - 1))
        for result in results:
            yield f"  {name}_{result}({sources}{result});\n"
        yield "}\n\n"

    def sources(self, calls: int) -> list[str]:
        """The arguments of a segment after so many calls: inputs, and results of the calls."""
        return [f"x{k}" for k in range(len(self.program.inputs))] + [f"r{k}" for k in range(calls)]

    def _length(self, segment: Segment) -> int:
        return len(self.program.functions[segment.calls or ""].outputs)

    # --- calls one after the other ---

    def _calls(self) -> Iterator[str]:
        calls = list(enumerate(self.program.segments[:-1]))
        for _, group in groupby(calls, key=lambda each: each[1].calls if each[1].is_iteration else each[0]):
            row = list(group)
            k, segment = row[0]
            if segment.is_iteration:
                yield from self._row_of_calls(row)
                continue
            starts = "" if segment.when is None else " = {}"
            yield f"  real r{k}[{self._length(segment)}]{starts};\n  do {{\n"
            yield from self._call(k, segment, f"r{k}", breaks=segment.when is not None)
            yield "  } while (0);\n"

    def _row_of_calls(self, row: Sequence[tuple[int, Segment]]) -> Iterator[str]:
        """Calls of one function until the first that is not needed, as a loop; the last two results stay at hand."""
        (first, start), (second, again) = row[:2]
        if any(self._relative(k, segment) != self._relative(second, again) for k, segment in row[1:]):
            raise ValueError("calls in a row must differ in nothing but the result of the call before")
        size, end = self._length(start), row[-1][0]
        lengths = self.program.functions[start.calls or ""].inputs
        pairs = enumerate(zip(start.arguments, again.arguments, strict=True))
        common = [j for j, (place, later) in pairs if place.source is not None and place == later]
        own = [j for j, n in enumerate(lengths) if n and j not in common]
        yield f"  real r{end}[{size}] = {{}}, r{end - 1}[{size}] = {{}};\n"
        yield f"#pragma unroll 1\n  for (int turn = 0; turn < {len(row)}; ++turn) {{\n    real needed;\n"
        yield "".join(f"    real y{j}[{lengths[j]}];\n" for j in own)
        for k, segment, test in ((first, start, "if (turn == 0)"), (second, again, "else")):
            sources = [*self.sources(first), *([f"r{end}"] if k == second else [])]
            yield f"    {test} {{\n      real a[{len(segment.tape.outputs)}];\n"
            yield f"      {self.prefix}segment{k}({''.join(f'{source}, ' for source in sources)}a);\n"
            yield f"      needed = a[{segment.when}];\n"
            for j in own:
                source, place = segment.arguments[j]
                yield from _copy(None, f"y{j}", f"{'a' if source is None else sources[source]} + {place}", lengths[j])
            yield "    }\n"
        arguments = [f"y{j}" if j in own else self._place(start, j, lengths[j]) for j in range(len(lengths))]
        yield "    real result[" + str(size) + "];\n    if (needed == 0) {\n"
        yield from _copy(None, f"r{end - 1}", f"r{end}", size)
        yield "      break;\n    }\n"
        yield f"    {self._name(start)}({''.join(f'{place}, ' for place in arguments)}result);\n"
        yield from _copy(None, f"r{end - 1}", f"r{end}", size)
        yield from _copy(None, f"r{end}", "result", size)
        yield "  }\n"
        yield "".join(f"  const real *const r{k} = r{end - 1};\n" for k, _ in row[:-2])

    def _place(self, segment: Segment, j: int, length: int) -> str:
        source, start = segment.arguments[j]
        return f"{self.sources(source or 0)[source or 0]} + {start}" if length else "nullptr"

    def _relative(self, k: int, segment: Segment) -> tuple[object, ...]:
        """A segment in a row, with the result of the call before it as argument -1."""
        before = len(self.program.inputs) + k - 1
        instructions = [
            t._replace(argument=-1) if t.operation == "input" and t.argument == before else t
            for t in segment.tape.instructions
        ]
        places = [(-1 if source == before else source, start) for source, start in segment.arguments]
        return instructions, segment.tape.outputs, places, segment.when

    def _call(self, k: int, segment: Segment, result: str, *, breaks: bool = False) -> Iterator[str]:
        """A segment and its call; with `breaks`, `break` where it is not needed."""
        sources = self.sources(k)
        if segment.tape.outputs:
            yield f"    real a{k}[{len(segment.tape.outputs)}];\n"
            yield f"    {self.prefix}segment{k}({''.join(f'{source}, ' for source in sources)}a{k});\n"
        if breaks:
            yield f"    if (a{k}[{segment.when}] == 0) break;\n"
        arguments = []
        lengths = self.program.functions[segment.calls or ""].inputs
        for j, ((source, start), length) in enumerate(zip(segment.arguments, lengths, strict=True)):
            place = f"{f'a{k}' if source is None else sources[source]} + {start}" if length else "nullptr"
            if self.is_outlined(segment) and length:  # an array whose address is taken is kept in memory
                yield from _copy(f"real c{k}_{j}[{length}]", f"c{k}_{j}", place, length)
                place = f"c{k}_{j}"
            arguments.append(place)
        yield f"    {self._name(segment)}({''.join(f'{place}, ' for place in arguments)}{result});\n"

    # --- calls of one function, in a loop ---

    def _looped_calls(self) -> Iterator[str]:
        calls = list(enumerate(self.program.segments[:-1]))
        name, tape = next(iter(self.program.functions.items()))
        size = len(tape.outputs)
        yield f"  real {', '.join(f'r{k}[{size}]' for k, _ in calls)};\n"
        yield f"#pragma unroll 1\n  for (int turn = 0; turn < {len(calls)}; ++turn) {{\n"
        common = {
            j: segment.source
            for j, segment in enumerate(self.program.segments[0].arguments)
            if segment.source is not None and all(other.arguments[j] == segment for _, other in calls)
        }
        own = [(j, n) for j, n in enumerate(tape.inputs) if n and j not in common]
        yield "".join(f"    real y{j}[{n}];\n" for j, n in own) + f"    real result[{size}];\n    switch (turn) {{\n"
        for k, segment in calls:
            sources = self.sources(k)
            yield f"    case {k}: {{\n"
            if segment.tape.outputs:
                yield f"      real a[{len(segment.tape.outputs)}];\n"
                yield f"      {self.prefix}segment{k}({''.join(f'{source}, ' for source in sources)}a);\n"
            for j, n in own:
                source, start = segment.arguments[j]
                yield from _copy(None, f"y{j}", f"{'a' if source is None else sources[source]} + {start}", n)
            yield "    } break;\n"
        yield "    }\n"
        arguments = []
        for j, n in enumerate(tape.inputs):
            place = self.program.segments[0].arguments[j]
            whole = f"{self.sources(0)[common[j]]} + {place.start}" if j in common else f"y{j}"
            arguments.append(whole if n else "nullptr")
        yield f"    {self.names[name]}({''.join(f'{place}, ' for place in arguments)}result);\n    switch (turn) {{\n"
        for k, _ in calls:
            yield f"    case {k}: {{\n"
            yield from _copy(None, f"r{k}", "result", size)
            yield "    } break;\n"
        yield "    }\n  }\n"


def _has_conditions(segments: Sequence[Segment]) -> bool:
    return any(segment.when is not None for segment in segments)


def _copy(declaration: str | None, name: str, source: str, length: int) -> Iterator[str]:
    if declaration is not None:
        yield f"    {declaration};\n"
    yield f"#pragma unroll\n    for (int i = 0; i < {length}; ++i) {name}[i] = ({source})[i];\n"


def _within_float(tape: Tape) -> Tape:
    """The tape with finite constants that float32 has."""
    instructions = tuple(
        t._replace(constant=max(-MAX_FLOAT, min(MAX_FLOAT, t.constant)))
        if t.operation == "constant" and MAX_FLOAT < abs(t.constant) < float("inf")
        else t
        for t in tape.instructions
    )
    return replace(tape, instructions=instructions)


def record_columns(record: int, bits: int) -> int:
    """Numbers of a record that go through a tile at a time."""
    most = MAX_SHARED_BYTES // (WARPS * WARP * bits // 8)
    most -= most % 4 == 0
    return min(record, most)


def give_record(name: str, count: int, bits: int) -> str:
    """Statements that write the numbers of `name`, an array of each thread, to `at`, rows of which it is a part."""
    columns = record_columns(count, bits)
    lines = []
    for start in range(0, count, columns):
        n = min(columns, count - start)
        lines.append(
            f"#pragma unroll\n    for (int i = 0; i < {n}; ++i) tile[lane * {pitch(n)} + i] = {name}[{start} + i];\n"
            f"    __syncwarp();\n    give<{n}, {pitch(n)}>(tile, states, lane, stride, at + {start});\n"
            "    __syncwarp();\n"
        )
    return "".join(lines)


def tile_size(count: int, bits: int) -> int:
    """Numbers of shared memory for the tile of a warp."""
    return WARP * max(pitch(record_columns(count, bits)), 1)


class _KernelWriter:
    """Writes the kernel."""

    def __init__(self, program: Program, record: int, tapes: ScanTapes, bits: int, shared: bool) -> None:
        self.record, self.tapes, self.bits = record, tapes, bits
        self.shared = shared and shares_arguments(program)
        self.parameters, self.state, three = program.inputs
        self.signals = three // 3
        self.nq, self.nv = tapes.begin.inputs[1:]
        self.steps = StepWriter(program, bits)
        self.outlines = self.steps.instructions > MAX_INLINED_INSTRUCTIONS
        """Whether the step with the record is a function in memory."""

    def text(self) -> str:
        """Functions, then the kernel."""
        state = range(self.state)
        record = range(self.state, self.state + self.record)
        function = self.steps.function
        parts = [bits_of_reals(), *self.steps.functions()]
        parts += self.steps.repetition("step", {"next": state})
        both = {"next": state, "record": record}
        parts += self.steps.repetition("recorded_step", both, outlined=self.outlines)
        parts += [function("begin", self.tapes.begin), function("check", self.tapes.check)]
        if self.tapes.watch is not None:
            parts.append(function("watch", self.tapes.watch, outlined=True))
        return "".join([*parts, self._finish(), self._kernel()])

    def _finish(self) -> str:
        """The severity of a whole motion."""
        arguments = "const real *p, const real *q, const real *v, const real *x"
        return f"""static __device__ __noinline__ real finish({arguments})
{{
  real start[{self.state + 1}], severity[1];
  begin(p, q, v, start);
  if (start[{self.state}] != 0) return start[{self.state}];
  check(p, start, x, severity);
  return severity[0];
}}

"""

    def _bounds(self) -> str:
        """Threads of a block; with conditions, which leave threads waiting, also blocks that find room together."""
        has_conditions = _has_conditions(self.steps.program.segments)
        return f"{WARPS * WARP}, {BLOCKS_WITH_CONDITIONS}" if has_conditions and self.bits == 32 else f"{WARPS * WARP}"

    def _kernel(self) -> str:
        state, record, count = self.state, self.record, self.parameters
        given = parameter_arguments(count, self.shared)
        return f"""extern "C" __global__ void __launch_bounds__({self._bounds()}) rollout(
  long long rows, long long steps, long long every, long long ends, const real *q, long long q_stride, const real *v,
  long long v_stride, real *state, long long goes_on, const real *signals, long long signals_stride, real *records,
  long long stride, real *codes, {given})
{{
  __shared__ __align__(16) real tiles[{WARPS}][{tile_size(record, self.bits)}];
{place_in_batch()}{read_parameters(count, self.shared)}  real x[{state}], severity = 0;
  if (goes_on) {{
#pragma unroll
    for (int i = 0; i < {state}; ++i) x[i] = state[row * {state} + i];
  }} else {{
    real start[{state + 1}];
    begin(p, q + row * q_stride, v + row * v_stride, start);
#pragma unroll
    for (int i = 0; i < {state}; ++i) x[i] = start[i];
  }}
  const real *s = signals + row * signals_stride;
  real *at = records + first * stride;
  int k = 0;
  const int total = (int)steps;
  while (k < total || ends) {{
    real next[{state}], record[{record}];
{self._recorded_step()}{give_record("record", record, self.bits)}{self._watch()}    if (k == total) break;
    at += {record};
    int stop = total - k < every ? total : k + (int)every;
    for (;;) {{
#pragma unroll
      for (int i = 0; i < {state}; ++i) x[i] = next[i];
      s += {3 * self.signals};
      if (++k == stop) break;
      step(p, x, s, next);
    }}
  }}
  if (!ends) {{
    if (lane < states) {{
#pragma unroll
      for (int i = 0; i < {state}; ++i) state[row * {state} + i] = x[i];
    }}
    return;
  }}
  real own[{max(count, 1)}], end[{state}];
#pragma unroll
  for (int i = 0; i < {count}; ++i) own[i] = p[i];
#pragma unroll
  for (int i = 0; i < {state}; ++i) end[i] = x[i];
  const real found = finish(own, q + row * q_stride, v + row * v_stride, end);
  tile[lane] = lane < states ? (found > severity ? found : severity) : 0;
  __syncwarp();
  if (lane == 0) {{
    int worst = 0, which = 0, count = 0;
    for (int i = 0; i < states; ++i) {{
      const int code = (int)tile[i];
      if (code > worst) worst = code, which = i;
      count += code >= {self.tapes.count_from};
    }}
    codes[first / {WARP}] = worst + {LANE_UNIT} * which + {COUNT_UNIT} * count;
  }}
}}
"""

    def _recorded_step(self) -> str:
        if not self.outlines:
            return "    recorded_step(p, x, s, next, record);\n"
        copies = "".join(_copy(f"real own[{max(self.parameters, 1)}]", "own", "p", self.parameters))
        copies += "".join(_copy(f"real now[{self.state}], then[{self.state}]", "now", "x", self.state))
        back = "".join(_copy(None, "next", "then", self.state))
        return f"    {{\n{copies}    recorded_step(own, now, s, then, record);\n{back}    }}\n"

    def _watch(self) -> str:
        if self.tapes.watch is None:
            return ""
        return f"""    {{
      real own[{max(self.parameters, 1)}], seen[{self.record}], severe[1];
#pragma unroll
      for (int i = 0; i < {self.parameters}; ++i) own[i] = p[i];
#pragma unroll
      for (int i = 0; i < {self.record}; ++i) seen[i] = record[i];
      watch(own, seen, severe);
      severity = severe[0] > severity ? severe[0] : severity;
    }}
"""


def place_in_batch() -> str:
    """Statements that find the rows of a warp, the row of a thread, and its tile; blocks may have fewer warps."""
    return f"""  const int warp = threadIdx.x / {WARP}, lane = threadIdx.x % {WARP};
  const long long first = ((long long)blockIdx.x * (blockDim.x / {WARP}) + warp) * {WARP};
  if (first >= rows) return;
  const int states = rows - first < {WARP} ? (int)(rows - first) : {WARP};
  const long long row = first + (lane < states ? lane : 0);
  real *const tile = tiles[warp];
"""


def parameter_arguments(count: int, shared: bool) -> str:
    """The arguments of a kernel for the parameters: their bits where rows share them, else rows and their stride."""
    if shared and count:
        return ", ".join(f"long long p{k}" for k in range(count))
    return "const real *parameters, long long parameters_stride"


def read_parameters(count: int, shared: bool) -> str:
    """The declaration of `p`, the parameters of a thread's row."""
    if shared and count:
        return f"  const real p[{count}] = {{{', '.join(f'number(p{k})' for k in range(count))}}};\n"
    return "  const real *const p = parameters + row * parameters_stride;\n"
