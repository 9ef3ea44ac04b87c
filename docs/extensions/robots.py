"""The directive `robot`: a robot in a page of its own, drawn by `robot.show`, in a frame.

```{robot} panda
:height: 480
:functions: inverse_dynamics pose
```
"""

import inspect
import os
import shutil
from hashlib import sha256
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

FOLDER = "robots"
HEIGHT = 420


class RobotFrame(SphinxDirective):
    """A frame with the page of a robot; frames of one robot share the page, which is loaded when it comes into view."""

    required_arguments = 1
    option_spec = {
        "height": directives.positive_int,
        "functions": directives.unchanged,
        "caption": directives.unchanged,
    }

    def run(self):
        """Write the page, once for each robot and its options, and the frame."""
        import chainrule as cr

        name, functions = self.arguments[0], (self.options.get("functions") or "").split()
        key = name if not functions else f"{name}_{sha256(' '.join(functions).encode()).hexdigest()[:8]}"
        path = _folder(self.env.app) / f"{key}.html"
        if not path.exists():
            robot = cr.load(name)
            takes = inspect.signature(robot.show).parameters
            part = path.with_name(f"{key}.{os.getpid()}.html")  # pages are read by several processes
            robot.show(path=part, **({"functions": functions} if functions and "functions" in takes else {}))
            part.replace(path)
        up = "../" * self.env.docname.count("/")
        title = self.options.get("caption", f"The robot {name}, which can be moved")
        html = (
            f'<iframe class="robot" src="{up}{FOLDER}/{key}.html" title="{escape(title)}" loading="lazy" '
            f'height="{self.options.get("height", HEIGHT)}"></iframe>'
        )
        return [nodes.raw("", html, format="html")]


def setup(app):
    """The extension."""
    app.add_directive("robot", RobotFrame)
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _folder(app):
    folder = Path(app.doctreedir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _copy(app, error):
    if error is None and app.builder.format == "html":
        shutil.copytree(_folder(app), Path(app.outdir) / FOLDER, dirs_exist_ok=True)
