"""`chainrule table`, `chainrule jacobian` and `chainrule manipulability`: right calls, their JSON, and wrong calls."""

import json

import numpy as np
import pytest

import chainrule as cr
from chainrule.cli.table import FORMS
from cli.entry import run

STATE = ("planar_2r", "--q", "30,45", "--degrees", "--qd", "10,20", "--qdd", "0,90")


def test_the_table_is_that_of_python():
    facts = json.loads(run("table", *STATE, "--json").stdout)
    arm = cr.load("planar_2r")
    table = arm.textbook.newton_euler_table(*np.radians([[30, 45], [10, 20], [0, 90]]))
    for column in table.units:
        np.testing.assert_allclose(facts[column], getattr(table, column))
    np.testing.assert_allclose(facts["tau"], table.tau)
    assert facts["column_units"]["omega"] == "rad/s"
    assert "omega" in run("table", *STATE).stdout


@pytest.mark.parametrize("form", FORMS)
def test_every_form_prints_and_is_json(form):
    words = ("table", "planar_2r", "--form", form)
    assert {"link", "joint"} & set(run(*words).stdout.split())
    assert json.loads(run(*words, "--json").stdout)["form"] == form


def test_a_wrench_at_the_tip_is_in_the_table():
    words = ("table", "planar_2r", "--q", "0,0", "--tip-wrench", "0,0,0,0,1,0", "--json")
    assert json.loads(run(*words).stdout)["tau"] == pytest.approx([31.43, 10.81])


def test_the_jacobian_is_that_of_python():
    facts = json.loads(run("jacobian", "planar_2r", "--q", "0,90", "--degrees", "--json").stdout)
    np.testing.assert_allclose(facts["jacobian"], [[0, 0], [0, 0], [1, 1], [-1, -1], [1, 0], [0, 0]], atol=1e-12)
    assert facts["q"] == pytest.approx([0, 90])
    printed = run("jacobian", "planar_2r", "--frame", "body").stdout
    assert '"body"' in printed
    assert "rad/s" in printed


def test_manipulability_is_that_of_the_textbook():
    facts = json.loads(run("manipulability", "planar_2r", "--q", "0,90", "--degrees", "--json").stdout)
    assert facts["manipulability"] == pytest.approx(1.0)
    assert not facts["singular"]
    J = np.array([[-1.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(facts["ellipsoid"]["lengths"][:2], np.linalg.svd(J)[1])
    assert "singular" in run("manipulability", "planar_2r", "--q", "0.3,0").stdout.splitlines()[3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("table planar_2r --form zzz", "there is no form 'zzz'"),
        ("table planar_2r --form velocities --tip-wrench 0,0,0,0,0,1", "--tip-wrench belongs to the forms"),
        ("table planar_2r --form exponentials --qd 1,2", "no part of the form exponentials"),
        ("jacobian planar_2r --frame tip", "there is no frame 'tip'"),
        ("jacobian planar_2r --link nowhere", "no link or frame named 'nowhere'"),
        ("manipulability planar_2r --task axis", "there is no task 'axis'"),
        ("manipulability planar_2r --q 1,2,3", "got 3 numbers"),
    ],
)
def test_a_wrong_call_ends_in_one_line(words, message):
    done = run(*words.split())
    assert done.returncode != 0
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
