"""Sine and cosine in vector code, as LLVM IR, and other functions by calls of the system.

Reduction by multiples of pi/2 in three parts with fused multiply-adds (Cody & Waite), then the polynomials of fdlibm
(Sun Microsystems, 1993; k_sin.c, k_cos.c) on [-pi/4, pi/4]. Larger arguments take the system's own functions, lane by
lane, which are exact over the whole range.
"""

from __future__ import annotations

from collections.abc import Iterable

from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.portable import COSINE, SINE
from chainrule.compile.tape import SYSTEM_FUNCTIONS, Tape

MAX_REDUCED_ANGLE = 1e5
"""Angle, in rad, up to which the three parts of pi/2 leave less than a rounding error."""

MAX_REDUCED_ANGLE_SINGLE = 1e3
"""The same in single precision."""

HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
HALF_PI_SINGLE = (1.5707963705062866, -4.371139000186241e-08, -1.7151245100058819e-15)


def sincos(lanes: Lanes) -> str:
    """IR of `{V, V} sincos(V x)`: both at once, since both are nearly always wanted."""
    return _Sincos(lanes).text()


class _Sincos:
    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.V = lanes.vector
        self.lines: list[str] = []
        self.fresh = 0

    def new(self, text: str) -> str:
        self.fresh += 1
        self.lines.append(f"  %t{self.fresh} = {text}\n")
        return f"%t{self.fresh}"

    def fma(self, a: str, b: str, c: str) -> str:
        V = self.V
        return self.new(f"call {V} @llvm.fma.{self.lanes.suffix}({V} {a}, {V} {b}, {V} {c})")

    def op(self, name: str, a: str, b: str) -> str:
        return self.new(f"{name} {self.V} {a}, {b}")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        number = self.lanes.number
        value = number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = self.fma(value, z, number(c))
        return value

    def fast(self) -> tuple[str, str]:
        lanes, number, V = self.lanes, self.lanes.number, self.V
        single = lanes.bits == 32
        magic = 1.5 * 2.0 ** (23 if single else 52)
        shifted = self.fma("%x", number(2 / 3.141592653589793), number(magic))
        k = self.op("fsub", shifted, number(magic))
        r = "%x"
        for part in HALF_PI_SINGLE if single else HALF_PI:
            r = self.fma(k, number(-part), r)
        z = self.op("fmul", r, r)
        rz = self.op("fmul", r, z)
        sine = self.fma(rz, self.polynomial(z, SINE[:4] if single else SINE), r)
        zz = self.op("fmul", z, z)
        falling = self.fma(z, number(-0.5), number(1.0))
        cosine = self.fma(zz, self.polynomial(z, COSINE[:4] if single else COSINE), falling)
        bits, I = self.new(f"bitcast {V} {shifted} to {lanes.integer}"), lanes.integer
        odd = self.new(f"and {I} {bits}, {lanes.whole(1)}")
        swap = self.new(f"icmp ne {I} {odd}, {lanes.whole(0)}")
        s = self.new(f"select {lanes.mask} {swap}, {V} {cosine}, {V} {sine}")
        c = self.new(f"select {lanes.mask} {swap}, {V} {sine}, {V} {cosine}")
        following = self.new(f"add {I} {bits}, {lanes.whole(1)}")
        return self.with_sign(s, bits), self.with_sign(c, following)

    def with_sign(self, value: str, quadrant: str) -> str:
        """The value, negated in the lower half plane: the second bit of the quadrant is its sign."""
        I, lanes = self.lanes.integer, self.lanes
        half = self.new(f"and {I} {quadrant}, {lanes.whole(2)}")
        sign = self.new(f"shl {I} {half}, {lanes.whole(lanes.bits - 2)}")
        raw = self.new(f"bitcast {self.V} {value} to {I}")
        return self.new(f"bitcast {I} {self.new(f'xor {I} {raw}, {sign}')} to {self.V}")

    def slow(self) -> tuple[str, str]:
        """The system's sine and cosine in every lane."""
        results = []
        for name in ("sin", "cos"):
            value = "poison"
            for lane in range(self.lanes.width):
                x = "%x" if self.lanes.width == 1 else self.new(f"extractelement {self.V} %x, i32 {lane}")
                y = _call(self, name, x)
                value = (
                    y
                    if self.lanes.width == 1
                    else self.new(f"insertelement {self.V} {value}, {self.lanes.scalar} {y}, i32 {lane}")
                )
            results.append(value)
        return results[0], results[1]

    def text(self) -> str:
        lanes, V = self.lanes, self.V
        pair = f"{{ {V}, {V} }}"
        size = self.new(f"call {V} @llvm.fabs.{lanes.suffix}({V} %x)")
        small = self.new(
            f"fcmp ole {V} {size}, {lanes.number(MAX_REDUCED_ANGLE if lanes.bits == 64 else MAX_REDUCED_ANGLE_SINGLE)}"
        )
        if lanes.width > 1:
            small = self.new(f"call i1 @llvm.vector.reduce.and.v{lanes.width}i1({lanes.mask} {small})")
        self.lines.append(f"  br i1 {small}, label %fast, label %slow, !prof !0\nfast:\n")
        self._return(pair, *self.fast())
        self.lines.append("slow:\n")
        self._return(pair, *self.slow())
        return f"define internal {pair} @sincos.{lanes.suffix}({V} %x) noinline nounwind {{\n{''.join(self.lines)}}}\n"

    def _return(self, pair: str, s: str, c: str) -> None:
        first = self.new(f"insertvalue {pair} poison, {self.V} {s}, 0")
        self.lines.append(f"  ret {pair} {self.new(f'insertvalue {pair} {first}, {self.V} {c}, 1')}\n")


