"""Any tape as a function of NumPy arrays."""

from __future__ import annotations

import numpy as np

from chainrule.compile import cache, elementary, engine, gufunc, loops
from chainrule.compile.lanes import Lanes, core, scratch_size
from chainrule.compile.tape import Tape


def batch_function(tape: Tape, name: str, label: str) -> np.ufunc:
    """A generalised ufunc that computes a tape, a vector of its outputs for vectors of its inputs."""
    lanes = Lanes(64, engine.vector_bits() // 64)
    signature = loops.Signature(tape.inputs, (len(tape.outputs),))
    text = "".join(
        [
            elementary.SYSTEM, loops.DECLARATIONS, elementary.functions(lanes, [tape]), core(tape, lanes, "core"),
            loops.masked(lanes), loops.pack(lanes),
            loops.unpack(lanes), loops.batch_loop(signature, lanes, "core", scratch_size(tape, lanes), "loop"),
            elementary.LIKELY,
        ]
    )  # fmt: skip
    entry = cache.compiled(text, {"robot": label, "function": name, "bits": 64})
    code = engine.Code(entry.code)
    return gufunc.generalised_ufunc(None, code.address("loop"), name, label, signature.numpy, keep=code)
