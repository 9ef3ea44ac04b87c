"""Operators: functions of a robot as a framework of automatic differentiation sees them, each with its derivatives.

An operator takes vectors and gives a vector. Its derivatives are operators of the same kind, so that one rule for each
framework serves every function and every order. Configurations are their nq numbers as stored; a quaternion counts as
its unit multiple.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from chainrule.compile.backend import COMPILED, INTERPRETED, Backend, Call, active, is_worth_compiling
from chainrule.compile.jacobian_products import JacobianProduct, ProductKind
from chainrule.errors import UnknownNameError
from chainrule.lazy import cached_property

if TYPE_CHECKING:
    from chainrule.compile.cuda.kernel import CudaKernel
    from chainrule.compile.fast_calls.xla_handler import XlaHandler
    from chainrule.compile.tape import Tape

_known: dict[str, Operator] = {}
"""Operators by the digests of what they compute. Graphs of frameworks hold digests, so that these stay."""


def product_key(key: str, kind: ProductKind, places: Sequence[int]) -> str:
    """The key of a product of the operator of a key, as of `Operator.product`."""
    return f"{key}/{kind}-{'-'.join(map(str, places))}"


@dataclass(frozen=True)
class Operator:
    """A function of vectors: arrays (..., length) in, one array (..., size) out, batch dimensions being equal."""

    call: Call
    digest: str
    steps: tuple[JacobianProduct, ...] = ()
    backend: Backend = field(default=INTERPRETED, compare=False, repr=False)

    @staticmethod
    def of(call: Call, backend: Backend) -> Operator:
        """The operator of a function, which is known by its key from now on."""
        what = f"{backend.compiles} {call.fingerprint} {call.function} {call.options!r}"
        digest = hashlib.sha256(what.encode()).hexdigest()[:32]
        return _known.setdefault(digest, Operator(call, digest, (), backend))

    @staticmethod
    def find(key: str) -> Operator:
        """The operator of a key."""
        digest, *steps = key.split("/")
        if digest not in _known:
            raise UnknownNameError(
                "this graph calls a function of a robot that this process has not made; call the function of "
                "robot.torch or robot.jax once before the graph is run"
            )
        operator = _known[digest]
        for step in steps:
            kind, _, places = step.partition("-")
            operator = operator.product(kind, [int(k) for k in places.split("-")])  # type: ignore[arg-type]
        return operator

    @cached_property
    def key(self) -> str:
        """Letters and digits that say what it computes, the same in every process."""
        key = self.digest
        for kind, places, _ in self.steps:
            key = product_key(key, kind, places)
        return key

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The length of each argument."""
        return self._call.signature[0]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result for one state, of which the result is the flat list."""
        return self._call.signature[1]

    @cached_property
    def size(self) -> int:
        """The length of the result."""
        return math.prod(self.shape)

    @cached_property
    def _call(self) -> Call:
        options = dict(self.call.options) | ({"products": self.steps} if self.steps else {})
        return Call.of(self.call.model, self.call.function, options)

    @cached_property
    def _products(self) -> dict[tuple[ProductKind, tuple[int, ...]], Operator]:
        return {}

    def product(self, kind: ProductKind, places: Sequence[int]) -> Operator:
        """The product of its Jacobian with tangents of the arguments at these places, or with a cotangent."""
        which = (kind, tuple(places))
        if which not in self._products:
            self._products[which] = replace(self, steps=(*self.steps, JacobianProduct(*which)))
        return self._products[which]

    def __call__(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The result for arrays of NumPy; in single precision if all of them are."""
        result = active(self.backend).evaluate(self._call, arrays)
        single = all(array.dtype == "float32" for array in arrays)
        return result.reshape((*arrays[0].shape[:-1], self.size)).astype("float32" if single else "float64", copy=False)

    def xla_handler(self, bits: int) -> XlaHandler | None:
        """Compiled code in one precision that XLA can call; None where the operator is not compiled."""
        if not active(self.backend).compiles or not is_worth_compiling(self._call):
            return None
        return COMPILED.kernel(self._call).xla_handler(bits)

    @cached_property
    def cuda_kernel(self) -> CudaKernel:
        """The kernel for graphics processors; it is kept, for a captured graph may launch it at any time."""
        return COMPILED.cuda_kernel(self._call)

    @property
    def tape(self) -> Tape:
        """Its arithmetic."""
        from chainrule.compile.trace import trace

        return trace(self.call.model, self.call.function, **dict(self._call.options))
