"""Examples without the blank line that ends them for the doctests."""

from docutils import nodes
from sphinx.transforms import SphinxTransform


class StripExamples(SphinxTransform):
    """Take blank lines from the end of blocks of code."""

    default_priority = 400

    def apply(self, **options):
        """Look at all blocks of the page."""
        for block in self.document.findall(nodes.literal_block):
            text = block.astext()
            if text.endswith("\n") and not block.children[1:]:
                block.rawsource = text.rstrip("\n")
                block.children = []
                block += nodes.Text(text.rstrip("\n"))


def setup(app):
    """The extension."""
    app.add_transform(StripExamples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
