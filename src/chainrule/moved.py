"""Old module paths that keep working: `import chainrule.inverse` finds `chainrule.inverse_kinematics`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "inverse": "inverse_kinematics",
    "symbolic.steps": "symbolic.derivations",
    "symbolic.writers": "symbolic.documents",
    "library": "robot.library",
    "human": "robot.human",
    "reference": "functions.reference",
    "dae": "dynamics.dae",
    "model.kinds": "model.joints",
    "formats.numbers": "formats.exact",
    "algorithms.drives": "algorithms.joint_forces",
    "inverse.targets": "inverse_kinematics.request",
    "inverse.iteration": "inverse_kinematics.methods",
    "inverse.solver": "inverse_kinematics.iterate",
    "inverse.following": "inverse_kinematics.path",
    "inverse.turns": "inverse_kinematics.periods",
    "control.curves": "control.motions.curves",
    "control.timing": "control.motions.timing",
    "control.limits": "control.motions.limits",
    "control.planning": "control.motions.planning",
    "control.poses": "control.motions.poses",
    "control.references": "control.motions.references",
    "control.controller": "control.laws.controller",
    "control.targets": "control.laws.targets",
    "control.joint_space": "control.laws.joint_space",
    "control.task_space": "control.laws.task_space",
    "simulation.setup": "simulation.request",
    "simulation.stepper": "simulation.steppers",
    "simulation.run": "simulation.fixed_step",
    "simulation.plots": "plots.trajectory",
    "plots.along": "plots.manipulability",
    "symbolic.ring": "symbolic.algebra.ring",
    "symbolic.factors": "symbolic.algebra.factors",
    "symbolic.naming": "symbolic.closed_form.symbolic_model",
    "symbolic.numbers": "symbolic.algebra.numbers",
    "symbolic.translation": "symbolic.algebra.translation",
    "symbolic.textbook": "symbolic.algebra.textbook",
    "symbolic.steps.units": "symbolic.algebra.units",
    "symbolic.kinematics_form": "symbolic.closed_form.kinematics",
    "symbolic.grouping": "symbolic.closed_form.equations",
    "symbolic.intermediate": "symbolic.closed_form.intermediate",
    "symbolic.bodies": "symbolic.lagrange.bodies",
    "symbolic.equilibria": "symbolic.lagrange.equilibria",
    "symbolic.linearisation": "symbolic.lagrange.linearization",
    "symbolic.conserved": "symbolic.lagrange.conserved",
    "symbolic.numerical": "symbolic.lagrange.numerical",
    "symbolic.wellposed": "symbolic.lagrange.well_posedness",
    "symbolic.layout": "symbolic.lagrange.text",
    "symbolic.derivation": "symbolic.derivations.derivation",
    "symbolic.steps.matrices": "symbolic.derivations.matrix_form",
    "symbolic.steps.names": "symbolic.derivations.latex_names",
    "symbolic.steps.opening": "symbolic.derivations.introduction",
    "symbolic.steps.other_units": "symbolic.derivations.unit_check",
    "symbolic.steps.result": "symbolic.derivations.final_equations",
    "symbolic.steps.setting": "symbolic.derivations.problem",
    "symbolic.document": "symbolic.documents.document",
    "symbolic.printing": "symbolic.documents.printing",
    "symbolic.mathml": "symbolic.documents.mathml",
    "symbolic.formula": "symbolic.documents.formula",
    "symbolic.plain": "symbolic.documents.plain_text",
    "symbolic.summary": "symbolic.closed_form.summary",
    "symbolic.writers.breaking": "symbolic.documents.line_breaks",
    "symbolic.writers.tex": "symbolic.documents.latex",
    "symbolic.exports": "symbolic.source_code.exports",
    "symbolic.dialects": "symbolic.source_code.languages",
}
"""Old path -> new path, both below `chainrule`; what lies below an old path has moved along with it."""

SPLIT = {
    "algorithms.constraints": ("algorithms.loop_equations", "algorithms.loop_dynamics", "algorithms.loop_projection"),
    "algorithms.loop_torques": ("algorithms.loop_dynamics",),
}
"""Old path -> the modules that its names are in now."""

RENAMED = {
    "Tie": "PosedConstraint",
    "ties": "posed_constraints",
    "wrenches_of": "unit_wrenches",
    "wrench_rates": "unit_wrench_rates",
    "chosen": "select",
    "DEPENDENT": "MIN_PIVOT_RATIO",
    "shared_torque": "actuated_torque",
}
"""Old name -> new name, for the names of split modules."""


def new_path(name: str) -> str | None:
    """The path that a module has moved to, or None if it has not moved."""
    head, tail = _below_package(name), ""
    while head:
        if head in MOVED:
            return f"chainrule.{MOVED[head]}{tail}"
        head, dot, last = head.rpartition(".")
        tail = f"{dot}{last}{tail}"
    return None


class MovedModules(MetaPathFinder, Loader):
    """Imports the module of today under its old path: one module under two names, not two copies of it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for old paths only."""
        is_old = new_path(fullname) is not None or _below_package(fullname) in SPLIT
        return ModuleSpec(fullname, self) if is_old else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of the empty one, or let that one forward to several modules."""
        path = new_path(module.__name__)
        if path is not None:
            sys.modules[module.__name__] = import_module(path)
        else:
            parts = [import_module(f"chainrule.{part}") for part in SPLIT[_below_package(module.__name__)]]
            vars(module)["__getattr__"] = partial(_attribute, module.__name__, parts)


def _below_package(name: str) -> str:
    """The path of a module below `chainrule`, or an empty one for modules of other packages."""
    package, _, path = name.partition(".")
    return path if package == "chainrule" else ""


def _attribute(module: str, parts: Sequence[ModuleType], name: str) -> Any:
    """An attribute of a split module, from the first of its parts that has it."""
    today = RENAMED.get(name, name)
    for part in parts:
        if hasattr(part, today):
            return getattr(part, today)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def install() -> None:
    """Let old paths be found. First in line, since a folder that has moved would be found again under its old name."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
