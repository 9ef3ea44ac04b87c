"""One module of LLVM IR: what all code needs, then cores of tapes and the entry points that call them."""

from __future__ import annotations

from collections.abc import Mapping

from chainrule.compile.codegen import batch_loop, bytecode, elementary, streaming_stores
from chainrule.compile.codegen.vectorize import Core, Lanes
from chainrule.compile.tape import Tape


class IrModule:
    """The text of a module, put together part by part."""

    def __init__(self) -> None:
        self._parts = [elementary.SYSTEM, batch_loop.DECLARATIONS]

    def add_cores(self, tapes: Mapping[str, Tape], lanes: Lanes) -> int:
        """Add a core function for each tape, by name, and the elementary functions that they call.

        Returns the bytes of scratch memory that the largest core needs.
        """
        self._parts.append(elementary.functions(lanes, tapes.values()))
        return max(self._add_core(tape, lanes, name) for name, tape in tapes.items())

    def _add_core(self, tape: Tape, lanes: Lanes, name: str) -> int:
        if not bytecode.is_long(tape):
            core = Core(tape, lanes, name)
            self._parts.append(core.text)
            return core.scratch_bytes
        data = bytecode.encode(tape)
        self._parts.append(bytecode.core(tape, data, lanes, name))
        return bytecode.scratch_size(data, lanes)

    def add_tiles(self, lanes: Lanes) -> None:
        """Add the functions that move rows of arrays into tiles and back."""
        self._parts += [batch_loop.masked_declarations(lanes), batch_loop.pack(lanes), batch_loop.unpack(lanes)]

    def add(self, text: str) -> None:
        """Add declarations, or an entry point."""
        self._parts.append(text)

    def text(self) -> str:
        """The whole."""
        return "".join([*self._parts, elementary.LIKELY])


def batch_module(tape: Tape, signature: batch_loop.CoreSignature, lanes: Lanes) -> IrModule:
    """The module of a ufunc's inner loop, `loop`."""
    module = IrModule()
    lanes = bytecode.widen(tape, lanes)
    scratch = module.add_cores({"core": tape}, lanes)
    module.add_tiles(lanes)
    module.add(streaming_stores.stream(lanes))
    module.add(batch_loop.batch_loop(signature, lanes, "core", scratch, "loop"))
    return module
