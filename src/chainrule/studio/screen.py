"""What the page shows around the robot: the loading screen, the row of tabs, a busy line, presentation and phones.

It is one style sheet in the page, and marks that a session puts on it: an element whose classes say what is so. No
script of the studio's own runs in the browser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainrule.display.tables import escape

if TYPE_CHECKING:
    from viser import GuiApi

MAX_TABS_IN_A_ROW = 10

MARKS = {
    "joined": "the session has begun",
    "ready": "the robot is in the scene",
    "busy": "something takes long",
    "presenting": "panels are hidden, and type is large",
}
"""The classes of the element with the marks, each after `studio-`."""

_STEPS = (
    ("Loading the page …", "8%", "body"),
    ("Starting the 3-D view …", "40%", "body:has([id=root] > *)"),
    ("Drawing the robot …", "75%", "body:has(.studio-joined)"),
)
"""The text and the progress of each step of loading, and what is on the page from then on."""


def _steps() -> str:
    rules = []
    for k, (_, share, begun) in enumerate(_STEPS):
        rules.append(f"{begun} .studio-loading i{{width:{share}}}")
        rules.append(f"{begun} .studio-loading p.step{k}{{display:block}}")
        if k:
            rules.append(f"{begun} .studio-loading p.step{k - 1}{{display:none}}")
    return "\n".join(rules)


def _open_tabs() -> str:
    opened = ",\n".join(
        f"div:has(> .studio-tab{k}) + div button:nth-of-type({k + 1})" for k in range(MAX_TABS_IN_A_ROW)
    )
    return f"{opened}{{color:var(--mantine-color-text);border-bottom-color:#1c64d2;font-weight:600}}"


STYLE = f"""<style>
.studio-loading{{position:fixed;inset:0;z-index:300;display:flex;flex-direction:column;align-items:center;
justify-content:center;gap:14px;font:15px/1.4 system-ui,sans-serif;color:#39424f;
background:linear-gradient(#ced8e5,#eef1f5);transition:opacity 0s 1e6s,visibility 0s 1e6s}}
.studio-loading b{{font-size:22px;font-weight:600;letter-spacing:-.3px}}
.studio-loading p{{margin:0;display:none}}
.studio-loading p.late{{display:block;opacity:0;animation:studio-late 0s 20s forwards;max-width:26em;text-align:center;
font-size:13px;color:#66707f}}
.studio-loading span{{width:240px;height:5px;border-radius:3px;background:#ffffffb0;overflow:hidden}}
.studio-loading i{{display:block;height:100%;border-radius:3px;background:#1c64d2}}
.studio-loading svg{{width:110px;height:110px}}
@keyframes studio-late{{to{{opacity:1}}}}
{_steps()}
body:has(.studio-ready) .studio-loading{{opacity:0;visibility:hidden;transition:opacity .25s,visibility .25s}}

div:has(> .studio-tabs) + div{{padding:0 0 6px;margin:0 0 0 -8px}}
div:has(> .studio-tabs) + div > div > div:first-child{{display:none}}
div:has(> .studio-tabs) + div > div > div:last-child > div{{flex-wrap:nowrap!important;gap:0!important;overflow-x:auto;
scrollbar-width:none;border-bottom:1px solid var(--mantine-color-default-border)}}
div:has(> .studio-tabs) + div button{{border:0;border-bottom:2px solid transparent;border-radius:0;background:none;
height:34px;padding:0 2px;font-size:12px;letter-spacing:-.1px;
font-weight:500;color:var(--mantine-color-dimmed);flex-basis:auto!important}}
{_open_tabs()}
div:has(> .studio-tabs) + div button:nth-last-of-type(n+8),
div:has(> .studio-tabs) + div button:nth-last-of-type(n+8) ~ button{{font-size:11px;letter-spacing:-.4px}}

#root div:has(> p > label){{min-width:6.6em}}

.studio-marks .work,.studio-marks .caption{{display:none;position:fixed;z-index:250;visibility:visible}}
.studio-busy .work{{display:block;left:16px;bottom:16px;padding:7px 14px 7px 34px;border-radius:17px;font-size:13px;
color:#fff;background:#1d2430e0;animation:studio-late .2s}}
.studio-busy .work::before{{content:"";position:absolute;left:12px;top:9px;width:11px;height:11px;border-radius:50%;
border:2px solid #ffffff50;border-top-color:#fff;animation:studio-turn .8s linear infinite}}
@keyframes studio-turn{{to{{transform:rotate(360deg)}}}}

.studio-presenting .caption{{display:block;left:40px;top:32px;font-size:21px;line-height:1.45;pointer-events:none;
color:var(--mantine-color-text)}}
.studio-presenting .caption b{{display:block;font-size:44px;line-height:1.2;font-weight:650;letter-spacing:-1px}}
body:has(.studio-presenting) [data-dock-region],body:has(.studio-presenting) [data-dock-root] ~ *{{visibility:hidden}}
body:has(.studio-presenting) [data-dock-root]>div:first-child{{inset:0!important}}
body:has(.studio-presenting) [data-dock-root]>div:not(:first-child):not([data-dock-region]){{display:none}}
body:has(.studio-presenting) .mantine-Notification-root{{font-size:20px}}
div:has(> .studio-leave) + div button{{position:fixed;right:16px;top:16px;width:auto;z-index:250;visibility:visible;
opacity:.35;background:#1d2430}}
div:has(> .studio-leave) + div button:hover,div:has(> .studio-leave) + div button:focus{{opacity:1}}

@media (max-width:36em){{
#root .mantine-Paper-root:has(.studio-marks){{width:100%!important;height:45%!important;max-height:45%!important}}
#root .mantine-Paper-root:has(.studio-marks) div:has(.studio-marks){{width:100%!important;min-width:0!important}}
[data-dock-root]>div:first-child{{bottom:45%!important}}
body:has(.studio-presenting) .mantine-Paper-root:has(.studio-marks){{visibility:hidden}}
.studio-presenting .caption{{left:18px;top:60px;font-size:16px}}
.studio-presenting .caption b{{font-size:28px}}
.studio-busy .work{{bottom:auto;top:16px}}
}}
</style>"""
"""The style sheet of the page, in its head."""

_ARM = (
    '<svg viewBox="0 0 100 100" stroke-linecap="round" fill="none">'
    '<path d="M30 84h40" stroke="#5c6574" stroke-width="8"/>'
    '<path d="M50 80V62" stroke="#5c6574" stroke-width="9"/><path d="M50 62 38 34" stroke="#8a95a6" stroke-width="8"/>'
    '<path d="M38 34 62 16" stroke="#a9b4c4" stroke-width="6"/><circle cx="50" cy="62" r="6" fill="#f28c28"/>'
    '<circle cx="38" cy="34" r="5" fill="#f28c28"/></svg>'
)
"""An arm, which stands still: without a graphics card, every picture of a moving one is drawn by the processor."""

LOADING = (
    f'<div class="studio-loading" role="status">{_ARM}<b>chainrule studio</b><span><i></i></span>'
    + "".join(f'<p class="step{k}">{text}</p>' for k, (text, _, _) in enumerate(_STEPS))
    + '<p class="late">This takes longer than it should: the machine is busy, or the studio has ended. Its terminal '
    "says more; reload the page to try again.</p></div>"
)
"""The loading screen, which covers the page until the robot is in the scene."""


class Screen:
    """The marks of one tab."""

    def __init__(self, gui: GuiApi) -> None:
        self._html: Any = gui.add_html("")
        self._on: set[str] = set()
        self._work = self._caption = ""
        self._show()

    def mark(self, name: str, on: bool = True) -> None:
        """Set or remove one of the MARKS."""
        (self._on.add if on else self._on.discard)(name)
        self._show()

    def work(self, text: str) -> None:
        """Say what takes long; nothing for an empty text."""
        self._work = text
        self.mark("busy", bool(text))

    def caption(self, title: str, *lines: str) -> None:
        """The title of a presentation, and lines below it."""
        self._caption = f"<b>{escape(title)}</b>" + "<br>".join(map(escape, lines))
        self._show()

    def _show(self) -> None:
        marks = " ".join(f"studio-{name}" for name in MARKS if name in self._on)
        self._html.content = (
            f'<div class="studio-marks {marks}"><div class="work" role="status">{escape(self._work)}</div>'
            f'<div class="caption">{self._caption}</div></div>'
        )


def leave_button(gui: GuiApi) -> Any:
    """The button that ends a presentation, in the corner of the page; without panels there is no other."""
    gui.add_html('<i class="studio-leave"></i>')
    return gui.add_button("Show the panels", visible=False)


class TabRow:
    """A row of tabs: the session is told which is looked at, so that nothing is computed for the others."""

    def __init__(self, gui: GuiApi, names: list[str]) -> None:
        self._names = names
        self._mark: Any = gui.add_html("")
        self.buttons: Any = gui.add_button_group("", names)
        self.open(names[0])

    def open(self, name: str) -> None:
        """Mark a tab as the one that is looked at."""
        self._mark.content = f'<i class="studio-tabs studio-tab{self._names.index(name)}" title="{escape(name)}"></i>'

    def remove(self) -> None:
        """Remove the row."""
        self._mark.remove()
        self.buttons.remove()
