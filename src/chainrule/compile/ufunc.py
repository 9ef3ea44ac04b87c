"""Any tape as a function of NumPy arrays."""

from __future__ import annotations

import numpy as np

from chainrule.compile.codegen.batch_loop import CoreSignature
from chainrule.compile.codegen.module import batch_module
from chainrule.compile.fast_calls import gufunc
from chainrule.compile.runtime import disk_cache, engine
from chainrule.compile.tape import Tape


def compile_ufunc(tape: Tape, name: str, label: str) -> np.ufunc:
    """A generalized ufunc that computes a tape, a vector of its outputs for vectors of its inputs."""
    signature = CoreSignature(tape.inputs, (len(tape.outputs),))
    text = batch_module(tape, signature, engine.lanes(64)).text()
    entry = disk_cache.read_or_compile(text, {"robot": label, "function": name, "bits": 64})
    loop = gufunc.InnerLoop(engine.MachineCode(entry.code))
    return gufunc.generalized_ufunc(None, loop, name, label, gufunc.core_signature(signature.inputs, signature.output))
