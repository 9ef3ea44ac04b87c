"""From an algorithm and a robot to a tape: the algorithm runs on the nodes of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from chainrule.algorithms.configuration import integrate
from chainrule.compile.autodiff import differentiate
from chainrule.compile.graph import Graph
from chainrule.compile.jacobian_products import JacobianProduct
from chainrule.compile.tape import Tape
from chainrule.functions.reference import evaluate, leaves, scalars_of, stack
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model
from chainrule.model.normal_frames import frames_on_normals, has_frames_on_axes, original_frame
from chainrule.model.parameters import parameter_length, with_parameters

MAX_COMPARED_BODIES = 16
"""Bodies up to which a function is traced with both kinds of frames, and the shorter tape is taken."""

MAX_DIFFERENCE = 1e-14
"""Difference of torques with both kinds of frames, as a share of the largest, that is put down to rounding.

Both sums round at each body: random chains were seen to differ by 4e-15 for 15 bodies and by 3e-14 for 200. So the
bound grows by itself with every 16 bodies.
"""


def trace(
    model: Model, name: str, parameters: Sequence[str] = (), products: Sequence[JacobianProduct] = (), **options: Any
) -> Tape:
    """The tape of a function of the table, for this model, or of its products with vectors.

    The parameters' numbers become further inputs. Where no frame of a link shapes the answer, links have the frames of
    the description or those on common normals, whichever take fewer operations: the same for a robot however it is
    described.
    """
    if parameters or model.constraints or not FUNCTIONS[name].on_any_frames:
        return trace_as_described(model, name, parameters, products, **options)
    moved = _on_normals(model)
    if moved is None:
        return trace_as_described(model, name, parameters, products, **options)
    loads = {"loads": [original_frame(model, x) for x in options["loads"]]} if options.get("loads") else {}
    on_normals = partial(trace_as_described, moved, name, (), products, **options | loads)
    as_described = partial(trace_as_described, model, name, (), products, **options)
    if len(model.bodies) > MAX_COMPARED_BODIES:
        return as_described() if has_frames_on_axes(model) else on_normals()
    return min(as_described(), on_normals(), key=Tape.flops)


@lru_cache(maxsize=64)
def _on_normals(model: Model) -> Model | None:
    """The robot with frames on common normals, or None where its torques are not those of the description.

    They are compared at two random states, with NumPy's numbers.
    """
    moved = frames_on_normals(model)
    rng = np.random.default_rng(0)
    v, qd, qdd = rng.normal(size=(3, 2, model.nv))
    neutral = [np.full(2, x) for places in model.layout.joints for x in places.joint.kind.neutral()]
    q = stack(integrate(model, neutral, scalars_of(v)), (2,), (model.nq,))
    expected, found = (evaluate(m, "inverse_dynamics", [q, qd, qdd], frame="body", loads=()) for m in (model, moved))
    bound = MAX_DIFFERENCE * (1 + len(model.bodies) / 16) * np.abs(expected).max(axis=-1, initial=0, keepdims=True)
    return moved if np.all(np.abs(found - expected) <= bound) else None


def trace_as_described(
    model: Model, name: str, parameters: Sequence[str] = (), products: Sequence[JacobianProduct] = (), **options: Any
) -> Tape:
    """The tape of a function with the model's own frames of links."""
    entry = FUNCTIONS[name]
    own = entry.argument_lengths(model, options)
    lengths = (*own, *(parameter_length(model, parameter) for parameter in parameters))
    graph = Graph()
    scalars = graph.inputs(lengths)
    open_model = with_parameters(model, parameters, scalars[len(own) :], merged=not entry.whole)
    result = entry.compute(open_model, *scalars[: len(own)], **options)
    inputs, outputs = differentiate(graph, model, entry, scalars, list(leaves(result)), products)
    return graph.tape([len(x) for x in inputs], outputs)
