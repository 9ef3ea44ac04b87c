"""Old module paths that keep working: `import chainrule.inverse` finds `chainrule.inverse_kinematics`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "inverse": "inverse_kinematics",
    "inverse.analytic": "inverse_kinematics.analytic",
    "symbolic.steps": "symbolic.derivations",
    "symbolic.writers": "symbolic.documents",
    "construction": "robot.building",
    "editing": "robot.edits",
    "library": "robot.library",
    "human": "robot.human",
    "evaluation": "core.mechanism",
    "checks": "core.validation",
    "tables": "core.results",
    "reference": "functions.reference",
    "closing": "loops.closure",
    "mobility": "loops.mobility",
    "dae": "dynamics.dae",
    "bench": "cli.bench",
    "show": "cli.console",
    "model.kinds": "model.joints",
    "formats.numbers": "formats.exact",
    "algorithms.drives": "algorithms.joint_forces",
    "algorithms.constraints": "algorithms.loop_equations",
    "compile.loops": "compile.emit.batch_loop",
    "compile.lanes": "compile.emit.lanes",
    "compile.elementary": "compile.emit.elementary",
    "compile.plain": "compile.emit.single_call",
    "compile.c": "compile.emit.c",
    "compile.engine": "compile.load.engine",
    "compile.cache": "compile.load.cache",
    "compile.gufunc": "compile.load.gufunc",
    "compile.threads": "compile.load.threads",
    "inverse.targets": "inverse_kinematics.request",
    "inverse.goals": "inverse_kinematics.goals",
    "inverse.iteration": "inverse_kinematics.methods",
    "inverse.solve": "inverse_kinematics.solve",
    "inverse.solver": "inverse_kinematics.iterate",
    "inverse.search": "inverse_kinematics.search",
    "inverse.seeds": "inverse_kinematics.seeds",
    "inverse.posture": "inverse_kinematics.posture",
    "inverse.result": "inverse_kinematics.result",
    "inverse.following": "inverse_kinematics.path",
    "inverse.turns": "inverse_kinematics.periods",
    "inverse.analytic.axes": "inverse_kinematics.analytic.axes",
    "inverse.analytic.parallel": "inverse_kinematics.analytic.parallel",
    "inverse.analytic.subproblems": "inverse_kinematics.analytic.subproblems",
    "inverse.analytic.wrist": "inverse_kinematics.analytic.wrist",
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
    "control.requirements": "control.laws.requirements",
    "simulation.setup": "simulation.request",
    "simulation.stepper": "simulation.steppers",
    "simulation.run": "simulation.fixed_step",
    "simulation.command": "cli.simulate",
    "simulation.plots": "plots.trajectory",
    "kinematics.report": "cli.report",
    "plots.along": "plots.manipulability",
    "symbolic.command": "cli.equations",
    "symbolic.ring": "symbolic.algebra.ring",
    "symbolic.factors": "symbolic.algebra.factors",
    "symbolic.naming": "symbolic.algebra.naming",
    "symbolic.numbers": "symbolic.algebra.numbers",
    "symbolic.translation": "symbolic.algebra.translation",
    "symbolic.textbook": "symbolic.algebra.textbook",
    "symbolic.steps.units": "symbolic.algebra.units",
    "symbolic.kinematics_form": "symbolic.closed_form.kinematics",
    "symbolic.grouping": "symbolic.closed_form.base_parameters",
    "symbolic.intermediate": "symbolic.closed_form.intermediate",
    "symbolic.bodies": "symbolic.lagrange.bodies",
    "symbolic.coordinates": "symbolic.lagrange.coordinates",
    "symbolic.equilibria": "symbolic.lagrange.equilibria",
    "symbolic.linearisation": "symbolic.lagrange.linearization",
    "symbolic.conserved": "symbolic.lagrange.conserved",
    "symbolic.numerical": "symbolic.lagrange.numerical",
    "symbolic.wellposed": "symbolic.lagrange.wellposed",
    "symbolic.layout": "symbolic.lagrange.page",
    "symbolic.derivation": "symbolic.derivations.derivation",
    "symbolic.steps.lagrange": "symbolic.derivations.lagrange",
    "symbolic.steps.matrices": "symbolic.derivations.matrix_form",
    "symbolic.steps.names": "symbolic.derivations.names",
    "symbolic.steps.newton_euler": "symbolic.derivations.newton_euler",
    "symbolic.steps.opening": "symbolic.derivations.opening",
    "symbolic.steps.other_units": "symbolic.derivations.other_units",
    "symbolic.steps.result": "symbolic.derivations.result",
    "symbolic.steps.setting": "symbolic.derivations.setting",
    "symbolic.document": "symbolic.documents.document",
    "symbolic.printing": "symbolic.documents.printing",
    "symbolic.mathml": "symbolic.documents.mathml",
    "symbolic.formula": "symbolic.documents.formula",
    "symbolic.plain": "symbolic.documents.plain",
    "symbolic.summary": "symbolic.documents.summary",
    "symbolic.writers.breaking": "symbolic.documents.breaking",
    "symbolic.writers.html": "symbolic.documents.html",
    "symbolic.writers.markdown": "symbolic.documents.markdown",
    "symbolic.writers.terminal": "symbolic.documents.terminal",
    "symbolic.writers.tex": "symbolic.documents.tex",
    "symbolic.exports": "symbolic.source_code.exports",
    "symbolic.dialects": "symbolic.source_code.dialects",
}
"""Old path -> new path, both below `chainrule`; what lies below an old path has moved along with it."""


def new_path(name: str) -> str | None:
    """Where a module has moved to, or None if it has not."""
    package, _, old = name.partition(".")
    if package != "chainrule" or not old:
        return None
    head, tail = old, ""
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
        return None if new_path(fullname) is None else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of the empty one that was made for the old path."""
        path = new_path(module.__name__)
        if path is not None:
            sys.modules[module.__name__] = import_module(path)


def install() -> None:
    """Let old paths be found. First in line, since a folder that has moved would be found again under its old name."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
