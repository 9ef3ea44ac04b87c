"""Exported C: compiles without a warning, agrees, and stays as it was."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import program

import chainrule as cr
from chainrule.compile.codegen import c
from chainrule.compile.tape import Instruction, Tape
from compile.support import PANDA, arguments_of, close


@pytest.mark.parametrize("name", ["panda", "puma560", "quadruped"])
def test_exported_c_compiles_without_a_warning_and_agrees(name, tmp_path):
    robot = cr.load(name)
    functions = ["inverse_dynamics", "mass_matrix", "forward_dynamics", "friction_torque"]
    files = robot.compiled.export("c", functions=functions, path=tmp_path / "robot.c")
    assert {f.name for f in files} == {"robot.c", "robot.h", "robot_main.c"}
    binary = tmp_path / "robot"
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off"]
    subprocess.run(
        [program("gcc"), *flags, tmp_path / "robot.c", tmp_path / "robot_main.c", "-lm", "-o", binary], check=True
    )
    arguments = [arguments_of(robot, f, 5) for f in functions]
    text = " ".join(repr(float(x)) for group in arguments for a in group for x in a)
    lines = subprocess.run([binary], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    for function, group, line in zip(functions, arguments, lines, strict=True):
        expected = getattr(robot.reference, function)(*group)
        close(np.array(line.split(), dtype=float).reshape(expected.shape), expected, 1e-11)


def test_functions_of_subjects_have_names_that_are_identifiers(tmp_path):
    robot = cr.load("four_bar")
    robot.compiled.export("c", functions=["loops.residual", "mass_matrix"], path=tmp_path / "x.c")
    assert "void x_loops_residual(const double *x0, double *out);" in (tmp_path / "x.h").read_text()
    flags = ["-std=c99", "-Wall", "-Werror"]
    subprocess.run(
        [program("gcc"), *flags, tmp_path / "x.c", tmp_path / "x_main.c", "-lm", "-o", tmp_path / "x"], check=True
    )


def test_names_from_a_model_never_reach_generated_code(tmp_path):
    from dataclasses import replace

    model = cr.load("planar_2r").model
    hostile = '*/ int main(void){return 1;} /* "\\ \n'
    links = tuple(replace(link, name=link.name + hostile) for link in model.links)
    joints = tuple(
        replace(j, name=j.name + hostile, parent=j.parent + hostile, child=j.child + hostile) for j in model.joints
    )
    frames = tuple(replace(f, link=f.link + hostile) for f in model.frames)
    robot = cr.Robot(replace(model, name=hostile, links=links, joints=joints, frames=frames))
    kernel = robot.compiled.kernel("mass_matrix")
    assert "main" not in kernel.ir()
    for file in robot.compiled.export("c", functions=["mass_matrix"], path=tmp_path / "x.c"):
        assert "return 1;} /*" not in file.read_text()
    close(kernel(np.zeros((3, 2))), cr.load("planar_2r").reference.mass_matrix(np.zeros((3, 2))))


def test_comments_say_order_unit_and_frame_of_every_number(tmp_path):
    robot = cr.load("planar_rp")
    robot.compiled.export("c", functions=["inverse_dynamics", "jacobian", "static_torque"], path=tmp_path / "arm.c")
    text = " ".join((tmp_path / "arm.h").read_text().split())
    tip = robot.end_effector
    first, second = robot.joint_names
    assert f"x0[2] q: positions of {first} (rad); {second} (m)" in text
    assert f"x1[2] qd: velocities of {first} (rad/s); {second} (m/s)" in text
    assert f"out[2] torques or forces of {first} (N m); {second} (N)" in text
    assert (
        f"out[12] Jacobian of {tip}: rows (angular, linear), in base axes, the linear part that of its origin" in text
    )
    assert f"x1[6] wrench: (moment, force) that {tip} applies to its surroundings, in base axes" in text


def test_names_in_comments_cannot_end_them(tmp_path):
    from dataclasses import replace

    model = cr.load("planar_2r").model
    for hostile in ("*/ int broken; /*", "\\\n", "??/", "a\u00e9\nb", "x" * 5000):
        joints = tuple(replace(j, name=j.name + hostile) for j in model.joints)
        robot = cr.Robot(replace(model, joints=joints))
        files = robot.compiled.export("c", functions=["mass_matrix", "jacobian"], path=tmp_path / "x.c")
        header = (tmp_path / "x.h").read_text()
        assert "broken;" not in header or "_/ int broken; /_" in header
        sources = [str(f) for f in files if f.suffix == ".c"]
        flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wcomment", "-Wtrigraphs", "-Werror"]
        subprocess.run([program("gcc"), *flags, *sources, "-lm", "-o", tmp_path / "x"], check=True)


GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["pendulum.c", "pendulum.h", "pendulum_main.c"])
def test_the_c_text_of_a_small_kernel_is_as_it_was(name, tmp_path, request):
    """Run pytest with --update-golden after a change that is meant."""
    cr.load("pendulum").compiled.export("c", functions=["inverse_dynamics", "pose"], path=tmp_path / "pendulum.c")
    text = (tmp_path / name).read_text()
    if request.config.getoption("--update-golden"):
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("opencl",), "can be exported to the targets 'c', 'cuda'"),
        (("c", ["mass_matrx"]), "did you mean 'mass_matrix'"),
        (("c", "mass_matrix"), "functions must be a list of names"),
        (("c", ["mass_matrix"], "x.cpp"), "path must end in .c"),
    ],
)
def test_wrong_exports_are_refused(arguments, message, tmp_path):
    target, functions, path = [*arguments, *["c", ["bias"], "x.c"][len(arguments) :]]
    with pytest.raises(cr.ChainruleError, match=message):
        PANDA.compiled.export(target, functions=functions, path=tmp_path / path)


def test_files_that_chainrule_has_not_written_are_left_alone(tmp_path):
    robot = cr.load("pendulum")
    (tmp_path / "arm.h").write_text("my own header\n")
    with pytest.raises(cr.ShapeError, match=r"has not written '.*arm\.h', and would overwrite it"):
        robot.compiled.export("c", path=tmp_path / "arm.c")
    assert [p.name for p in tmp_path.iterdir()] == ["arm.h"]
    assert (tmp_path / "arm.h").read_text() == "my own header\n"
    robot.compiled.export("c", path=tmp_path / "arm.c", overwrite=True)
    first = (tmp_path / "arm.c").read_text()
    robot.compiled.export("c", functions=["pose"], path=tmp_path / "arm.c")  # its own files are replaced
    assert (tmp_path / "arm.c").read_text() != first
    assert {p.name for p in tmp_path.iterdir()} == {"arm.c", "arm.h", "arm_main.c"}
    (tmp_path / "arm_main.c").write_text("int main(void) { return 0; }\n")
    command = [sys.executable, "-m", "chainrule", "export", "pendulum", "-o", str(tmp_path / "arm.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "--force" in done.stderr
    subprocess.run([*command, "--force"], check=True, capture_output=True)
    assert "Written by chainrule" in (tmp_path / "arm_main.c").read_text()


def test_an_export_that_fails_leaves_the_files_as_they_were(tmp_path, monkeypatch):
    robot = cr.load("pendulum")
    robot.compiled.export("c", path=tmp_path / "arm.c")
    before = {p.name: p.read_text() for p in tmp_path.iterdir()}

    def full(self, content):
        with self.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        robot.compiled.export("c", functions=["pose"], path=tmp_path / "arm.c")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("stem", ['a"b\\', "*/ int x; /*", "#define y", "9 lives", "??/", "é\nmain()"])
def test_any_name_of_a_file_gives_c_that_compiles(stem, tmp_path):
    if "/" in stem:
        stem = stem.replace("/", "")
    files = cr.load("pendulum").compiled.export("c", path=tmp_path / f"{stem}.c")
    sources = [str(f) for f in files if f.suffix == ".c"]
    subprocess.run(
        [program("gcc"), "-std=c99", "-Wall", "-Werror", "-I", tmp_path, *sources, "-lm", "-o", tmp_path / "x"],
        check=True,
    )


@pytest.mark.parametrize(("x", "text"), [(1.5, "1.5"), (-2.0, "(-2.0)"), (math.inf, "INFINITY"), (math.nan, "NAN")])
def test_numbers_are_written_as_c_has_them(x, text):
    tape = Tape((1,), (Instruction("constant", constant=x),), (0,))
    assert f"out[0] = {text};" in c.source("r", {"f": tape})
