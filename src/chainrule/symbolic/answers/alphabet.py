# ruff: noqa: RUF001 (mathematical letters)
"""The symbols of an answer and those of the library: theta_1, q1 and θ₁ are one coordinate, c_12 is cos(q_1 + q_2).

Nothing is guessed: a name that could mean two things, and one that means none, are refused with the names there are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sympy as sp

from chainrule.errors import ShapeError, UnknownNameError, quoted, short_repr, visible
from chainrule.symbolic.documents.formula import LETTERS

AppliedUndef = sp.core.function.AppliedUndef
"""A function of time, such as q_1(t)."""

COORDINATE_LETTERS = ("q", "theta")
"""Letters that textbooks give to the coordinates of joints."""

RATES = (("{0}{1}",), ("{0}dot{1}", "{0}{1}dot", "dot{0}{1}", "d{0}{1}", "{0}d{1}"),
         ("{0}ddot{1}", "{0}{1}ddot", "ddot{0}{1}", "dd{0}{1}", "{0}dd{1}", "d2{0}{1}"))  # fmt: skip
"""How a coordinate, its velocity and its acceleration are written, of the letter and the index."""

DOTS = {"\u0307": "dot", "\u0308": "ddot"}
GREEK = {letter: name.removeprefix("var") for name, letter in LETTERS.items() if letter.isalpha()} | {"ℓ": "l"}
GREEK |= {unicodedata.normalize("NFKD", letter): name for letter, name in GREEK.items() if letter != "ℓ"}
"""Greek letters -> their names in ASCII."""
SHORTHAND = re.compile(r"(?:(?P<cos>[cC]|cos)|[sS]|sin)_?(?P<indices>\d+(?:[,-]?\d+)*)")
INDEXED = re.compile(r"(?P<letters>[^\W\d_]+)_?(?P<index>\d\w*|\w*\d\w*|)")


class Known(NamedTuple):
    """A symbol that an answer may have: its name in the library, the symbol as it prints, and its unit, "" for none."""

    name: str
    symbol: sp.Symbol
    unit: str


class CoordinateSymbols(NamedTuple):
    """A coordinate, its velocity and its acceleration; numbers start from 1."""

    number: int
    symbols: tuple[sp.Symbol, ...]
    is_angle: bool = True
    offset: str = ""
    """A symbol that a textbook's angle has beside the coordinate: theta_1 = q_1 + theta_01."""


