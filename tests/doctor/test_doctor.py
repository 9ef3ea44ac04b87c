"""The doctor finds errors that are seeded into sound robots, ranks them, and finds little in sound ones."""

import math
from dataclasses import replace

import pytest
from peers import robots_folder

import chainrule as cr
from chainrule.doctor import Diagnosis, Finding, diagnose, diagnose_error
from chainrule.doctor.pairs import mirrored_names, pairs
from chainrule.model import Joint, Link, Model, Screw
from chainrule.model.geometry import Box, Geometry, Mesh
from chainrule.model.parts import Dof
from chainrule.robot.building import to_urdf
from chainrule.spatial import Symmetric, Transform, Vector

SOUND = (
    "panda",
    "panda_hand",
    "ur5",
    "iiwa14",
    "scara",
    "quadruped",
    "human_arm",
    "stewart_platform",
    "five_bar",
    "delta",
    "humanoid",
    "ur5e",
    "gen3",
    "go2",
)


def with_link(model, name, **changes):
    return replace(model, links=tuple(replace(x, **changes) if x.name == name else x for x in model.links))


def with_dof(model, name, **changes):
    joints = [
        replace(j, dofs=tuple(replace(d, **changes) for d in j.dofs)) if j.name == name else j for j in model.joints
    ]
    return replace(model, joints=tuple(joints))


def scaled_lengths(model, factor):
    def far(T):
        return Transform(T.rotation, T.translation * factor)

    joints = tuple(replace(joint, origin=far(joint.origin)) for joint in model.joints)
    links = tuple(replace(link, com=link.com * factor) for link in model.links)
    return replace(
        model, joints=joints, links=links, frames=tuple(replace(f, origin=far(f.origin)) for f in model.frames)
    )


def in_grams(model):
    links = [replace(x, mass=1000 * x.mass, inertia=x.inertia.scale(1000.0)) for x in model.links]
    return replace(model, links=tuple(links))


PANDA, UR5 = cr.load("panda").model, cr.load("ur5").model
ARM = PANDA.links[4].name
ELBOW = PANDA.joints[3].name
FOREARM = UR5.links[3].name

SEEDED = [
    ("impossible", with_link(PANDA, ARM, inertia=Symmetric(0.1, 0.1, 0.5)), "serious", ARM, "triangle inequality"),
    ("not positive", with_link(UR5, FOREARM, inertia=Symmetric(-0.1, 0.1, 0.1)), "serious", FOREARM, "not positive definite"),
    ("negative mass", with_link(PANDA, ARM, mass=-1.0), "serious", ARM, "negative mass"),
    ("too large", with_link(PANDA, ARM, inertia=Symmetric(100.0, 100.0, 100.0)), "serious", ARM, "radius of gyration of 5"),
    ("placeholder", with_link(UR5, FOREARM, inertia=Symmetric(1.0, 1.0, 1.0)), "suspicious", FOREARM, "inertia 1, 1, 1 kg m^2"),
    ("too small", with_link(PANDA, ARM, inertia=Symmetric(1e-8, 1e-8, 1e-8)), "suspicious", ARM, "has the inertia of a box of"),
    ("grams", in_grams(PANDA), "serious", "the robot", "if its masses are in grams"),
    ("grams", in_grams(UR5), "serious", "the robot", "if its masses are in grams"),
    ("millimeters", scaled_lengths(PANDA, 1000.0), "serious", "the robot", "if its lengths are in millimeters"),
    ("millimeters", scaled_lengths(UR5, 1000.0), "serious", "the robot", "if its lengths are in millimeters"),
    ("degrees", with_dof(PANDA, ELBOW, lower=-176.0, upper=-4.0), "serious", ELBOW, "-176 rad, which is 28.0 turns; -3.072 rad if"),
    ("com in mm", with_link(PANDA, ARM, com=Vector(0.0, 100.0, 0.0)), "serious", ARM, "center of mass at (0, 100, 0) m"),
    ("com outside", with_link(UR5, FOREARM, com=Vector(0.0, 2.0, 0.0)), "suspicious", FOREARM, "center of mass at (0, 2, 0) m"),
    ("stuck", with_dof(PANDA, ELBOW, lower=0.0, upper=0.0), "suspicious", ELBOW, "equal lower and upper limits"),
    ("no limits", with_dof(PANDA, ELBOW, lower=-math.inf, upper=math.inf), "note", ELBOW, "has no lower and upper limit"),
    ("no effort", with_dof(PANDA, ELBOW, effort=math.inf), "note", ELBOW, "has no effort limit"),
    ("no speed", with_dof(PANDA, ELBOW, velocity=math.inf), "note", ELBOW, "has no velocity limit"),
    ("passive", with_dof(PANDA, ELBOW, effort=0.0), "note", ELBOW, "is passive: its effort limit is 0"),
    ("crossed", with_dof(PANDA, ELBOW, lower=1.0, upper=0.0), "serious", ELBOW, "lower limit 1.0 is above"),
    ("copied", replace(with_link(PANDA, PANDA.links[5].name, mass=PANDA.links[4].mass, com=PANDA.links[4].com,
     inertia=PANDA.links[4].inertia)), "note", ARM, "the very same mass"),
    ("massless", with_link(with_link(PANDA, ARM, mass=0.0), ARM, mass=0.0, inertia=Symmetric.zero()), None, "", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "severity", "element", "words"),
    [entry[1:] for entry in SEEDED if entry[2]],
    ids=[f"{entry[0]} {entry[1].name}" for entry in SEEDED if entry[2]],
)
def test_a_seeded_error_is_found_and_ranked(model, severity, element, words):
    before = diagnose(cr.load(model.name).model)
    found = [f for f in diagnose(model) if words in f.what and element in f.element]
    assert [f.severity for f in found] == [severity]
    assert not any(words in f.what and element in f.element for f in before)
    if severity != "note":
        assert found[0].why


