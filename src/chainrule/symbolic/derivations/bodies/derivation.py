"""Derivations of the laws of a rigid body, as documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chainrule.errors import UnknownNameError
from chainrule.model import Link
from chainrule.symbolic.derivations.bodies.newton_euler import newton_euler
from chainrule.symbolic.derivations.bodies.problem import BodyProblem
from chainrule.symbolic.derivations.bodies.rotation import rotated_inertia
from chainrule.symbolic.derivations.bodies.steiner import steiners_theorem
from chainrule.symbolic.derivations.bodies.transport import transport_theorem
from chainrule.symbolic.documents.blocks import Block
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.printing import Style

METHODS: dict[str, tuple[str, Callable[[BodyProblem], list[Block]]]] = {
    "newton-euler": ("The equations of Newton and Euler of a rigid body", newton_euler),
    "steiner": ("Steiner's theorem", steiners_theorem),
    "rotation": ("The inertia matrix in other axes", rotated_inertia),
    "transport": ("The transport theorem", transport_theorem),
}
"""Kinds of derivations, by the name that users give: the title of the document, and what writes its sections."""


def derivation(link: Link, method: str, numbers: Mapping[str, Any] | None) -> Document:
    """A law of rigid bodies derived for a body, given as a link: see `RigidBody.derivation`."""
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownNameError.of("method", method, METHODS, "a derivation of a rigid body")
    title, sections = METHODS[method]
    problem = BodyProblem.of(link, numbers)
    reserved = frozenset(symbol.name for symbol in problem.values)
    return Document(title, tuple(sections(problem)), Style(reserved=reserved))
