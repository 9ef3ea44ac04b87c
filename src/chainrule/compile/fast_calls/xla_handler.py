"""Handlers of XLA's foreign function interface, made from compiled code."""

from __future__ import annotations

from chainrule.compile.codegen.batch_loop import CoreSignature
from chainrule.compile.codegen.module import batch_module
from chainrule.compile.fast_calls.gufunc import InnerLoop
from chainrule.compile.fast_calls.xla_call import xla_handler
from chainrule.compile.runtime import engine
from chainrule.compile.tape import Instruction, Tape


class XlaHandler:
    """A function at an address that XLA can call, and the code that it needs.

    XLA does not say when it has called for the last time, so that whoever registers a handler keeps it for ever.
    """

    def __init__(self, loop: InnerLoop, signature: CoreSignature, bits: int) -> None:
        self._loop = loop
        text = xla_handler(signature, bits, loop.address, loop.data, "handler")
        self._handler = engine.MachineCode(engine.compile_text(text))

    @property
    def address(self) -> int:
        """The address of the handler."""
        return self._handler.address("handler")


def self_test_handler() -> XlaHandler:
    """A handler that gives the sum of two floats, for a test of the interface."""
    two = (Instruction("input", entry=0), Instruction("input", entry=1))
    tape = Tape((2,), (*two, Instruction("add", (0, 1))), (2,))
    signature = CoreSignature(tape.inputs, (1,))
    text = batch_module(tape, signature, engine.lanes(32)).text()
    return XlaHandler(InnerLoop(engine.MachineCode(engine.compile_text(text))), signature, 32)