@pytest.mark.parametrize("name", SOUND)
def test_sound_robots_have_nothing_serious_and_nothing_suspicious(name):
    diagnosis = cr.load(name).doctor()
    assert not diagnosis.serious
    assert not diagnosis.suspicious


def test_most_robots_of_example_robot_data_have_nothing_serious():
    """The files with serious findings have inertias that no body has, joints that move no mass, or lost mimics."""
    reasons = ("triangle inequality", "positive definite", "no mass", "is no joint", "radius of gyration")
    sound = []
    for path in sorted(robots_folder().rglob("*.urdf")):
        try:
            diagnosis = cr.load(path, check=False).doctor()
        except cr.ChainruleError:
            continue
        assert all(any(reason in finding.what for reason in reasons) for finding in diagnosis.serious), path
        sound += [path.stem] if not diagnosis.serious else []
    assert len(sound) >= 55


def test_problems_of_a_file_are_findings():
    text = to_urdf(cr.load("ur5"))
    effort = next(word for word in text.split() if word.startswith("effort="))
    text = text.replace(effort, 'effort="0"', 1).replace("<axis", "<axes", 1)
    diagnosis = cr.Robot.from_urdf(text, check=False).doctor()
    assert any("unknown element; did you mean <axis>" in finding.what for finding in diagnosis.serious)
    assert any('effort="0"' in finding.what for finding in diagnosis.suspicious)
    crossed = with_dof(cr.load("ur5").model, cr.load("ur5").joint_names[0], lower=2.0, upper=1.0)
    mended = cr.core.validation.validate(crossed, check=False, repair=True)
    assert any("repaired" in finding.what for finding in diagnose(mended).notes)


def test_geometry_says_how_large_a_link_is():
    box = Geometry(ARM, Box(Vector(0.1, 0.1, 0.2)), Transform.identity(), "collision")
    model = replace(PANDA, geometries=(box,))
    heavy = diagnose(with_link(model, ARM, mass=3587.0))
    assert any("denser than any metal" in f.what and ARM in f.element for f in heavy.serious)
    large = diagnose(with_link(model, ARM, inertia=Symmetric(5.0, 5.0, 5.0)))
    assert any("its shape is 0.245 m large" in f.what for f in large.suspicious)
    away = diagnose(with_link(model, ARM, com=Vector(0.6, 0.0, 0.0)))
    assert any("from its shape, 0.245 m large" in f.what for f in (*away.suspicious, *away.serious))


