"""From an algorithm and a robot to a tape: the algorithm runs on the nodes of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainrule.compile.differentiate import differentiate
from chainrule.compile.graph import Graph
from chainrule.compile.steps import Product
from chainrule.compile.tape import Tape
from chainrule.functions.reference import leaves
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model
from chainrule.model.parameters import family, parameter_length


def trace(
    model: Model, name: str, parameters: Sequence[str] = (), products: Sequence[Product] = (), **options: Any
) -> Tape:
    """The tape of a function of the table, for this model, or of its products with vectors.

    The parameters' numbers become further inputs.
    """
    entry = FUNCTIONS[name]
    own = entry.argument_lengths(model, options.get("loads", ()))
    lengths = (*own, *(parameter_length(model, parameter) for parameter in parameters))
    graph = Graph()
    scalars = graph.inputs(lengths)
    open_model = family(model, parameters, scalars[len(own) :], merged=not entry.whole)
    result = entry.compute(open_model, *scalars[: len(own)], **options)
    inputs, outputs = differentiate(graph, model, entry, scalars, list(leaves(result)), products)
    return graph.tape([len(x) for x in inputs], outputs)
