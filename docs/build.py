"""Build the API pages: `make docs`."""

from pathlib import Path

import pdoc

OUTPUT = Path(__file__).parents[1] / "build" / "docs"
MODULES = ["chainrule", "!chainrule.cli", "!chainrule.show"]

if __name__ == "__main__":
    pdoc.render.configure(docformat="markdown")
    pdoc.pdoc(*MODULES, output_directory=OUTPUT)
    print(f"open {OUTPUT / 'index.html'}")
