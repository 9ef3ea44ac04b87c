"""The site of docs/: every page is reachable, every public name has its place; and it is built, and looked at in a browser."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from chromium import chromium

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = ("auto_gallery/index",)
"""Pages that are made when the site is built."""
WIDTHS = (1440, 390)
MAX_BYTES = 40_000_000

sys.path.append(str(DOCS / "extensions"))


def pages():
    """All pages, by their names without a suffix."""
    return {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in DOCS.rglob("*.md")
        if path.relative_to(DOCS).parts[0] != "auto_gallery"
    }


def entries(page):
    """The pages that the tables of contents of a page name."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for block in re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL):
        for line in filter(None, (line.strip() for line in block.splitlines())):
            if not line.startswith(":"):
                line = re.sub(r"^.* <(.*)>$", r"\1", line)
                folder = (DOCS / page).parent
                if "*" in line:
                    yield from sorted(
                        path.with_suffix("").relative_to(DOCS).as_posix()
                        for path in folder.glob(f"{line}.md")
                        if path.stem != Path(page).name
                    )
                else:
                    yield (folder / line).resolve().relative_to(DOCS).as_posix()


def test_every_entry_of_a_table_of_contents_is_a_page():
    known = pages()
    assert not [(page, entry) for page in known for entry in entries(page) if entry not in known and entry not in MADE]


def test_every_page_is_reached_from_the_first_one():
    reached, waiting = set(), ["index"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page not in MADE:
            reached.add(page)
            waiting += entries(page)
    assert pages() - reached == set()


def test_every_public_name_stands_once_in_the_reference():
    names = importlib.import_module("public_names").names()
    spread = importlib.import_module("reference")._spread
    listed = [
        name
        for path in (DOCS / "reference").glob("*.md")
        for block in re.findall(r"```\{generated\} reference.names_of\n(.*?)```", path.read_text(), flags=re.DOTALL)
        for line in block.split()
        for name in spread(line)
    ]
    assert sorted(listed) == sorted(names)


def test_a_docstring_becomes_markdown():
    markdown = importlib.import_module("reference").markdown
    doc = "M * q, in `a*b`.\n\nParameters\n----------\nq, qd\n    In rad.\n    And more.\n\n>>> 1 + 1\n2"
    assert markdown(doc).split("\n") == [
        r"M \* q, in `a*b`.", "", "**Parameters**", "", "", "`q`, `qd`", ": In rad.", "  And more.", "",
        "```python", ">>> 1 + 1", "2", "```", "",
    ]  # fmt: skip


def test_what_the_page_of_speed_calls_is_there():
    text = (DOCS / "speed.md").read_text(encoding="utf-8")
    speed = importlib.import_module("speed")
    called = re.findall(r"\{generated\} speed\.(\w+)", text)
    assert len(called) == 8
    for name in called:
        assert "nan" not in getattr(speed, name)().lower()


# --- the site as it is built ---


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site, built as by `make docs`."""
    pytest.importorskip("sphinx_gallery", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    options = ["--fail-on-warning", "--keep-going", "--jobs", "2", "-b", "html", "-d", str(folder / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "html"


@pytest.fixture(scope="session")
def address(site):
    """The address of a server of the site on this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_the_site_is_small(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < MAX_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_opens_without_an_error_and_without_another_host(site, address, width):
    """And no page is wider than the window."""
    wrong = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900})
        where = ""
        page.on("console", lambda message: message.type == "error" and wrong.append((where, message.text)))
        page.on("pageerror", lambda error: wrong.append((where, str(error))))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("http:", "https:", "ws"))
                and not request.url.startswith(address)
                and wrong.append((where, request.url))
            ),
        )
        for where in sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html")):
            if where.startswith(("_static", "_downloads", "robots/")):
                continue
            page.goto(f"{address}/{where}", wait_until="load")
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wide > 1:
                wrong.append((where, f"{wide} px wider than the window"))
    assert not wrong


@pytest.mark.slow
def test_search_finds_a_function(address):
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"{address}/search.html?q=inverse_dynamics")
        page.locator("#search-results li a").first.wait_for()
        assert "inverse_dynamics" in page.locator("#search-results").inner_text()


@pytest.mark.slow
def test_axe_finds_no_serious_fault(site, address):
    axe = ROOT / "build" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        pytest.skip("there is no axe-core; `make axe` fetches it")
    wrong = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for where in sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html")):
            if where.startswith(("_static", "_downloads", "robots/", "genindex", "more/")):
                continue
            page.goto(f"{address}/{where}", wait_until="load")
            page.evaluate("() => window.MathJax?.startup?.promise.then(() => true)")
            page.add_script_tag(path=str(axe))
            found = page.evaluate("axe.run(document, {iframes: false})")
            for fault in found["violations"]:
                if fault["impact"] in ("serious", "critical"):
                    wrong.append((where, fault["id"], json.dumps([node["html"][:120] for node in fault["nodes"][:3]])))
    assert not wrong
