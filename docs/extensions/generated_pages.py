"""The directive `generated`: Markdown that a function of a module beside this file writes when the site is built.

```{generated} speed.processor
```
"""

from importlib import import_module

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


class Generated(SphinxDirective):
    """What `module.function(*lines of the directive's body)` returns, as a part of the page."""

    required_arguments = 1
    has_content = True

    def run(self):
        """The nodes of the text."""
        module, _, function = self.arguments[0].rpartition(".")
        text = getattr(import_module(module), function)(*filter(None, self.content))
        lines = text.splitlines()
        return self.parse_content_to_nodes_of(lines)

    def parse_content_to_nodes_of(self, lines):
        """Parse lines as Markdown in the place of the directive, headings included."""
        from docutils import nodes

        holder = nodes.Element()
        holder.document = self.state.document
        self.state.nested_parse(
            StringList(lines, source=self.arguments[0]), self.content_offset, holder, match_titles=True
        )
        return holder.children


def setup(app):
    """The extension."""
    app.add_directive("generated", Generated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
