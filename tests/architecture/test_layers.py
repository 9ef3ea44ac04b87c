"""Imports point upward in the tree of ARCHITECTURE.md, and never in a circle."""

from __future__ import annotations

import pytest

from architecture.sources import Import, imports, modules

pytestmark = pytest.mark.interpreted


LAYERS = (
    "lazy", "errors", "quantities", "display", "spatial", "model", "calls", "arguments", "algorithms", "formats",
    "functions", "compile", "core", "statistics", "doctor", "loops", "dynamics", "kinematics", "shapes", "bodies", "planning", "identification", "inverse_kinematics", "control",
    "simulation", "motion", "symbolic", "plots", "figures", "frameworks", "robot", "wheels", "exercises", "study", "cluster", "studio", "pages", "cli",
)  # fmt: skip
"""A module imports from its own package and from those before it."""

FOLDERS_OF_THE_COMPILER = ("codegen", "runtime", "fast_calls", "cuda")
"""A module of one of them imports from its own folder and from those before it."""

UPWARD = {
    ("core.subject", "robot.advice"): "what a name that a subject does not have is called",
    ("kinematics.workspace", "cluster.reach"): "workspace(cell=...), whose blocks a cluster may count",
    ("kinematics.workspace_map", "robot.robot"): "WorkspaceMap.load makes the robot that the file holds",
    ("simulation.trajectory", "plots.cards"): "Trajectory as a notebook shows it",
    ("simulation.trajectory", "robot.robot"): "Trajectory.load makes the robot that the file holds",
    ("simulation.trajectory", "motion.files"): "Trajectory.load",
    ("symbolic.derivations.derivation", "figures.derivations"): "derivation(figures=True)",
    ("study.study", "cluster.studies"): "Study.run on a cluster",
}
"""Imports inside functions that point the other way: pictures that an object draws of itself, files that hold robots."""

METHODS = {
    ("kinematics.reach", "plots.workspace"): "Workspace.plot and WorkspaceMap.plot",
    ("inverse_kinematics.history", "plots.inverse_kinematics"): "History.plot",
    ("simulation.trajectory", "plots.trajectory"): "Trajectory.plot",
    ("simulation.trajectory", "plots.motion_planes"): "Trajectory.plot_torque_terms and its like",
    ("simulation.trajectory", "pages.show"): "Trajectory.show",
    ("simulation.trajectory", "motion.recorded"): "Trajectory.from_samples; Trajectory.load imports it in a function",
}
"""Methods that are functions of a later module, imported when they are first used; at the top for types alone."""

MUTUAL = {
    ("spatial.vector", "spatial.transform"),
    ("spatial.twist", "spatial.transform"),
    ("spatial.inertia", "spatial.transform"),
}
"""Imports for types alone among values that act on each other: T * V calls V, which names T's class."""


def layer(module: str) -> int:
    package = module.partition(".")[0]
    return LAYERS.index(package) if package else len(LAYERS)


def describe(item: Import) -> str:
    return f"{item.importer}:{item.line} imports {item.imported} ({item.place})"


def test_every_package_and_top_level_module_has_a_layer():
    found = {module.partition(".")[0] for module in modules()} - {"", "__main__"}
    assert found == set(LAYERS)


def test_imports_point_upward():
    wrong = [
        describe(item)
        for item in imports()
        if item.importer not in ("", "__main__")
        and layer(item.imported) > layer(item.importer)
        and item.imported  # the package itself: its version
        and (item.importer, item.imported) not in {*UPWARD, *METHODS}
    ]
    assert not wrong, "\n".join(wrong)


def test_the_folders_of_the_compiler_are_in_their_order():
    order = {name: k for k, name in enumerate(FOLDERS_OF_THE_COMPILER)}
    folder = lambda module: order.get(module.removeprefix("compile.").partition(".")[0], -1)  # noqa: E731
    wrong = [
        describe(x)
        for x in imports()
        if x.importer.startswith("compile.") and 0 <= folder(x.importer) < folder(x.imported)
    ]
    assert not wrong, "\n".join(wrong)
    assert set(order) == {
        module.split(".")[1] for module in modules() if module.startswith("compile.") and module.count(".") > 1
    }


def test_the_exceptions_are_still_there_and_inside_functions():
    found = {(item.importer, item.imported): item.place for item in imports()}
    assert {pair: found.get(pair) for pair in UPWARD} == dict.fromkeys(UPWARD, "function")
    assert {pair: found.get(pair) for pair in MUTUAL} == dict.fromkeys(MUTUAL, "types")
    for pair in METHODS:
        places = {item.place for item in imports() if (item.importer, item.imported) == pair}
        assert "types" in places <= {"types", "function"}, pair


def test_no_import_cycles_types_included():
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for item in imports():
        if item.imported != item.importer and (item.importer, item.imported) not in {*UPWARD, *MUTUAL, *METHODS}:
            graph[item.importer].add(item.imported)
    assert not list(cycles(graph))


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for node in graph:
        if node not in index:
            visit(node)
    return found
