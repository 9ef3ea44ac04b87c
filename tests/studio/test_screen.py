"""The page as it is sent: a loading screen before its script; the robot in a few words."""

from __future__ import annotations

import pytest

import chainrule as cr
from chainrule.studio.panels import PANELS
from chainrule.studio.panels.about import joint_table, key_of_shapes, link_table
from chainrule.studio.panels.simulation import falls
from chainrule.studio.policy import SentPage
from chainrule.studio.screen import LOADING, MAX_TABS_IN_A_ROW, STYLE
from chainrule.studio.summary import summary

pytest.importorskip("viser", reason="the extra `studio` is not installed")


def test_the_loading_screen_comes_before_the_script_of_the_page():
    page = SentPage().plain.decode()
    assert page.index("<body>") < page.index(LOADING) < page.index('<div id="root">') < page.index("<script ")
    assert page.index("<script ") < 0.02 * len(page)
    assert page.count("<script") == 1
    assert "<script" not in LOADING


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ur5", "an arm of 6 joints on a fixed base"),
        ("quadruped", "a robot of 12 joints with a free base"),
        ("four_bar", "a mechanism of 3 joints with closed loops"),
        ("panda_hand", "an arm of 8 joints on a fixed base"),
        ("ur5e", "an arm of 6 joints on a fixed base"),
    ],
)
def test_a_robot_is_what_its_joints_make_it(name, words):
    assert summary(cr.load(name))[0].startswith(words)


def test_arms_that_part_are_a_tree():
    arm = cr.load("planar_2r")
    assert summary(arm.attach(arm, "link1", prefix="b_"))[0] == "a tree of 4 joints with 2 ends, on a fixed base"


def tabs(robot):
    return list(dict.fromkeys(panel.tab or panel.title for kind in PANELS if (panel := kind()).suits(robot)))


def test_a_robot_has_the_tabs_that_make_sense_for_it():
    every = ["Move", "View", "Dynamics", "Simulate", "Replay", "Equations", "Robot"]
    assert tabs(cr.load("panda")) == every
    assert tabs(cr.load("quadruped")) == [tab for tab in every if tab != "Equations"]
    assert tabs(cr.load("pendulum").lock({"hinge": 0.3})) == ["View", "Dynamics", "Robot"]
    base = cr.Builder("base").planar("drive").link("chassis", mass=5.0, radius=0.2, shape="sphere").robot()
    assert tabs(base) == [*every[:5], "Wheels", *every[5:]]
    assert len(tabs(base)) <= MAX_TABS_IN_A_ROW


def test_a_robot_whose_base_nothing_holds_is_said_to_fall():
    robot = cr.load("quadruped")
    assert falls(robot)
    assert not falls(robot.edit(gravity=[0.0, 0.0, 0.0]))
    assert not falls(cr.load("panda"))


def test_tables_have_every_joint_and_every_mass_and_names_are_text():
    robot = cr.load("planar_2r").rename(joints={"joint1": "<b>one"})
    joints, links = joint_table(robot), link_table(robot)
    assert "<td>&lt;b&gt;one</td><td>continuous</td><td>no end</td>" in joints
    assert joints.count("<tr>") == 1 + robot.nv
    assert links.count("<tr>") == 1 + sum(float(link.mass) > 0 for link in robot.model.links)
    assert "no shapes of its own" in key_of_shapes(robot)
    assert "a joint that slides" not in key_of_shapes(robot)
    assert "a joint that slides" in key_of_shapes(cr.load("cartesian_3p"))


def test_the_loading_screen_says_one_step_at_a_time(browser):
    """The script of the page fills #root; then the session marks that it has begun, and that the robot is there."""
    tab = browser.new_page()
    shown = []
    for page in ("", "<div></div>", '<div class="studio-joined"></div>'):
        tab.set_content(f'{STYLE}{LOADING}<div id="root">{page}</div>')
        steps = tab.locator(".studio-loading p:not(.late)").locator("visible=true")
        shown.append((steps.all_inner_texts(), tab.locator(".studio-loading i").evaluate("bar => bar.clientWidth")))
    assert [texts for texts, _ in shown] == [
        ["Loading the page …"],
        ["Starting the 3-D view …"],
        ["Drawing the robot …"],
    ]
    assert sorted({width for _, width in shown}) == [width for _, width in shown]
    tab.set_content(f'{STYLE}{LOADING}<div id="root"><div class="studio-joined studio-ready"></div></div>')
    tab.locator(".studio-loading").wait_for(state="hidden")
    tab.close()
