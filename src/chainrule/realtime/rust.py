"""A tick as a crate of Rust without std."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from chainrule.compile.codegen.c import MARK
from chainrule.compile.codegen.statements import Syntax, exact_number
from chainrule.compile.tape import CONDITIONS, SYSTEM_FUNCTIONS
from chainrule.realtime.tick_code import CALLS, MAX_DIFFERENCE, TickCode, table

CHOICES = {
    "lt": "{} < {}", "le": "{} <= {}", "eq": "{} == {}", "ne": "{} != {}", "and": "{} != 0.0 && {} != 0.0",
    "or": "{} != 0.0 || {} != 0.0", "not": "{} == 0.0",
}  # fmt: skip
FUNCTIONS = {**SYSTEM_FUNCTIONS, "sqrt": 1}
EXPRESSIONS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}",
    "abs": "if {0} < 0.0 {{ -{0} }} else {{ {0} }}", "choose": "if {} != 0.0 {{ {} }} else {{ 0.0 }}",
    **{name: f"if {CHOICES[name]} {{{{ 1.0 }}}} else {{{{ 0.0 }}}}" for name in CONDITIONS},
    **{name: f"unsafe {{{{ c::{name}({', '.join(['{}'] * count)}) }}}}" for name, count in FUNCTIONS.items()},
}  # fmt: skip


number = partial(exact_number, not_a_number="f64::NAN", infinity="f64::INFINITY")
SYNTAX = Syntax(EXPRESSIONS, number, "    let v{k}: f64 = {value};")


def files(code: TickCode, path: Path) -> Mapping[Path, str]:
    """The texts of all files of the crate."""
    names = ", ".join([*(f"&{x}" for x in code.inputs), *(f"&mut {x}" for x in code.outputs)])
    what = {
        "src/lib.rs": "the code: no_std, without dependencies; sqrt, and what else it declares, are the C library's",
        "examples/check": "the self-test with recorded inputs and outputs, and the times",
    }
    commands = f"cargo run --release --example check\ncargo run --release --example check -- {CALLS}"
    call = f"let mut controller = {code.stem}::Controller::new();\ncontroller.step({names});   // in each period"
    return {
        path / "Cargo.toml": f'# {MARK}\n[package]\nname = "{code.stem}"\nversion = "0.1.0"\nedition = "2021"\n',
        path / "src" / "lib.rs": _source(code),
        path / "examples" / "check" / "recorded.rs": _recording(code),
        path / "examples" / "check" / "main.rs": _check(code),
        path / "README.md": code.readme(what, commands, call),
    }


def _source(code: TickCode) -> str:
    used = [name for name in FUNCTIONS if code.tape.counts()[name]]
    declared = "".join(
        f"        pub fn {f}({', '.join(f'{x}: f64' for x in 'xy'[: FUNCTIONS[f]])}) -> f64;\n" for f in used
    )
    functions = f'mod c {{\n    extern "C" {{\n{declared}    }}\n}}\n\n' if used else ""
    tables = "".join(
        f"static {x.upper()}: [f64; {len(v)}] = [\n{table([v], number, '', '')}];\n"
        for x, v in code.tables.items()
        if v
    )
    find = row = ""
    count, last = len(code.breaks), len(code.breaks) - 1
    if code.breaks:
        kind = f"[f64; {len(code.rows[0])}]"
        tables += f"static ROWS: [{kind}; {len(code.rows)}] = [\n{table(code.rows, number)}];\n"
        row = "        let (row, since) = find_row(t);\n"
        find = f"""/// The piece of the motion at t, and how long it has lasted; always {code.comparisons} comparisons.
fn find_row(t: f64) -> (&'static {kind}, f64) {{
    let (mut k, mut stride) = (0, {code.stride});
    while stride > 0 {{
        k += if k + stride <= {count} && BREAKS[k + stride - 1] <= t {{ stride }} else {{ 0 }};
        stride /= 2;
    }}
    if k == 0 || t > BREAKS[{last}] {{
        return (&ROWS[k], 0.0);
    }}
    k = if k > {last} {{ {last} }} else {{ k }};
    (&ROWS[k], t - BREAKS[k - 1])
}}

