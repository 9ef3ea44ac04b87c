"""Graphs of products of Jacobians with vectors, from the graph of a function of the table."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.configuration import coordinate_rates
from chainrule.compile.graph import Graph, Node, Operand
from chainrule.compile.products import jvp, vjp
from chainrule.compile.steps import Product, is_configuration, tangent_lengths
from chainrule.functions.table import Function
from chainrule.model import Model


def differentiate(
    graph: Graph,
    model: Model,
    entry: Function,
    inputs: list[list[Node]],
    result: list[Operand],
    products: Sequence[Product],
) -> tuple[list[list[Node]], list[Operand]]:
    """The inputs and the result after the steps."""
    for product in products:
        lengths = [len(x) for x in inputs]
        chosen = [x for k in product.places for x in inputs[k]]
        turned = [product.by_velocities and is_configuration(entry, k) for k in product.places]
        if product.kind == "jvp":
            sizes = tangent_lengths(model, entry, lengths, product.places, product.by_velocities)
            tangents = [graph.argument(len(inputs) + k, size) for k, size in enumerate(sizes)]
            rates: list[Operand] = []
            for k, tangent, by_velocity in zip(product.places, tangents, turned, strict=True):
                rates += coordinate_rates(model, inputs[k], tangent) if by_velocity else tangent
            result = jvp(graph, result, chosen, rates)
            inputs = [*inputs, *tangents]
        else:
            cotangent = graph.argument(len(inputs), len(result))
            gradient = iter(vjp(graph, result, chosen, cotangent))
            result = []
            for k, by_velocity in zip(product.places, turned, strict=True):
                part = [next(gradient) for _ in inputs[k]]
                result += _by_velocities(graph, model, inputs[k], part) if by_velocity else part
            inputs = [*inputs, cotangent]
    return inputs, result


def _by_velocities(graph: Graph, model: Model, q: list[Node], gradient: list[Operand]) -> list[Operand]:
    """The gradient for velocities, from that for the numbers of q."""
    v = graph.argument(-1, model.nv)  # the rates are linear in it, so that it does not occur in the gradient
    return vjp(graph, coordinate_rates(model, q, v), v, gradient)
