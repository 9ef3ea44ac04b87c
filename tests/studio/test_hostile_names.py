"""Names in files are text: a script in one, shown anywhere on the page, does not run."""

from html import escape

import pytest

import chainrule as cr
from chainrule.robot.building import to_urdf
from studio.tab import session_of

EVIL = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def studio(start_studio):
    text = to_urdf(cr.load("planar_2r").edit(gravity=[0, 0, -9.81]))
    for name in ("joint2", "link2"):
        text = text.replace(f'"{name}"', f'"{escape(EVIL, quote=True)}"')
    return start_studio(text)


def test_no_script_of_a_name_runs(studio, tab):
    tab.open(studio.address)
    session = session_of(studio)
    assert EVIL in session.robot.joint_names
    with session.client.gui.add_folder("raw"):
        session.client.gui.add_markdown(f"raw markdown {EVIL}")
        session.client.gui.add_html(f"raw html {EVIL}")
    tab.says("raw html")
    for title in tab.titles():
        tab.turn_to(title)
    tab.says("raw markdown")
    assert tab.page.title() == "chainrule studio"
    assert tab.page.evaluate("document.querySelectorAll('img[onerror]').length") > 0, "the test shows nothing raw"
    tab.errors.clear()  # React calls the text as a function, since markdown is no HTML to it