def _call(code: _Sincos, name: str, *arguments: str) -> str:
    """A call of the system's function of doubles on scalars of the lanes' type."""
    if code.lanes.bits == 64:
        return code.new(f"call double @{name}({', '.join(f'double {a}' for a in arguments)})")
    wide = [code.new(f"fpext float {a} to double") for a in arguments]
    y = code.new(f"call double @{name}({', '.join(f'double {a}' for a in wide)})")
    return code.new(f"fptrunc double {y} to float")


def system_function(lanes: Lanes, name: str) -> str:
    """IR of a function of vectors that calls the C library's function of doubles once for each lane."""
    code = _Sincos(lanes)
    value = "poison"
    names = "yx"[: SYSTEM_FUNCTIONS[name]]
    for lane in range(lanes.width):
        entries = [
            f"%{a}" if lanes.width == 1 else code.new(f"extractelement {lanes.vector} %{a}, i32 {lane}") for a in names
        ]
        z = _call(code, name, *entries)
        value = (
            z if lanes.width == 1 else code.new(f"insertelement {lanes.vector} {value}, {lanes.scalar} {z}, i32 {lane}")
        )
    V = lanes.vector
    parameters = ", ".join(f"{V} %{a}" for a in names)
    head = f"define internal {V} @{name}.{lanes.suffix}({parameters}) noinline nounwind"
    return f"{head} {{\n{''.join(code.lines)}  ret {V} {value}\n}}\n"


def functions(lanes: Lanes, tapes: Iterable[Tape]) -> str:
    """Everything that the cores of these tapes call."""
    used = {instruction.operation for tape in tapes for instruction in tape.instructions}
    called = [system_function(lanes, name) for name in SYSTEM_FUNCTIONS if name in used]
    return "".join([declarations(lanes), sincos(lanes), *called])


def declarations(lanes: Lanes) -> str:
    """Declarations of LLVM's functions that the cores call."""
    V, s = lanes.vector, lanes.suffix
    text = (
        f"declare {V} @llvm.fma.{s}({V}, {V}, {V})\ndeclare {V} @llvm.fabs.{s}({V})\ndeclare {V} @llvm.sqrt.{s}({V})\n"
    )
    if lanes.width > 1:
        text += f"declare i1 @llvm.vector.reduce.and.v{lanes.width}i1({lanes.mask})\n"
    return text


SYSTEM = "".join(
    f"declare double @{name}({', '.join(['double'] * count)})\n"
    for name, count in {"sin": 1, "cos": 1, **SYSTEM_FUNCTIONS}.items()
)
LIKELY = '!0 = !{!"branch_weights", i32 1000000, i32 1}\n'
