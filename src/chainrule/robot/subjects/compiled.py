"""`robot.compiled`: kernels, and source code made of them."""

from __future__ import annotations

from chainrule.core.evaluation import kernel_of
from chainrule.core.export import export
from chainrule.core.subject import RobotSubject, method


class Compiled(RobotSubject):
    """The machine code of a robot's functions."""

    kernel = method(kernel_of)
    export = method(export)
