"""The library's own source files, parsed: modules, and what each imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import chainrule

ROOT = Path(chainrule.__file__).parent


@dataclass(frozen=True)
class Import:
    """One import of a module of the library by another, and where it stands."""

    importer: str
    imported: str
    place: str  # "top", "function" or "types"
    line: int


@cache
def modules() -> dict[str, Path]:
    """All modules of the library, by their dotted path below `chainrule`; the package itself is ""."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


@cache
def imports() -> tuple[Import, ...]:
    return tuple(item for module in modules() for item in _imports_of(module))


def _imports_of(module: str) -> Iterator[Import]:
    def visit(node: ast.AST, place: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            here = place
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                here = "function"
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                here = "types"
            if isinstance(child, ast.ImportFrom) and child.module:
                for alias in child.names:
                    target = _target(child.module, alias.name)
                    if target is not None:
                        yield Import(module, target, here, child.lineno)
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    target = _target(alias.name, "")
                    if target is not None:
                        yield Import(module, target, here, child.lineno)
            yield from visit(child, here)

    yield from visit(tree(module), "top")


def _target(module: str, name: str) -> str | None:
    """The module of the library that an import reads: the submodule `name` of it, or itself."""
    package, _, path = module.partition(".")
    if package != "chainrule":
        return None
    inner = f"{path}.{name}" if path else name
    return inner if inner in modules() else path
