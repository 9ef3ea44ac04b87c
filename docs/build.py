"""Build the API pages: `make docs`."""

from pathlib import Path
from pkgutil import walk_packages

import pdoc

import chainrule

OUTPUT = Path(__file__).parents[1] / "build" / "docs"
LEFT_OUT = ("chainrule.cli", "chainrule.__main__")
"""Modules without an API: the command line explains itself with `chainrule --help`."""

if __name__ == "__main__":
    names = [module.name for module in walk_packages(chainrule.__path__, "chainrule.")]
    pdoc.render.configure(docformat="markdown")
    pdoc.pdoc("chainrule", *(name for name in names if not name.startswith(LEFT_OUT)), output_directory=OUTPUT)
    print(f"open {OUTPUT / 'index.html'}")
