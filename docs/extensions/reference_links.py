"""Links that pages do not write out: code such as `robot.pose(q)` leads to its entry in the reference."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT_PAGES = {"ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY"}
"""Files of the repository's root, which are pages below `more`."""

NAME = re.compile(r"((?:robot|cr)(?:\.[a-zA-Z]\w*)+)(?:\(.*\))?", re.DOTALL)
CALL = re.compile(r"([a-z_]+(?:\.[a-z_]+)?)\(.*\)", re.DOTALL)
"""A function of a robot, called without the robot: `inverse_dynamics(q, qd, qdd)`, `analysis.ellipsoid(q)`."""


class LinkNames(SphinxPostTransform):
    """Make a reference of each piece of inline code that is a public name, called or not."""

    default_priority = 5

    def run(self, **options):
        """Look each name up among the objects of the reference."""
        objects = self.env.domains["py"].objects
        for literal in list(self.document.findall(nodes.literal)):
            name = _name(literal.astext())
            if name not in objects:
                continue
            if any(
                isinstance(parent, (nodes.reference, addnodes.pending_xref, nodes.title)) for parent in _above(literal)
            ):
                continue
            entry = objects[name]
            link = nodes.reference("", "", internal=True)
            link["refuri"] = self.app.builder.get_relative_uri(self.env.docname, entry.docname) + f"#{entry.node_id}"
            literal.replace_self(link)
            link += literal


def _name(text):
    """The public name that a piece of code calls, or ""."""
    if found := NAME.fullmatch(text):
        return found[1]
    found = CALL.fullmatch(text)
    return f"robot.{found[1]}" if found else ""


class LinkRootPages(SphinxPostTransform):
    """Make links to files of the repository's root lead to the pages that include them."""

    default_priority = 5

    def run(self, **options):
        """Resolve them before MyST finds that these are no pages."""
        for xref in list(self.document.findall(addnodes.pending_xref)):
            _give_title(xref, self.env)
            name = xref.get("reftarget", "").rpartition("/")[2].removesuffix(".md")
            if name in ROOT_PAGES:
                uri = self.app.builder.get_relative_uri(self.env.docname, f"more/{name.lower()}")
                xref.replace_self(nodes.reference("", "", *xref.children, refuri=uri, internal=True))


def _give_title(xref, env):
    """Make a link that is written as the name of a file read as the title of its page."""
    title = env.titles.get(xref.get("reftarget"))
    if xref.get("refdomain") == "doc" and title is not None and xref.astext().endswith(".md"):
        del xref[:]
        xref += nodes.inline("", title.astext())


def _above(node):
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app):
    """The extension."""
    app.add_post_transform(LinkNames)
    app.add_post_transform(LinkRootPages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
