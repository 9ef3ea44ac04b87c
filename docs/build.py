"""Build the API pages: `make docs`."""

from pathlib import Path
from pkgutil import walk_packages

import pdoc

import chainrule

OUTPUT = Path(__file__).parents[1] / "build" / "docs"
INNER = {"chainrule.cli.main", "chainrule.cli.console", "chainrule.__main__"}

if __name__ == "__main__":
    found = (module.name for module in walk_packages(chainrule.__path__, "chainrule."))
    pdoc.render.configure(docformat="markdown")
    pdoc.pdoc("chainrule", *(name for name in found if name not in INNER), output_directory=OUTPUT)
    print(f"open {OUTPUT / 'index.html'}")
