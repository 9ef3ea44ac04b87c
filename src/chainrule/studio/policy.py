"""The page: viser's client behind a loading screen, under a policy by which no script runs but its own.

Names of links and joints come from files, and viser shows text as HTML in places: a name that is a script, or a picture
with one, must stay text that does nothing. The client's own scripts have a nonce that no file knows; what they make of
strings and blobs themselves (its decoder, its text renderer) may run.
"""

from __future__ import annotations

import gzip
import secrets
from pathlib import Path

from chainrule.studio.screen import LOADING, STYLE

TITLE = "chainrule studio"

OUTER_SCRIPT = "<script data-p="
INNER_SCRIPT = 'const e=document.createElement("script");e.type="module";'
"""The scripts of viser's page: one that unpacks, and the unpacked one, which it adds."""

ANCESTORS = "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*"
"""Pages that may show this one in a frame: those of this machine, such as notebooks."""


class SentPage:
    """The page as it is sent, and its policy."""

    def __init__(self) -> None:
        import viser

        text = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
        nonce = secrets.token_urlsafe(16)
        if text.count("<script") != 1 or OUTER_SCRIPT not in text or text.count(INNER_SCRIPT) != 1:
            raise RuntimeError("the page of this version of viser is made in another way than chainrule knows")
        text = text.replace(OUTER_SCRIPT, f'<script nonce="{nonce}" data-p=')
        text = text.replace(INNER_SCRIPT, f'{INNER_SCRIPT}e.nonce="{nonce}";')
        text = text.replace("<title>Viser</title>", f"<title>{TITLE}</title>{STYLE}")
        start, end = text.index("<script"), text.index("</script>") + len("</script>")
        script, text = text[start:end], text[:start] + text[end:]
        if text.count("<body>") != 1 or text.count("</body>") != 1:
            raise RuntimeError("the page of this version of viser is made in another way than chainrule knows")
        # most of the page is its script: the loading screen stands before it, and is seen at once
        text = text.replace("<body>", f"<body>{LOADING}").replace("</body>", f"{script}</body>")
        self.plain = text.encode()
        self.compressed = gzip.compress(self.plain, 1)  # most of it is compressed already
        self.policy = (
            f"default-src 'self'; script-src 'nonce-{nonce}' 'unsafe-eval' blob:; worker-src blob:; "
            "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
            "connect-src 'self' ws: wss: data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
            f"{ANCESTORS}"
        )
