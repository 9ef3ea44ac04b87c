"""A graph of arithmetic, made by computing with its nodes in place of numbers.

A `Node` is a scalar like any other: an algorithm that is run on nodes leaves behind the arithmetic that it does on
numbers. Every value is there once, however often it is computed; numbers are folded, and signs are moved to where they
cost nothing. `Graph.tape` writes the part of a graph that some results need as a `Tape`.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chainrule.compile.symbol_array import Symbol
from chainrule.compile.tape import CONDITIONS, OPERATIONS, Instruction, Tape, Value, with_shared_reciprocals
from chainrule.spatial.scalar import ScalarFunctions, register

Operand = Any
"""A node or a number."""


class Node(Symbol):
    """A value of a graph: an operation on values before it, or an entry of an input.

    `place` is the order in which nodes were made: the operands of a node come before it. A constant is a node where
    another node uses it, and a plain number to the algorithms.
    """

    __slots__ = ("a", "b", "graph", "number", "operation", "place")

    def __init__(self, graph: Graph, operation: str, a: Any, b: Any, place: int, number: float = 0.0) -> None:
        self.graph, self.operation, self.a, self.b, self.place, self.number = graph, operation, a, b, place, number

    # --- arithmetic ---

    def __add__(self, other: Operand) -> Operand:
        if type(other) is not Node:
            other = self.graph.constant(other)
            if other is None:
                return NotImplemented
            if other.number == 0:
                return self
        if other.operation == "neg":
            return self - other.a
        if self.operation == "neg":
            return other - self.a
        if self.operation in CONDITIONS and other.operation in CONDITIONS:
            raise TypeError("the sum of two conditions is `or` to NumPy and a count to Python: write a | b")
        for x, y in ((self, other), (other, self)):
            if x.operation == "sub" and x.b is y:
                return x.a
        merged = _merge(self, other, 1.0)
        return self.graph.commutative("add", self, other) if merged is None else merged

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Operand:
        if type(other) is not Node:
            other = self.graph.constant(other)
            if other is None:
                return NotImplemented
            if other.number == 0:
                return self
        if other is self:
            return 0.0
        if other.operation == "neg":
            return self + other.a
        if self.operation == "neg":
            return -(self.a + other)
        if self.operation == "add" and (self.a is other or self.b is other):
            return self.b if self.a is other else self.a
        if other.operation == "add" and (other.a is self or other.b is self):
            return -(other.b if other.a is self else other.a)
        merged = _merge(self, other, -1.0)
        return self.graph.binary("sub", self, other) if merged is None else merged

    def __rsub__(self, other: Operand) -> Operand:
        constant = self.graph.constant(other)
        if constant is None:
            return NotImplemented
        if constant.number == 0:
            return -self
        return self.a + other if self.operation == "neg" else self.graph.binary("sub", constant, self)

    def __mul__(self, other: Operand) -> Operand:
        if type(other) is not Node:
            other = self.graph.constant(other)
            if other is None:
                return NotImplemented
            return self._times(other.number)
        if self.operation == "neg":
            return -(self.a * other)
        if other.operation == "neg":
            return -(self * other.a)
        if _is_reciprocal(other):
            return self / other.b
        if _is_reciprocal(self):
            return other / self.b
        for x, y in ((self, other), (other, self)):
            if x.operation == "div" and x.b is y:
                return x.a
        return self.graph.commutative("mul", self, other)

    __rmul__ = __mul__

    def _times(self, number: float) -> Operand:
        """The product with a number."""
        if number == 0:
            return 0.0
        if number == 1:
            return self
        if number < 0:
            return -(self._times(-number))
        if self.operation == "neg":
            return -(self.a._times(number))
        if self.operation == "mul" and self.a.operation == "constant":
            return self.b._times(self.a.number * number)
        return self.graph.binary("mul", self.graph.number(number), self)

    def __truediv__(self, other: Operand) -> Operand:
        if type(other) is not Node:
            constant = self.graph.constant(other)
            if constant is None:
                return NotImplemented
            reciprocal = 1 / constant.number if constant.number else math.inf
            return self._times(reciprocal) if math.isfinite(reciprocal) else self.graph.binary("div", self, constant)
        if other is self:
            return 1.0
        if other.operation == "neg":
            return -(self / other.a)
        if self.operation == "neg":
            return -(self.a / other)
        if self.operation == "mul" and (self.a is other or self.b is other):
            return self.b if self.a is other else self.a
        if _is_reciprocal(other):
            return self * other.b
        return self.graph.binary("div", self, other)

    def __rtruediv__(self, other: Operand) -> Operand:
        constant = self.graph.constant(other)
        if constant is None:
            return NotImplemented
        if constant.number == 0:
            return 0.0
        if self.operation == "neg":
            return -(other / self.a)
        if constant.number < 0:
            return -(-other / self)
        return self.graph.binary("div", constant, self)

    def __neg__(self) -> Node:
        if self.operation == "neg":
            return self.a
        return self.graph.unary("neg", self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Node:
        return self.graph.unary("abs", self.a if self.operation == "neg" else self)

    def __pow__(self, exponent: Operand) -> Operand:
        if type(exponent) is not Node:
            constant = self.graph.constant(exponent)
            if constant is None:
                return NotImplemented
            number = constant.number
            if abs(number) <= MAX_WHOLE_POWER and 2 * number == int(2 * number):
                base, whole = (self, number) if number == int(number) else (self.sqrt(), 2 * number)
                power = _whole_power(base, abs(int(whole)))
                return power if number >= 0 else 1 / power
            exponent = constant
        return self.graph.binary("pow", self, exponent)

    def __rpow__(self, base: Operand) -> Operand:
        constant = self.graph.constant(base)
        return NotImplemented if constant is None else self.graph.binary("pow", constant, self)

    # --- comparisons: 1 where they hold, else 0 ---

    def __lt__(self, other: Operand) -> Node:
        return self.graph.compare("lt", self, other)

    def __le__(self, other: Operand) -> Node:
        return self.graph.compare("le", self, other)

    def __gt__(self, other: Operand) -> Node:
        return self.graph.compare("lt", other, self)

    def __ge__(self, other: Operand) -> Node:
        return self.graph.compare("le", other, self)

    def __eq__(self, other: Operand) -> Node:  # type: ignore[override]
        return self.graph.compare("eq", self, other)

    def __ne__(self, other: Operand) -> Node:  # type: ignore[override]
        return self.graph.compare("ne", self, other)

    def __and__(self, other: Operand) -> Node:
        return self.graph.compare("and", self, other)

    def __or__(self, other: Operand) -> Node:
        return self.graph.compare("or", self, other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Node:
        return self.graph.unary("not", self)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no truth value; np.where chooses in place of if, np.maximum in place of max")

    def __float__(self) -> float:
        raise TypeError("a symbol has no number; write plain arithmetic, without float(..) and the module math")

    def __repr__(self) -> str:
        return f"<Node {self.place}: {self.operation}>"

    # --- functions ---

    def sqrt(self) -> Node:
        """The square root."""
        return self.graph.unary("sqrt", self)

    def sin(self) -> Node:
        """The sine."""
        return -self.a.sin() if self.operation == "neg" else self.graph.unary("sin", self)

    def cos(self) -> Node:
        """The cosine."""
        return self.graph.unary("cos", self.a if self.operation == "neg" else self)

    def arctan2(self, x: Operand) -> Node:
        """The angle of the point (x, self)."""
        return self.graph.compare("atan2", self, x)

    def __getattr__(self, name: str) -> Any:
        operation = NUMPY_NAMES.get(name, name)
        if OPERATIONS.get(operation) == 1:
            return lambda: self.graph.unary(operation, self)
        raise AttributeError(f"a symbol has no {name!r}")


_places = itertools.count()
"""Places of nodes, of all graphs: two values are never confused."""

MAX_WHOLE_POWER = 8
"""Exponent, a multiple of 1/2, up to which a power is a product."""

NUMPY_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}
"""Names of functions in NumPy, and those of a tape where they differ."""

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "abs": abs, "pow": operator.pow,
}  # fmt: skip
"""Operations that Python has, which fold where it does them."""


def _whole_power(x: Node, exponent: int) -> Operand:
    if exponent < 2:
        return x if exponent else 1.0
    half = _whole_power(x, exponent // 2)
    return half * half * x if exponent % 2 else half * half


class Graph:
    """The values that were computed so far, each known by its operation and operands."""

    def __init__(self) -> None:
        self._known: dict[Any, Node] = {}

    def inputs(self, lengths: Sequence[int]) -> list[list[Node]]:
        """The entries of the arguments of a function."""
        return [self.argument(k, length) for k, length in enumerate(lengths)]

    def argument(self, k: int, length: int) -> list[Node]:
        """The entries of the argument `k`."""
        return [self._new("input", k, entry) for entry in range(length)]

    def _new(self, operation: str, a: Any = None, b: Any = None, number: float = 0.0) -> Node:
        return Node(self, operation, a, b, next(_places), number)

    def constant(self, number: Any) -> Node | None:
        """The node of a number; None for what is none."""
        if not isinstance(number, (int, float)):
            if not hasattr(number, "__float__") or getattr(number, "ndim", False):
                return None
            number = float(number)
        return self.number(number)

    def number(self, number: float) -> Node:
        """The node of a number."""
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._new("constant", number=float(number))
        return found

    def unary(self, operation: str, a: Node) -> Node:
        """The node of an operation on one value."""
        key = (operation, a.place)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._new(operation, a)
        return found

    def binary(self, operation: str, a: Node, b: Node) -> Node:
        """The node of an operation on two values."""
        key = (operation, a.place, b.place)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._new(operation, a, b)
        return found

    def commutative(self, operation: str, a: Node, b: Node) -> Node:
        """The node of a sum or a product."""
        return self.binary(operation, a, b) if a.place <= b.place else self.binary(operation, b, a)

    def compare(self, operation: str, a: Operand, b: Operand) -> Node:
        """The node of an operation on a node and a node or a number, in either order."""
        first, second = (x if type(x) is Node else self.constant(x) for x in (a, b))
        if first is None or second is None:
            return NotImplemented
        return self.binary(operation, first, second)

    def choose(self, condition: Node, a: Operand, b: Operand) -> Operand:
        """`a` where the condition holds, else `b`."""
        first, second = (x if type(x) is Node else self.constant(x) for x in (a, b))
        if first is None or second is None:
            raise TypeError(f"a symbol cannot be chosen from {type(a).__name__} and {type(b).__name__}")
        if first is second:
            return a
        chosen: Operand = 0.0 if _is_zero(first) else self.binary("choose", condition, first)
        if _is_zero(second):
            return chosen
        return chosen + self.binary("choose", self.unary("not", condition), second)

    def perform(self, operation: str, *values: Operand) -> Operand:
        """An operation of a tape on nodes and numbers."""
        if operation in ARITHMETIC:
            return ARITHMETIC[operation](*values)
        nodes = [self._node_of_number(x) if type(x) is not Node else x for x in values]
        return self.unary(operation, *nodes) if len(nodes) == 1 else self.binary(operation, *nodes)

    def tape(self, lengths: Sequence[int], outputs: Iterable[Operand]) -> Tape:
        """The tape of some results, numbers among them, as a function of the inputs with these lengths."""
        results = [x if type(x) is Node else self._node_of_number(x) for x in outputs]
        instructions: list[Instruction] = []
        values: dict[int, Value] = {}
        for node in self.nodes_for(results):
            if node.graph is not self:
                raise ValueError("a result is computed from symbols of another function")
            values[node.place] = len(instructions)
            instructions.append(_instruction(node, values))
        tape = Tape(tuple(lengths), tuple(instructions), tuple(values[node.place] for node in results))
        return with_shared_reciprocals(tape)

    def _node_of_number(self, x: Any) -> Node:
        node = self.constant(x)
        if node is None:
            raise TypeError(f"a result is a number or a symbol, got {type(x).__name__}")
        return node

    def nodes_for(self, results: Iterable[Node]) -> list[Node]:
        """The nodes that results need, in the order in which they were made.

        That is the order of the algorithm, which uses most values soon after it has made them: it takes fewer
        registers than a walk from one result after the other.
        """
        needed: dict[int, Node] = {}
        waiting = list(results)
        while waiting:
            node = waiting.pop()
            if node.place not in needed:
                needed[node.place] = node
                waiting += operands(node)
        return [needed[place] for place in sorted(needed)]


def operands(node: Node) -> tuple[Node, ...]:
    """The nodes that a node is computed from."""
    if node.operation in ("input", "constant"):
        return ()
    return (node.a,) if node.b is None else (node.a, node.b)


def _instruction(node: Node, values: dict[int, Value]) -> Instruction:
    if node.operation == "input":
        return Instruction("input", argument=node.a, entry=node.b)
    if node.operation == "constant":
        return Instruction("constant", constant=node.number)
    return Instruction(node.operation, tuple(values[x.place] for x in operands(node)))


def _factor(node: Node) -> tuple[float, Node]:
    """A value as a number times a value without one."""
    scaled = node.operation == "mul" and node.a.operation == "constant"
    return (node.a.number, node.b) if scaled else (1.0, node)


def _merge(a: Node, b: Node, sign: float) -> Operand:
    """The sum a + b or, with the sign -1, the difference, where it is simpler than its parts; else None."""
    (m, x), (n, y) = _factor(a), _factor(b)
    if x is y:
        return x * (m + sign * n)
    squares = sign > 0 and m == n and x.operation == y.operation == "mul" and x.a is x.b and y.a is y.b
    if squares and {x.a.operation, y.a.operation} == {"sin", "cos"} and x.a.a is y.a.a:
        return m
    return None


def _is_reciprocal(node: Node) -> bool:
    return node.operation == "div" and node.a.operation == "constant" and node.a.number == 1


def _is_zero(node: Node) -> bool:
    return node.operation == "constant" and node.number == 0


def _atan2(y: Operand, x: Operand) -> Node:
    return (y if type(y) is Node else x).graph.compare("atan2", y, x)


register(
    Node,
    ScalarFunctions(
        sin=Node.sin,
        cos=Node.cos,
        sqrt=Node.sqrt,
        atan2=_atan2,
        where=lambda condition, a, b: condition.graph.choose(condition, a, b),
        exp=lambda x: x.graph.unary("exp", x),
    ),
)
