"""Any tape as a function of NumPy arrays."""

from __future__ import annotations

import numpy as np

from chainrule.compile.emit import batch_loop, elementary
from chainrule.compile.emit.lanes import Lanes, core, scratch_size
from chainrule.compile.load import cache, engine, gufunc
from chainrule.compile.tape import Tape


def batch_function(tape: Tape, name: str, label: str) -> np.ufunc:
    """A generalised ufunc that computes a tape, a vector of its outputs for vectors of its inputs."""
    lanes = Lanes(64, engine.vector_bits() // 64)
    signature = batch_loop.Signature(tape.inputs, (len(tape.outputs),))
    text = "".join(
        [
            elementary.SYSTEM, batch_loop.DECLARATIONS, elementary.functions(lanes, [tape]), core(tape, lanes, "core"),
            batch_loop.masked(lanes), batch_loop.pack(lanes),
            batch_loop.unpack(lanes),
            batch_loop.batch_loop(signature, lanes, "core", scratch_size(tape, lanes), "loop"), elementary.LIKELY,
        ]
    )  # fmt: skip
    entry = cache.compiled(text, {"robot": label, "function": name, "bits": 64})
    code = engine.Code(entry.code)
    return gufunc.generalised_ufunc(None, code.address("loop"), name, label, signature.numpy, keep=code)
