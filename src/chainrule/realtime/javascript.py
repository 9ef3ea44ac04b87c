"""A tick as a module of JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chainrule.compile.codegen.c import MARK
from chainrule.compile.codegen.javascript import literal, number, write_function
from chainrule.realtime.tick_code import CALLS, MAX_DIFFERENCE, TickCode, table


def files(code: TickCode, path: Path) -> Mapping[Path, str]:
    """The texts of all files."""
    stem, last = code.stem, len(code.breaks) - 1
    names, outputs = ", ".join(code.inputs), ", ".join(code.outputs)
    what = {f"{stem}.mjs": "the code: a module without imports, for Node and for pages"}
    what[f"{stem}_check.mjs, {stem}_recorded.mjs"] = "the self-test with recorded inputs and outputs, and the times"
    call = f'import {{ Controller }} from "./{stem}.mjs";\nconst controller = new Controller();\n'
    call += f"const {{ {outputs} }} = controller.step({names});   // in each period"
    tables = "".join(f"const {x} = [\n{table([v], number, '', '')}];\n" for x, v in code.tables.items() if v)
    find = row = ""
    if code.breaks:
        tables += f"const rows = [\n{table(code.rows, number)}];\n"
        row = "    const row = findRow(times);\n"
        find = f"""/* The piece of the motion, and how long it has lasted; always {code.comparisons} comparisons. */
function findRow(times) {{
  const t = times[1];
  let k = 0;
  for (let stride = {code.stride}; stride >= 1; stride /= 2)
    if (k + stride <= {last + 1} && breaks[k + stride - 1] <= t) k += stride;
  if (k === 0 || t > breaks[{last}]) return rows[k];
  k = Math.min(k, {last});
  times[0] = t - breaks[k - 1];
  return rows[k];
}}

"""
    parts = ", ".join(f"{x}: out.slice({at}, {end})" for x, at, end in code.results if x != "memory")
    keep = "".join(f"    this.memory = out.slice({at});\n" for x, at, _ in code.results if x == "memory")
    start = f"    this.memory = [{', '.join(map(number, code.memory))}];\n" if code.memory else ""
    source = f"""/* {MARK}
{code.comment("   ")} */

/** The time from one tick to the next, in s. */
export const period = {number(code.period)};

{tables}
{find}{write_function("compute", code.tape, [*code.arguments]).replace("export function", "function")}
/** The number of ticks so far, which is the time in the motion, and what is remembered from tick to tick. */
export class Controller {{
  constructor() {{
    this.reset();
  }}

  reset() {{
    this.tick = 0;
{start}  }}

  step({names}) {{
    const times = [0, this.tick * period];
{row}    const out = compute({", ".join({"memory": "this.memory"}.get(x, x) for x in code.arguments)});
{keep}    this.tick += 1;
    return {{ {parts} }};
  }}
}}
"""
    step = f"controller.step({', '.join(f'recorded.{x}[k]' for x in code.inputs)})"
    check = f"""/* {MARK} Without an argument, the self-test; with a number, the times of so many calls in ns. */
import {{ Controller }} from "./{stem}.mjs";
import {{ recorded }} from "./{stem}_recorded.mjs";

const calls = Number(process.argv[2] ?? 0), controller = new Controller(), bins = new Float64Array(100001);
let compared = 0, different = 0, largest = 0, longest = 0;
for (let k = 0; !calls && k < recorded.ticks.length; ++k) {{
  controller.tick = recorded.ticks[k];
  for (const [name, values] of Object.entries({step})) {{
    values.forEach((found, i) => {{
      const expected = recorded[name][k][i], apart = Math.abs(found - expected) / (1 + Math.abs(expected));
      compared += 1;
      different += found !== expected;
      largest = apart <= largest ? largest : apart;
    }});
  }}
}}
for (let n = 0; n < calls; ++n) {{
  const k = n % recorded.ticks.length, start = performance.now();
  {step};
  const time = Math.round(1e6 * (performance.now() - start));
  bins[Math.min(time, bins.length - 1)] += 1;
  longest = Math.max(longest, time);
}}
function share(part) {{
  let sum = 0;
  return bins.findIndex((n) => (sum += n) >= part * calls);
}}
const times = `median ${{share(0.5)}} ns, 99.99 per cent ${{share(0.9999)}} ns, longest ${{longest}} ns`;
const test = `${{different}} of ${{compared}} numbers differ, by ${{largest.toPrecision(3)}} at most`;
console.log(calls ? `${{calls}} calls: ${{times}}` : test);
if (!(largest <= {MAX_DIFFERENCE:g})) process.exit(1);
"""
    data = literal({"ticks": code.ticks, **code.record()}, None)
    commands = f"node {stem}_check.mjs\nnode {stem}_check.mjs {CALLS}"
    return {
        path: source,
        path.with_name(f"{stem}_recorded.mjs"): f"/* {MARK} */\nexport const recorded = {data};\n",
        path.with_name(f"{stem}_check.mjs"): check,
        path.with_name(f"{stem}.md"): code.readme(what, commands, call),
    }