@dataclass(frozen=True)
class Alphabet:
    """The symbols that an answer may be written in, and how other people write them."""

    known: tuple[Known, ...]
    coordinates: tuple[CoordinateSymbols, ...]
    owner: str
    """What the symbols belong to, for messages."""

    def __post_init__(self) -> None:
        exact: dict[str, set[sp.Expr]] = {}
        for entry in self.known:
            for name in (entry.name, entry.symbol.name):
                exact.setdefault(name, set()).add(entry.symbol)
        close: dict[str, set[sp.Expr]] = {}
        for entry in self.known:
            for name in {form for whole in (entry.name, entry.symbol.name) for form in _forms(whole)}:
                close.setdefault(name, set()).add(entry.symbol)
        folded: dict[str, set[sp.Expr]] = {}
        for name, symbols in close.items():
            folded.setdefault(name.casefold(), set()).update(symbols)
        alone: dict[str, set[sp.Expr]] = {}
        for entry in self.known:
            match = INDEXED.fullmatch(entry.symbol.name)
            if match:
                alone.setdefault(match["letters"].casefold(), set()).add(entry.symbol)
        object.__setattr__(self, "_levels", (exact, close, self._coordinate_names(), folded, alone))

    def _coordinate_names(self) -> dict[str, set[sp.Expr]]:
        """The usual names of coordinates and of their rates, without underscores."""
        found: dict[str, set[sp.Expr]] = {}
        alone = len(self.coordinates) == 1
        for one in self.coordinates:
            own = INDEXED.fullmatch(one.symbols[0].name)
            letters = [*COORDINATE_LETTERS, *([] if one.is_angle else ["d"])]
            pairs = [(letter, index) for letter in letters for index in (str(one.number), *([""] if alone else []))]
            if own:
                pairs.append((own["letters"], own["index"].replace("_", "")))
            for letter, index in dict.fromkeys(pairs):
                for symbol, forms in zip(one.symbols, RATES, strict=False):
                    for form in forms:
                        symbols = found.setdefault(form.format(letter, index), set())
                        symbols.add(symbol)
                        if one.offset and letter == "theta" and symbol is one.symbols[0]:
                            symbols.add(symbol + sp.Symbol(one.offset))
        return found

    def meaning(self, name: str) -> sp.Expr:
        """The expression that a name stands for; refused where it is none or may be several."""
        for level, names in enumerate(self._levels):  # type: ignore[attr-defined]
            for form in (name,) if level == 0 else (compact(name),) if level < 3 else (compact(name).casefold(),):
                candidates = names.get(form, ())
                if len(candidates) == 1:
                    return next(iter(candidates))
                if candidates:
                    texts = sorted(map(str, candidates))
                    raise ShapeError(
                        f"{name!r} in the answer may be {' or '.join(texts)}; say which, such as "
                        f"symbols={{{name!r}: {texts[0]!r}}}"
                    )
            if level == 2 and (short := self._shorthand(name)) is not None:
                return short
        raise UnknownNameError(
            f"there is no symbol {visible(name)!r:.60} in {self.owner}; there are: "
            f"{quoted((entry.symbol.name for entry in self.known), 40)}; say what it is, such as "
            f"symbols={{{visible(name)!r:.60}: {self.known[0].symbol.name!r}}}"
        )

    def _shorthand(self, name: str) -> sp.Expr | None:
        """The cosine of c_12 and the sine of s_12, of sums of angles by their numbers."""
        match = SHORTHAND.fullmatch(_plain(name))
        by_index = {str(one.number): one for one in self.coordinates}
        if match is None or not by_index:
            return None
        text = match["indices"]
        whole = re.findall(r"-?\d+" if re.search("[,-]", text) else r"\d", text)
        if len(text) > 1 and text in by_index:
            if len(whole) == 1 or all(digit in by_index for digit in whole):
                raise ShapeError(
                    f"{name!r} in the answer may be of joint {text} or of joints {', '.join(whole)}; write "
                    f"{name[0]}_{{{','.join(whole)}}}, or cos and sin"
                )
            whole = [text]
        angle: sp.Expr = sp.S.Zero
        for digits in whole:
            one = by_index.get(digits.lstrip("-"))
            if one is None or not one.is_angle:
                what = "does not turn" if one else "is not there"
                raise ShapeError(f"{name!r} in the answer is a cosine or sine, and joint {digits.lstrip('-')} {what}")
            if one.offset:
                raise ShapeError(
                    f"{name!r} in the answer may be of {one.symbols[0]} or of {one.symbols[0]} + {one.offset}; write "
                    f"cos({one.symbols[0]}) or sin({one.symbols[0]})"
                )
            angle += -one.symbols[0] if digits.startswith("-") else one.symbols[0]
        return sp.cos(angle) if match["cos"] else sp.sin(angle)

    def units(self) -> dict[sp.Symbol, str]:
        """The unit of each symbol whose unit is known."""
        return {entry.symbol: entry.unit for entry in self.known if entry.unit}

    def readings(
        self, symbols: Iterable[sp.Symbol], given: Mapping[Any, Any] | None = None
    ) -> dict[sp.Symbol, sp.Expr]:
        """The meaning of each symbol of an answer. `given` says it for those that the user has named."""
        own = {_key(key): self._own(value) for key, value in (given or {}).items()}
        found: dict[sp.Symbol, sp.Expr] = {}
        names: dict[sp.Expr, str] = {}
        for symbol in sorted(symbols, key=lambda s: s.name):
            meaning = own[symbol.name] if symbol.name in own else self.meaning(symbol.name)
            other = names.setdefault(meaning, symbol.name)
            if compact(other) != compact(symbol.name) and symbol.name not in own and other not in own:
                raise ShapeError(
                    f"{other!r} and {symbol.name!r} in the answer would both be {meaning}; say what each is, such as "
                    f"symbols={{{symbol.name!r}: ...}}"
                )
            found[symbol] = meaning
        unused = own.keys() - {symbol.name for symbol in found}
        if unused:
            raise ShapeError(f"symbols names {quoted(sorted(unused))}, which the answer does not have")
        return found

    def _own(self, value: Any) -> sp.Expr:
        """The symbol of the library that a user names, by its name or as a symbol."""
        if isinstance(value, (sp.Symbol, str)):
            return self.meaning(str(value))
        raise ShapeError(
            f"symbols says what a symbol of the answer is, by a name of the library, got {short_repr(value)}"
        )


def without_functions_of_time(expression: Any) -> Any:
    """Write functions of time and their derivatives, such as SymPy's dynamicsymbols, as symbols."""
    derivatives = expression.atoms(sp.Derivative)
    replaced: dict[Any, sp.Symbol] = {}
    for x in derivatives:
        order = x.derivative_count
        if isinstance(x.expr, AppliedUndef) and order in (1, 2) and set(x.variables) == set(x.expr.args):
            replaced[x] = sp.Symbol(_with_dots(x.expr.func.__name__, "dot" if order == 1 else "ddot"))
    plain = expression.xreplace(replaced)
    return plain.xreplace({x: sp.Symbol(x.func.__name__) for x in plain.atoms(AppliedUndef) if len(x.args) == 1})


def _with_dots(name: str, dots: str) -> str:
    match = re.fullmatch(r"([^\W\d_]+)(.*)", name)
    return f"{match[1]}{dots}{match[2]}" if match else name + dots


def _key(key: Any) -> str:
    if isinstance(key, (str, sp.Symbol)):
        return str(key)
    raise ShapeError(f"symbols names symbols of the answer, got {short_repr(key)}")


def _plain(name: str) -> str:
    """A name in ASCII letters, with dots as words: θ̇₁ and \\dot{\\theta}_{1} are thetadot_1 and dottheta_1."""
    text = unicodedata.normalize("NFKD", name)
    text = re.sub(r"([^\W\d_])([\u0307\u0308]+)", lambda m: m[1] + "".join(DOTS[mark] for mark in m[2]), text)
    text = "".join(GREEK.get(letter, letter) for letter in text)
    return re.sub(r"[\\{}\s]", "", text)


def compact(name: str) -> str:
    """A name without underscores and commas: theta_1 and theta1 are one."""
    return re.sub(r"[_,]", "", _plain(name))


def _forms(name: str) -> Sequence[str]:
    """A parameter's name without underscores, with the letters of the index before its digits and after them."""
    head, _, index = _plain(name).partition("_")
    letters, digits = re.sub(r"[\d_,]", "", index), re.sub(r"[^\d]", "", index)
    return tuple({compact(name), head + letters + digits, head + digits + letters})
