"""Products of derivatives with vectors, on a graph: Jacobian times vector, and vector times Jacobian.

Neither forms the Jacobian: each costs a small multiple of the function. The products are nodes of the same graph, so
that they can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chainrule.algorithms.configuration import coordinate_rates
from chainrule.compile.graph import Graph, Node, Operand, operands
from chainrule.compile.jacobian_products import JacobianProduct, is_configuration, tangent_lengths
from chainrule.functions.table import Function
from chainrule.model import Model

Partials = tuple[Operand, ...]


def _power_partials(y: Node, a: Operand, b: Operand) -> Partials:
    by_base = b * y.graph.perform("pow", a, b - 1.0)
    return by_base, y * y.graph.perform("log", a) if isinstance(b, Node) else 0.0


def _angle_partials(y: Node, a: Operand, b: Operand) -> Partials:
    square = a * a + b * b
    return b / square, -a / square


PARTIALS: dict[str, Callable[[Node, Operand, Operand], Partials]] = {
    "add": lambda y, a, b: (1.0, 1.0),
    "sub": lambda y, a, b: (1.0, -1.0),
    "mul": lambda y, a, b: (b, a),
    "div": lambda y, a, b: (1.0 / b, -y / b),
    "neg": lambda y, a, b: (-1.0,),
    "sqrt": lambda y, a, b: (0.5 / y,),
    "abs": lambda y, a, b: ((a > 0.0) - (a < 0.0),),
    "sin": lambda y, a, b: (a.cos(),),
    "cos": lambda y, a, b: (-a.sin(),),
    "tan": lambda y, a, b: (1.0 + y * y,),
    "exp": lambda y, a, b: (y,),
    "log": lambda y, a, b: (1.0 / a,),
    "tanh": lambda y, a, b: (1.0 - y * y,),
    "sinh": lambda y, a, b: (a.graph.unary("cosh", a),),
    "cosh": lambda y, a, b: (a.graph.unary("sinh", a),),
    "asin": lambda y, a, b: (1.0 / (1.0 - a * a).sqrt(),),
    "acos": lambda y, a, b: (-1.0 / (1.0 - a * a).sqrt(),),
    "atan": lambda y, a, b: (1.0 / (1.0 + a * a),),
    "atan2": _angle_partials,
    "pow": _power_partials,
}
"""Derivatives of a value with respect to its operands; comparisons have none, and `choose` passes its second on."""

FLAT_OPERATIONS = ("input", "constant", "lt", "le", "eq", "ne", "and", "or", "not")
"""Operations whose values do not change with their operands, but at jumps."""


def _partials(y: Node) -> Iterator[tuple[Node, Operand]]:
    """The operands of a value that are no numbers, each with the derivative with respect to it."""
    nodes = operands(y)
    a, b = (*(x.number if x.operation == "constant" else x for x in nodes), None)[:2]
    for x, slope in zip(nodes, PARTIALS[y.operation](y, a, b), strict=True):
        if x.operation != "constant":
            yield x, slope


def jvp(graph: Graph, outputs: Sequence[Operand], inputs: Sequence[Node], tangents: Sequence[Operand]) -> list[Operand]:
    """Rates of the outputs when the inputs change at the rates `tangents`."""
    rate: dict[int, Operand] = {x.place: t for x, t in zip(inputs, tangents, strict=True)}
    for y in graph.nodes_for([x for x in outputs if isinstance(x, Node)]):
        if y.place in rate or y.operation in FLAT_OPERATIONS:
            continue
        if y.operation == "choose":
            moved = rate.get(y.b.place, 0.0)
            rate[y.place] = graph.choose(y.a, moved, 0.0)
            continue
        total: Operand = 0.0
        for x, slope in _partials(y):
            total = total + slope * rate.get(x.place, 0.0)
        rate[y.place] = total
    return [rate.get(x.place, 0.0) if isinstance(x, Node) else 0.0 for x in outputs]


def vjp(
    graph: Graph, outputs: Sequence[Operand], inputs: Sequence[Node], cotangents: Sequence[Operand]
) -> list[Operand]:
    """Derivatives of the sum of outputs times `cotangents` with respect to the inputs: reverse mode, the adjoint."""
    weight: dict[int, Operand] = {}
    for x, c in zip(outputs, cotangents, strict=True):
        if isinstance(x, Node):
            weight[x.place] = weight.get(x.place, 0.0) + c
    wanted = {x.place for x in inputs}
    for y in reversed(graph.nodes_for([x for x in outputs if isinstance(x, Node)])):
        w = weight.get(y.place, 0.0)
        if y.place in wanted or y.operation in FLAT_OPERATIONS:
            continue
        if y.operation == "choose":
            weight[y.b.place] = weight.get(y.b.place, 0.0) + graph.choose(y.a, w, 0.0)
            continue
        for x, slope in _partials(y):
            weight[x.place] = weight.get(x.place, 0.0) + slope * w
    return [weight.get(x.place, 0.0) for x in inputs]


# --- functions of the table ---


def differentiate(
    graph: Graph,
    model: Model,
    entry: Function,
    inputs: list[list[Node]],
    result: list[Operand],
    products: Sequence[JacobianProduct],
) -> tuple[list[list[Node]], list[Operand]]:
    """The inputs and the result after the steps."""
    for product in products:
        lengths = [len(x) for x in inputs]
        chosen = [x for k in product.indices for x in inputs[k]]
        turned = [product.by_velocities and is_configuration(entry, k) for k in product.indices]
        if product.kind == "jvp":
            sizes = tangent_lengths(model, entry, lengths, product.indices, product.by_velocities)
            tangents = [graph.argument(len(inputs) + k, size) for k, size in enumerate(sizes)]
            rates: list[Operand] = []
            for k, tangent, by_velocity in zip(product.indices, tangents, turned, strict=True):
                rates += coordinate_rates(model, inputs[k], tangent) if by_velocity else tangent
            result = jvp(graph, result, chosen, rates)
            inputs = [*inputs, *tangents]
        else:
            cotangent = graph.argument(len(inputs), len(result))
            gradient = iter(vjp(graph, result, chosen, cotangent))
            result = []
            for k, by_velocity in zip(product.indices, turned, strict=True):
                part = [next(gradient) for _ in inputs[k]]
                result += _by_velocities(graph, model, inputs[k], part) if by_velocity else part
            inputs = [*inputs, cotangent]
    return inputs, result


def _by_velocities(graph: Graph, model: Model, q: list[Node], gradient: list[Operand]) -> list[Operand]:
    """The gradient for velocities, from that for the numbers of q."""
    v = graph.argument(-1, model.nv)  # the rates are linear in it, so that it does not occur in the gradient
    return vjp(graph, coordinate_rates(model, q, v), v, gradient)