"""
    passed = {
        "memory": "&self.memory",
        "times": f"&[{'since' if code.breaks else '0.0'}, t]",
        "parameters": "&PARAMETERS",
    }
    passed |= {x: x for x in (*code.inputs, "row")}
    copies = "".join(
        f"        {'self.' * (x == 'memory')}{x}.copy_from_slice(&out[{at}..{end}]);\n" for x, at, end in code.results
    )
    taken = ", ".join(f"{x}: &[f64; {n}]" for x, n in code.arguments.items())
    memory = f"    pub memory: [f64; {len(code.memory)}],\n" if code.memory else ""
    start = f", memory: [{', '.join(map(number, code.memory))}]" if code.memory else ""
    signals = "".join(f", {x}: &[f64; {n}]" for x, n in code.inputs.items())
    signals += "".join(f", {x}: &mut [f64; {n}]" for x, n in code.outputs.items())
    return f"""// {MARK}
{code.comment("//! ")}
#![no_std]
#![allow(unused_parens, unused_variables, clippy::all)]

{functions}/// The time from one tick to the next, in s.
pub const PERIOD: f64 = {number(code.period)};

{tables}
/// The number of ticks so far, which is the time in the motion, and what is remembered from tick to tick.
#[derive(Clone, Debug)]
pub struct Controller {{
    pub tick: u64,
{memory}}}

impl Controller {{
    pub const fn new() -> Self {{
        Self {{ tick: 0{start} }}
    }}

    pub fn reset(&mut self) {{
        *self = Self::new();
    }}

    pub fn step(&mut self{signals}) {{
        let t = self.tick as f64 * PERIOD;
{row}        let out = compute({", ".join(passed[name] for name in code.arguments)});
{copies}        self.tick += 1;
    }}
}}

{find}fn compute({taken}) -> [f64; {len(code.tape.outputs)}] {{
{chr(10).join(SYNTAX.statements(code.tape, list(code.arguments)))}
    [{", ".join(SYNTAX.outputs(code.tape))}]
}}
"""


def _recording(code: TickCode) -> str:
    text = f"// {MARK}\npub static TICKS: [u64; {len(code.ticks)}] = {code.ticks};\n"
    for x, rows in code.record().items():
        text += f"pub static {x.upper()}: [[f64; {len(rows[0])}]; {len(rows)}] = [\n{table(rows, number)}];\n"
    return text


def _check(code: TickCode) -> str:
    """The program that tests the code, and measures its times."""
    names = [*(f"&recorded::{x.upper()}[k]" for x in code.inputs), *(f"&mut {x}" for x in code.outputs)]
    step = f"controller.step({', '.join(names)});"
    declared = "".join(f"    let mut {x} = [0.0; {n}];\n" for x, n in code.outputs.items())
    pairs = "".join(f".chain({x}.iter().zip(&recorded::{x.upper()}[k]))" for x in [*code.outputs][1:])
    first = next(iter(code.outputs))
    return f"""// {MARK} Without an argument, the self-test; with a number, the times of so many calls in ns.
mod recorded;

const BINS: usize = 100_000;

fn main() {{
    let calls: u64 = std::env::args().nth(1).map_or(0, |text| text.parse().expect("the number of calls"));
    let mut controller = {code.stem}::Controller::new();
{declared}    let (mut different, mut largest) = (0, 0.0_f64);
    for k in 0..if calls > 0 {{ 0 }} else {{ recorded::TICKS.len() }} {{
        controller.tick = recorded::TICKS[k];
        {step}
        for (found, expected) in {first}.iter().zip(&recorded::{first.upper()}[k]){pairs} {{
            let apart = (found - expected).abs() / (1.0 + expected.abs());
            different += (found != expected) as usize;
            largest = if apart <= largest {{ largest }} else {{ apart }};
        }}
    }}
    if calls == 0 {{
        println!("{{different}} numbers differ, by {{largest:e}} at most");
        std::process::exit(!(largest <= {MAX_DIFFERENCE:g}) as i32);
    }}
    let (mut bins, mut longest) = (vec![0u64; BINS + 1], 0);
    for n in 0..calls {{
        let k = n as usize % recorded::TICKS.len();
        let start = std::time::Instant::now();
        {step}
        let time = start.elapsed().as_nanos() as usize;
        std::hint::black_box(&{first});
        bins[time.min(BINS)] += 1;
        longest = longest.max(time);
    }}
    let share = |part: f64| {{
        let mut sum = 0;
        let reached = |n: &u64| {{ sum += n; sum as f64 >= part * calls as f64 }};
        bins.iter().position(reached).unwrap_or(BINS)
    }};
    let (median, most) = (share(0.5), share(0.9999));
    println!("{{calls}} calls: median {{median}} ns, 99.99 per cent {{most}} ns, longest {{longest}} ns");
}}
"""
