import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from chromium import chromium
from tiers import with_slow

import chainrule as cr
from chainrule import study
from chainrule.study.report.data import facts
from chainrule.study.report.page import html
from chainrule.study.report.words import number
from chainrule.symbolic.documents import pdf


def content_of(text):
    """What the script of the page draws."""
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


def unpacked(packed):
    """An array as the script reads it: 16-bit integers in base64, times a step."""
    counts = np.frombuffer(base64.b64decode(packed["data"]), "<i2").astype(float)
    return packed["low"] + packed["step"] * (counts + 32768)


class Text(HTMLParser):
    """Words, addresses and tags of a page, without its scripts."""

    def __init__(self):
        super().__init__()
        self.words, self.addresses, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


@pytest.fixture(scope="module")
def page(few, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "out.html"
    sizing, balanced = study.size(few), study.size(few, balanced=True)
    files = study.write_report(few, path, sizing=sizing, balanced=balanced, settings={"Command": "chainrule study"})
    assert [file.suffix for file in files][:2] == [".html", ".json"]
    return path


def test_the_page_needs_no_network_and_says_what_was_found(page, few):
    text = page.read_text()
    parser = Text()
    parser.feed(text)
    assert all(address.startswith("#") for address in parser.addresses)
    words = " ".join(parser.words)
    for expected in (
        "synthetic",
        "shoulder flexion",
        "Drink with cup",
        "Gravity exceeds",
        "How this was computed",
        "Command",
    ):
        assert expected in words
    peak = few.overall["elbow_flexion"].peak_torque
    assert f"{peak:.3g}" in words


def test_the_figures_hold_the_numbers_of_the_study(page, few):
    content = content_of(page.read_text())
    assert content["parts"] == ["gravity", "dynamic", "contact"]
    by_title = {activity["title"]: activity for activity in content["activities"]}
    assert set(by_title) == set(few.titles.values())
    for name, title in few.titles.items():
        torques, curves = few.examples[name], [unpacked(one) for one in by_title[title]["joints"][3]]
        assert max(abs(np.sum(curves[3:], axis=0))) == pytest.approx(abs(torques.total[:, 3]).max(), rel=1e-3)
        assert max(curves[0]) == pytest.approx(np.degrees(torques.motion.q[:, 3].max()), rel=0.01)
    pushed = unpacked(by_title[few.titles["open_door"]]["joints"][0][5])
    assert max(np.abs(pushed)) == pytest.approx(np.abs(few.examples["open_door"].contact[:, 0]).max(), rel=0.01)
    box = by_title[few.titles["drink_with_cup"]]["boxes"]["torque"][3]
    plot = few.cell("drink_with_cup", "elbow_flexion")["torque"].box_plot()
    np.testing.assert_allclose(box["lines"], plot[:5], rtol=1e-3)
    assert len(content["planes"]) == 7


def test_the_worst_activity_comes_first_at_its_largest_torque(page, few):
    content = content_of(page.read_text())
    peaks = {few.titles[name]: few.cell(name, "shoulder_flexion").peak_torque for name in few.titles}
    assert content["joints"][content["most"]]["label"] == "shoulder flexion"
    first = content["activities"][0]
    name = next(name for name, title in few.titles.items() if title == first["title"])
    run, at = few.examples[name].motion, np.abs(few.examples[name].total[:, content["most"]]).argmax()
    assert first["times"][first["peak"]] == pytest.approx(run.t[at] - run.t[0], rel=1e-3)
    assert [activity["title"] for activity in content["activities"]] == sorted(peaks, key=peaks.get, reverse=True)
    shown = unpacked(first["points"]).reshape(len(first["times"]), -1, 3)[first["peak"]]
    hand = few.robot.pose(run.q[at])[:3, 3]
    assert np.linalg.norm(shown - hand, axis=1).min() < 1e-4
    parser = Text()
    parser.feed(page.read_text())
    words = " ".join(parser.words)
    assert words.index("Largest torque") < words.index("In words") < words.index("Joints over all activities")


def test_numbers_on_the_page_have_no_exponents(page):
    parser = Text()
    parser.feed(page.read_text())
    assert not re.findall(r"\d[eE][-+]?\d", " ".join(parser.words))
    assert [number(x, 2.0) for x in (1.88e-06, -9.8349, 12345.6, np.inf)] == ["0", "-9.83", "12300", "∞"]


def test_the_page_of_all_activities_is_small(person, tmp_path):
    result = study.run(person, rate=50)
    study.write_report(result, tmp_path / "out.html", sizing=study.size(result))
    assert (tmp_path / "out.html").stat().st_size < 1.5e6


def test_numbers_are_written_beside_it(page, few):
    content = json.loads(page.with_suffix(".json").read_text())
    assert content == json.loads(json.dumps(facts(few, study.size(few))))
    rows = {(row["activity"], row["joint"]): row for row in content["statistics"]}
    assert rows["open_door", "wrist_flexion"]["torque_peak"] == few.cell("open_door", "wrist_flexion").peak_torque
    parquet = pytest.importorskip("pyarrow.parquet").read_table(page.with_suffix(".parquet"))
    assert parquet.num_rows == 21
    assert parquet["torque_peak"].to_pylist() == [row["torque_peak"] for row in content["statistics"]]
    for row in (*content["statistics"], *content["overall"]):
        assert sum(share for name, share in row.items() if name.startswith("share_")) == pytest.approx(1)
    pushed = few.cell("open_door", "shoulder_flexion")
    assert rows["open_door", "shoulder_flexion"]["share_contact"] == pushed.shares["contact"] > 0.3
    assert rows["open_door", "shoulder_flexion"]["contact_peak"] == pushed["contact"].peak
    assert max(parquet["share_contact"].to_pylist()) == max(cell.share("contact") for cell in few.cells)


def test_what_contact_takes_is_in_the_text_and_the_table(page, few):
    parser = Text()
    parser.feed(page.read_text())
    words = " ".join(parser.words)
    most = max(few.cells, key=lambda cell: cell.share("contact"))
    assert f"Contact (the force of the hand on its surroundings) makes up to {most.share('contact'):.0%}" in words
    assert re.search(r"Its terms by their mean magnitudes: .*contact \d+%", words)
    assert "<option>contact</option>" in page.read_text()
    header = words[words.index("peak torque") : words.index("shoulder flexion", words.index("peak torque"))]
    assert [word for word in header.split() if word in few.parts] == ["gravity", "dynamic", "contact"]


def test_names_from_files_are_text_on_the_page(tmp_path):
    robot = cr.load("pendulum").edit(name="<script>alert(1)</script>")
    swing = robot.simulate([0.5], [0.0], 0.2)
    result = study.run(robot, motions={"<img src=x onerror=alert(2)>": swing})
    path = tmp_path / "out.html"
    study.write_report(result, path, title="</title><script>alert(3)</script>")
    text = path.read_text()
    for k in (1, 2, 3):
        assert f"<script>alert({k})" not in text
        assert f"<img src=x onerror=alert({k})>" not in text


def test_wrong_paths_are_refused(few, tmp_path, monkeypatch):
    with pytest.raises(cr.ShapeError, match=r"\.html or \.pdf"):
        study.write_report(few, tmp_path / "out.docx")
    (tmp_path / "file").write_text("")
    with pytest.raises(cr.ChainruleError, match="cannot be written"):
        study.write_report(few, tmp_path / "file" / "out.html")
    monkeypatch.setattr(pdf, "BROWSERS", ("no-such-browser",))
    with pytest.raises(cr.ChainruleError, match="apt install"):
        study.write_report(few, tmp_path / "out.pdf")


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.mark.parametrize("width", with_slow([1280, 400], 400))
def test_the_page_opens_in_a_browser(page, browser, width):
    """Everything is drawn, nothing is said to be wrong, and nothing is wider than the window."""
    tab = browser.new_page(viewport={"width": width, "height": 900})
    errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(page.as_uri(), timeout=0)
    tab.wait_for_function("document.documentElement.dataset.ready === 'yes'", timeout=0)
    plots = tab.locator(".plot")
    assert plots.count() > 40
    assert plots.filter(has=tab.locator("svg")).count() == plots.count()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert width > 400 or tab.evaluate("document.documentElement.scrollHeight") <= 6000
    before = tab.locator("#moment").text_content()
    tab.locator("#activity-1").click()
    tab.locator("#play").click()
    tab.wait_for_function("before => document.getElementById('moment').textContent !== before", arg=before, timeout=0)
    tab.close()
    assert errors == []


@pytest.mark.slow
@pytest.mark.skipif(pdf.browser() is None, reason="no browser is installed")
def test_the_page_is_printed(few, tmp_path):
    path = tmp_path / "out.pdf"
    study.write_report(few, path)
    assert path.read_bytes().startswith(b"%PDF")
    assert path.stat().st_size > 100_000


def test_friction_and_springs_are_a_part_of_the_torque_that_is_shown():
    robot = cr.load("planar_2r").edit(joints={"joint1": {"viscous": 2.0, "stiffness": 5.0}})
    t = np.linspace(0, 2, 201)
    motion = cr.Trajectory.from_samples(robot, t, np.c_[np.sin(3 * t), np.cos(2 * t)], smoothing=None)
    result = study.run(robot, motions=motion)
    terms, cell = robot.torque_terms(motion.q, motion.qd, motion.qdd), result.cell("motion", "joint1")
    assert result.parts == ("gravity", "dynamic", "other")
    assert cell["other"].peak == pytest.approx(np.abs(terms["friction"] + terms["spring"])[:, 0].max())
    assert cell.share("other") == pytest.approx(cell.shares["friction"] + cell.shares["spring"])
    text = html(result, title="two links")
    assert "Friction, spring makes up to" in text
    curves = [unpacked(one) for one in content_of(text)["activities"][0]["joints"][0]]
    assert max(abs(np.sum(curves[3:], axis=0))) == pytest.approx(cell.peak_torque, rel=1e-3)


def test_gravity_that_is_rounding_is_zero_in_the_table():
    robot, t = cr.load("panda"), np.linspace(0, 2, 101)
    motion = cr.Trajectory.from_samples(robot, t, robot.home() + 0.2 * np.sin(2 * t[:, None] + np.arange(7)))
    result = study.run(robot, motions=motion)
    assert 0.0 < result.cell("motion", "panda_joint1")["gravity"].peak < 1e-12  # its axis is vertical
    text = html(result, title="panda")
    cells = re.findall(r'>panda joint1</td><td class="text">[^<]*</td><td>([^<]*)</td><td>[^<]*</td><td>([^<]*)<', text)
    assert cells == [("0", "none")]  # at no pace is gravity the larger
    words = Text()
    words.feed(text)
    assert not re.findall(r"\d[eE][-+]?\d", " ".join(words.words))  # of what smoothing did, too
    assert "It begins at the largest torque of panda joint4" in text
    assert re.findall(r'<b><span class="(\w+)"></span>', text)[:2] == ["gravity", "dynamic"]


def test_errors_of_control_stand_with_the_worst_activity_first(person):
    result = study.run(person, activities=("eat_with_hands", "open_door"), rate=50)
    sizing = study.size(result)
    followed = study.follow(result, sizing)
    text = html(result, title="control", followed=followed)
    table = text[text.index("Errors, the worst activity first") :]
    order = sorted(followed, key=lambda name: followed[name].rms_error.max(), reverse=True)
    places = [table.index(result.titles[name]) for name in order]
    assert places == sorted(places)


def test_every_figure_of_a_robot_that_turns_and_slides_has_its_own_place():
    scara, t = cr.load("scara"), np.linspace(0, 1, 21)
    motion = cr.Trajectory.from_samples(scara, t, scara.home() - 0.08 * np.sin(t)[:, None])
    text = html(study.run(scara, motions=motion), title="scara")
    places = re.findall(r'id="([^"]+)"', text)
    assert len(places) == len(set(places))
    assert [joint["turns"] for joint in content_of(text)["joints"]] == [True, True, False, True]
    assert "Largest force" in text
    assert "Gravity hardly acts on this joint" in text
