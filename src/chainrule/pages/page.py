"""One page of HTML, joined from its parts: styles, scripts, the functions of a robot, and what is known of it.

A policy in the page lets the browser run this one script and load nothing. Names of the robot's files are in the title,
escaped, and in the data of the script, as texts of JSON; the scripts put them into the page as text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html import escape
from importlib import resources
from string import Template

from chainrule.arguments import Array
from chainrule.compile.codegen.javascript import literal, namespace
from chainrule.core.mechanism import Mechanism
from chainrule.errors import visible
from chainrule.pages.content import PageContent

SCRIPTS = ("algebra", "words", "robot", "simulation", "scene", "picture", "panels", "page")
"""In the order in which they import each other."""

MODULE_WORDS = re.compile(r"^import [^;]*;\n|^export (?=const |class |(?:async )?function )|^ *//.*\n", re.MULTILINE)
"""What only separate files need: imports, exports and comments."""


def page(robot: Mechanism, q: Array, step: float = 0.0, *, dark: bool | None = None) -> str:
    """The HTML of a page with a robot in postures q (k, nq), one every `step` seconds; one posture is no motion.

    dark: True or False; None follows the reader's own choice.
    """
    content = PageContent(robot, q, step)
    theme = None if dark is None else "dark" if dark else "light"
    script = "".join(
        (
            namespace("exported", content.tapes, content.about),
            f"const data={literal({**content.data, 'theme': theme}, indent=None)};\n",
            scripts(),
            "start(exported,data);\n",
        )
    )
    style = _file("page.css")
    return Template(_file("page.html")).substitute(
        title=escape(visible(robot.name)), style=style, script=script, policy=policy(script, style)
    )


def policy(script: str, style: str) -> str:
    """The policy of a page, which lets it run this script and use this style, and load nothing."""
    return f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'"


@cache
def scripts() -> str:
    """The scripts of all pages as one."""
    return "".join(MODULE_WORDS.sub("", _file(f"{name}.js")) for name in SCRIPTS)


def _file(name: str) -> str:
    return resources.files("chainrule.pages").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
