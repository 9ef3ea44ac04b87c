"""Exercises: sheets by seed, solutions that are right, and answers checked."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from scipy.linalg import expm

import chainrule as cr
from chainrule.exercises.kinds import KINDS
from chainrule.symbolic.documents import pdf
from chainrule.symbolic.documents.blocks import TableBlock

ROBOTS = ("planar_2r", "planar_rp", "puma560")


def make(kind, robot="planar_2r", seed=7):
    return cr.exercise(kind, seed=seed) if KINDS[kind].robot is None else cr.exercise(kind, robot, seed=seed)


def test_there_are_twelve_kinds():
    assert len(KINDS) == 12
    with pytest.raises(cr.ChainruleError, match="newton-euler"):
        cr.exercise()
    with pytest.raises(cr.ChainruleError, match="did you mean 'newton-euler'"):
        cr.exercise("newton_euler")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_right_answers_are_right_and_wrong_ones_are_not(kind, robot):
    exercise = make(kind, robot)
    for name, right in exercise.answers.items():
        assert exercise.check(**{name: right}), name
        rounded = np.array([float(f"{x:.5g}") for x in np.ravel(right)]).reshape(np.shape(right))
        assert exercise.check(**{name: rounded}), name
        if np.any(right):
            assert not exercise.check(**{name: 1.1 * np.asarray(right, dtype=float) + 0.1}), name


def test_frames_beyond_their_joints_are_given():
    """The links of a table by the standard convention lie beyond their joints: the sheet has all of d, a and alpha."""
    table = next(b for b in make("pose", "puma560").sheet.blocks if isinstance(b, TableBlock) and "axis" in b.header)
    assert table.header[-2:] == ("then moved by, m", "and turned by, rad")
    assert [row[-2:] for row in table.rows][:2] == [
        ("(0, 0, 0.67183)", "(1.5708, 0, 0)"),
        ("(0.4318, 0, 0)", "(0, 0, 0)"),
    ]
    assert "then moved" not in make("pose").sheet.text()


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_is_a_sheet(kind):
    first, again, other = make(kind), make(kind), make(kind, seed=8)
    assert first.sheet.text() == again.sheet.text()
    assert first.solution.text() == again.solution.text()
    assert first.sheet.text() != other.sheet.text()
    assert all(f"({name})" in first.sheet.text() for name in first.questions)
    assert len(first.solution.text()) > len(first.sheet.text()) // 2


@pytest.mark.parametrize("ending", ["html", "tex", "md", "ipynb", "txt"])
def test_sheets_are_saved_in_every_form(ending, tmp_path):
    exercise = make("statics")
    sheet = exercise.save(tmp_path / f"sheet.{ending}").read_text(encoding="utf-8")
    both = exercise.save(tmp_path / f"both.{ending}", solution=True).read_text(encoding="utf-8")
    assert "Statics" in sheet
    assert "Answer 1" not in sheet
    assert "Answer 1" in both
    if ending == "ipynb":
        assert json.loads(sheet)["nbformat"] == 4
    with pytest.raises(cr.ChainruleError, match=r"\.pdf"):
        exercise.save(tmp_path / "sheet.docx")


@pytest.mark.slow
@pytest.mark.skipif(pdf.browser() is None, reason="no browser is installed")
def test_a_sheet_is_a_pdf(tmp_path):
    exercise = make("newton-euler")
    assert exercise.save(tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF")
    assert exercise.solution.save(tmp_path / "solution.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("kind", KINDS)
def test_every_exercise_compiles_in_latex_and_stays_on_the_page(kind, tmp_path):
    make(kind, "planar_rp").save(tmp_path / "sheet.tex", solution=True)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "sheet.tex"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull \\hbox" not in (tmp_path / "sheet.log").read_text(encoding="latin-1")


# --- solutions computed from the documents' own formulas ---


def numbers_of(kind, seed, robot="planar_2r"):
    """The answers of an exercise about the planar arm, and its state, drawn as the exercise draws it."""
    arm, rng = cr.load(robot), np.random.default_rng(seed)
    from chainrule.exercises.givens import draw_state

    return make(kind, robot, seed).answers, draw_state(arm, rng)


def test_torques_are_those_of_the_planar_arm_on_paper():
    answers, ((a, b), (u, v), (x, y)) = numbers_of("newton-euler", 5)
    g = 9.81  # masses and lengths are 1; Ch2: Robot Dynamics, example 3
    tau = [
        (3 + 2 * np.cos(b)) * x + (np.cos(b) + 1) * y - np.sin(b) * (2 * u * v + v * v) + 2 * g * np.cos(a) + g * np.cos(a + b),
        (np.cos(b) + 1) * x + y + u * u * np.sin(b) + g * np.cos(a + b),
    ]  # fmt: skip
    for kind in ("newton-euler", "rnea", "lagrange"):
        np.testing.assert_allclose(numbers_of(kind, 5)[0]["tau"], tau, atol=1e-12)
    np.testing.assert_allclose(answers["omega"], [0, 0, u + v], atol=1e-12)


def test_kinematics_are_those_of_the_planar_arm_on_paper():
    answers, ((a, b), (u, v), _) = numbers_of("jacobian", 5)
    J = np.array([[-np.sin(a) - np.sin(a + b), -np.sin(a + b)], [np.cos(a) + np.cos(a + b), np.cos(a + b)]])
    np.testing.assert_allclose(answers["J"][3:5], J, atol=1e-12)
    np.testing.assert_allclose(answers["V"][3:5], J @ [u, v], atol=1e-12)
    answers, ((a, b), *_) = numbers_of("singularities", 5)
    assert answers["w"] == pytest.approx(abs(np.sin(b)))
    answers, ((a, b), *_) = numbers_of("pose", 5)
    np.testing.assert_allclose(answers["position"][:2], [np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)])


def test_a_compound_body_is_the_sum_of_points():
    rng = np.random.default_rng(3)
    masses = np.round(rng.uniform(0.5, 4, 2), 1)
    radius, height = np.round(rng.uniform(0.05, 0.2, 2), 2)
    size, place = np.round(rng.uniform(0.05, 0.4, 3), 2), np.round(rng.uniform(-0.4, 0.4, 3), 2)
    answers = cr.exercise("inertia", seed=3).answers
    com = masses[1] * place / masses.sum()
    np.testing.assert_allclose(answers["com"], com, atol=1e-12)
    disk = masses[0] * np.diag([(3 * radius**2 + height**2) / 12] * 2 + [radius**2 / 2])
    w, l, h = size**2
    box = masses[1] / 12 * np.diag([l + h, w + h, w + l])

    def shifted(mass, p):
        return mass * (p @ p * np.eye(3) - np.outer(p, p))

    total = disk + shifted(masses[0], com) + box + shifted(masses[1], place - com)
    np.testing.assert_allclose(answers["inertia"], total, atol=1e-12)
    np.testing.assert_allclose(answers["principal"], np.linalg.eigvalsh(total), atol=1e-12)


def test_a_base_on_two_wheels_goes_along_its_twist():
    answers = cr.exercise("differential-drive", seed=11).answers
    v1, v2 = answers["wheels"]
    assert answers["v"] == pytest.approx((v1 + v2) / 2)
    words = cr.exercise("differential-drive", seed=11).sheet.text().replace("\n", " ")
    duration = float(words.split("so for ")[1].split(" s.")[0])
    xi = np.array([[0, -answers["omega"], answers["v"]], [answers["omega"], 0, 0], [0, 0, 0]])
    T = expm(xi * duration)
    np.testing.assert_allclose(answers["pose"][:2], T[:2, 2], atol=1e-9)


def test_forward_dynamics_solve_the_equations_of_motion():
    answers = make("matrix-form", "puma560").answers
    arm = cr.load("puma560")
    n = arm.nv
    G = np.zeros((6 * n, 6 * n))
    for k, link in enumerate(arm.model.links[1:]):
        c, m = np.array(list(link.com), dtype=float), float(link.mass)
        C = -np.cross(np.eye(3), c).T
        rows = slice(6 * k, 6 * k + 6)
        I = np.array([[float(x) for x in row] for row in link.inertia])
        G[rows, rows] = np.block([[I - m * C @ C, m * C], [-m * C, m * np.eye(3)]])
    rotors = np.diag([float(d.armature) for joint in arm.model.moving for d in joint.dofs])
    np.testing.assert_allclose(answers["J"].T @ G @ answers["J"] + rotors, answers["M"], atol=1e-9)


# --- diagnoses ---


def test_mistakes_in_numbers_are_named():
    exercise = make("newton-euler")
    arm = cr.load("planar_2r")
    from chainrule.exercises.givens import draw_state

    terms = arm.torque_terms(*draw_state(arm, np.random.default_rng(7)))
    found = exercise.check(tau=exercise.answers["tau"] - terms["gravity"])
    assert "gravity is missing" in str(found)
    pose = make("pose")
    assert "inverse" in str(pose.check(T=np.linalg.inv(pose.answers["T"])))
    both = exercise.check(tau=exercise.answers["tau"], omega=-exercise.answers["omega"])
    assert not both
    assert {d.entry[:5] for d in both.differences} == {"omega"}
    with pytest.raises(cr.ChainruleError, match="no question named 'torque'"):
        exercise.check(torque=1)
    with pytest.raises(cr.ChainruleError, match="by name"):
        exercise.check()


def test_any_solution_of_inverse_kinematics_is_right():
    exercise = make("inverse-kinematics")
    a, b = exercise.answers["q"]
    other = a + 2 * np.arctan2(np.sin(b), 1 + np.cos(b)), -b  # the elbow on the other side
    assert exercise.check(q=other)
    assert "degrees" not in str(exercise.check(q=[a + 1, b]))
    assert "radians" in str(exercise.check(q=np.degrees([a, b])))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("inertia", "panda"), "about no robot"), (("pose", "slider_crank"), "loops"), (("pose", "nothing_such"), "no robot"),
    ],
)  # fmt: skip
def test_wrong_calls_are_refused(arguments, words):
    with pytest.raises(cr.ChainruleError, match=words):
        cr.exercise(*arguments)
    with pytest.raises(cr.ChainruleError, match="seed"):
        cr.exercise("pose", seed=-1)