def test_meshes_that_are_not_there_are_named(tmp_path):
    (tmp_path / "here.stl").write_text("")
    meshes = [
        Mesh("here.stl", folder=str(tmp_path)),
        Mesh("gone.stl", folder=str(tmp_path)),
        Mesh("package://no/x.stl"),
    ]
    model = replace(PANDA, geometries=tuple(Geometry(ARM, mesh) for mesh in meshes))
    found = [f.what for f in diagnose(model).suspicious]
    assert found == ["name 2 meshes that are not there, such as 'gone.stl'"]
    one = replace(PANDA, geometries=(Geometry(ARM, meshes[2]),))
    assert diagnose(one).suspicious[0].what == "names the mesh 'package://no/x.stl', which is not there"
    assert not diagnose(replace(PANDA, geometries=(Geometry(ARM, meshes[0]),))).suspicious


def test_postures_outside_the_limits_are_named():
    plain = replace(PANDA, configurations=())
    assert any("neutral position outside its limits" in finding.what for finding in diagnose(plain).notes)


MIRRORED = (Dof(-1, 2, 1, 1), Dof(-2, 1, 1, 1))


def two_sided(left, right, dofs=MIRRORED):
    links = [Link("body"), Link("left_arm", *left), Link("right_arm", *right)]
    joints = [
        Joint(f"{side}_shoulder", "body", f"{side}_arm", Screw.revolute(Vector(0.0, 0.0, 1.0)), dofs=(dof,))
        for side, dof in zip(("left", "right"), dofs, strict=True)
    ]
    return Model.build("two", links, joints)


SIDE = (1.0, Vector(0.1, 0.2, 0.0), Symmetric(0.01, 0.01, 0.01))


def test_left_and_right_that_differ_are_named():
    assert not diagnose(two_sided(SIDE, SIDE)).suspicious  # mirrored limits are no difference
    heavier = diagnose(two_sided(SIDE, (1.1, *SIDE[1:])))
    assert any(
        f.element == "links 'left_arm' and 'right_arm'" and f.what == "weigh 1 and 1.1 kg" for f in heavier.suspicious
    )
    wider = diagnose(two_sided(SIDE, (*SIDE[:2], Symmetric(0.02, 0.02, 0.02))))
    assert any("principal moments (0.01, 0.01, 0.01) and (0.02, 0.02, 0.02) kg m^2" in f.what for f in wider.suspicious)
    moved = diagnose(two_sided(SIDE, (1.0, Vector(0.3, -0.2, 0.0), SIDE[2])))
    assert any("centers of mass 0.224 and 0.361 m" in f.what for f in moved.suspicious)
    limits = diagnose(two_sided(SIDE, SIDE, (Dof(-1, 2, 1, 1), Dof(-1, 1, 1, 5))))
    assert any("neither equal nor mirrored" in f.what for f in limits.notes)
    assert any("effort of 1 and 5" in f.what for f in limits.notes)


def test_pairs_of_names():
    names = ("left_arm", "right_arm", "l_hip", "r_hip", "FL_foot", "FR_foot", "LElbow", "RElbow", "hand_L", "hand_R",
             "lf_haa", "rf_haa", "elbow", "roll", "shell", "Left_q1", "Right_q1", "RL_hip", "RR_hip")  # fmt: skip
    assert len(pairs(names)) == 8
    assert list(mirrored_names("roll")) == []
    assert list(mirrored_names("lower_leg")) == []


def test_a_diagnosis_reads_as_a_report_and_as_plain_values():
    diagnosis = Diagnosis(
        "arm", [Finding("note", "joint 'a'", "is"), Finding("serious", "link 'b'", "has", "Because", "Do")]
    )
    assert [finding.severity for finding in diagnosis] == ["serious", "note"]
    assert len(diagnosis) == 2
    assert diagnosis[0].element == "link 'b'"
    assert str(diagnosis) == (
        "robot 'arm': 1 serious, 0 suspicious, 1 to note\nserious: link 'b' has\n  why: Because\n  do: Do\nnote: joint 'a' is"
    )
    assert repr(diagnosis) == str(diagnosis)
    plain = diagnosis.to_dict()
    assert plain["serious"] == 1
    assert plain["findings"][1] == {"severity": "note", "element": "joint 'a'", "what": "is", "why": "", "advice": ""}
    broken = diagnose_error("arm.urdf", cr.FormatError("no links"))
    assert broken.serious[0].what == "cannot be loaded: no links"
