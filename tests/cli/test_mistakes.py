"""Mistakes as newcomers make them: one line, in the words of the command line, and an exit code that says whose fault."""

import re

import pytest

from chainrule.cli.console import Command
from cli.entry import run

pytestmark = pytest.mark.interpreted


MISTAKES = [
    ("torque panda --q 0,0,0,a,0,0,0", 2, "--q: 'a' is not a number"),
    ("torque panda --q 90deg,0,0,0,0,0,0", 2, "--q: '90deg' is not a number; give --degrees, and the number alone"),
    ("torque panda --qd 1m", 2, "such as elbow=0.5; give the number alone, in rad or m"),
    ("torque panda --q panda_joint1=90deg", 2, "; give --degrees, and the number alone"),
    ("torque planar_2r --tip-wrench 1,2,3", 2, "--tip-wrench: takes 6 numbers, got 3"),
    (
        "ik panda --xyz 0.4,0,0.4 --rpy 180,0,0",
        2,
        "--rpy: an angle is 180 rad, more than one turn; if it is in degrees",
    ),
    (
        "ik panda --pose 0.4,0,0.4,180,0,0",
        2,
        "an angle is 180 rad, more than one turn; if it is in degrees, give --degrees",
    ),
    ("ik panda --xyz 0.4 0.1 0.3", 2, "--xyz: takes 3 numbers, got 1; with commas between, such as 0.1,0.1,0.1"),
    ("fk panda", 2, "No such command 'fk'; that is `chainrule pose`"),
    ("help", 2, "No such command 'help'; that is `chainrule --help`"),
    ("pose panda --link hand", 1, "robot 'panda' has no link or frame named 'hand'; there are: 'panda_link0'"),
    ("pose panda --order zzz", 2, "--order: there is no order 'zzz'; did you mean 'zyz'?"),
    ("pose panda --plot nowhere/x.png", 2, "--plot: there is no folder 'nowhere'; make it first"),
    ("pose panda --plot x.docx", 2, "--plot: the file must end in .png, .pdf or .svg, got 'x.docx'"),
    ("pose panda --plot .png/", 2, "--plot: the file must end in"),
    ("simulate pendulum --save x.xlsx", 2, "--save: the file must end in .npz, .csv or .parquet, got 'x.xlsx'"),
    ("workspace planar_2r --cell 0.1 --output x.txt", 2, "--output: the file must end in .npz, got 'x.txt'"),
    ("simulate pendulum --duration -1", 2, "--duration: must be a number of seconds above 0, got '-1'"),
    ("simulate pendulum --duration nan", 2, "--duration: must be a number of seconds above 0, got 'nan'"),
    ("simulate pendulum --dt 0", 2, "--dt: must be a number of seconds above 0, got '0'"),
    ("simulate pendulum --dt 10", 1, "--dt (10 s) is longer than the duration (5 s)"),
    ("simulate pendulum --record 0", 2, "--record: 0 is not in the range x>=1"),
    ("simulate pendulum --duration 1e9", 1, "keep fewer with a larger --record ..."),
    ("simulate pendulum --integrator rk5", 2, "--integrator: there is no integrator 'rk5'; did you mean 'rk4'?"),
    ("simulate pendulum --controller pdd", 2, "--controller: there is no controller 'pdd'; did you mean 'pd'?"),
    ("simulate pendulum --kp 3", 2, "--target and gains belong to a controller; name one: gravity, pd"),
    ("simulate pendulum --controller pd --torque 3", 2, "give either --torque or --controller"),
    ("simulate pendulum --controller gravity --kp 3", 2, "the controller gravity has no --kp"),
    ("simulate pendulum --controller gravity --target 1", 2, "the controller gravity has no --target"),
    ("simulate pendulum --controller impedance --kp hinge=3", 2, "--kp: takes one number, or six"),
    ("simulate pendulum --stops 1,2,3", 2, "--stops takes a stiffness and a damping, such as 1000,10, got 3 numbers"),
    ("simulate pendulum --stops 1 --restitution 0.5", 2, "give either --stops or --restitution"),
    ("simulate panda --q0 neutral", 1, "start within them, or give --ignore-limits to start anywhere"),
    ("ik panda", 2, "say where to: --xyz for a position in m, --rpy for an orientation, or both"),
    ("ik panda --xyz 1,2", 2, "--xyz: takes 3 numbers, got 2"),
    ("ik panda --xyz 1,2,x", 2, "--xyz: '1,2,x' should be numbers separated by commas"),
    ("ik panda --xyz 1,2,3 --method lmm", 2, "--method: there is no method 'lmm'; did you mean 'lm'?"),
    ("ik panda --xyz 1,2,3 --task axis", 2, "--task axis needs more of a target: give --xyz and --rpy, or --pose"),
    ("ik panda --pose 1,2,3,0,0,0 --xyz 1,2,3", 2, "--pose has position and orientation: leave out --xyz, --rpy and"),
    ("ik panda --direction 0,0,1 --xyz 1,2,3", 2, "--direction is a target of its own: leave out --xyz and --rpy"),
    (
        "ik panda --direction 0,0,1 --posture center --history",
        1,
        "--history records the way to the target; leave out --p",
    ),
    ("ik panda --xyz 1,2,3 --task positon", 2, "--task: there is no task 'positon'; did you mean 'position'?"),
    ("ik panda --all --xyz 1,2,3", 2, "--all lists the solutions for a whole pose: give --xyz and --rpy"),
    ("ik panda --all --xyz 1,2,3 --rpy 0,0,0", 1, "leave out --all to solve it numerically"),
    ("export planar_2r -o nowhere/a.c", 2, "--output: there is no folder 'nowhere'"),
    ("export planar_2r -o .", 2, "--output: '.' is a folder; name a file"),
    ("export planar_2r -o a.py", 1, "--output must end in .c, got 'a.py'"),
    ("export planar_2r -o a.c --function mass", 2, "--function: there is no function 'mass'; did you mean"),
    ("export planar_2r -o a.c --target rust", 2, "--target: there is no target 'rust'; there are: 'c'"),
    ("equations panda", 1, "take --parameters numeric, or in Python robot.equations(...).intermediate()"),
    ("workspace panda --samples ten", 2, "--samples: 'ten' is not a valid integer"),
    ("workspace panda --colur payload", 2, "No such option '--colur'"),
    ("info panda --repair --strict", 2, "give either --repair or --strict"),
    ("info panda --args hand", 2, "--args: 'hand' should be a name and a value, such as hand:=true"),
    ("info panda extra", 2, "Got unexpected extra argument (extra)"),
    ("pose planar_2r 0.1 0.2", 2, "numbers have an option: --q 0.1,0.2"),
    ("ik planar_2r 0.4,0.1,0.3", 2, "numbers have an option: --xyz 0.4,0.1,0.3"),
    ("completion tcsh", 2, "there is no shell 'tcsh'; did you mean"),
    ("bench --seconds 4000", 1, "--seconds must be a time up to 3600 s, got 4000"),
]


@pytest.mark.parametrize(("line", "code", "message"), MISTAKES, ids=[line for line, _, _ in MISTAKES])
def test_a_mistake_ends_in_one_line_of_option_names(line, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*line.split())
    assert message in done.stderr
    assert done.returncode == code
    assert not done.stdout
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert ("--help)" in done.stderr) is (code == 2)
    assert not re.search(r"\w+=(True|False|None)\b", done.stderr)


def test_no_keyword_of_python_is_left_in_a_message():
    from click import Option

    words = Command(
        "x", params=[Option(["--q0"]), Option(["--record-every"]), Option(["--dt"]), Option(["--integrator"])]
    )
    assert words.in_option_words("simulate: q0 must have 2 numbers") == "--q0 must have 2 numbers"
    assert (
        words.in_option_words("take a smaller dt, or integrator='radau'")
        == "take a smaller --dt, or --integrator 'radau'"
    )
    assert words.in_option_words("PD: record_every is 3") == "--record-every is 3"
    assert words.in_option_words("the joint 'q0' of robot.q0 is a method") == "the joint 'q0' of robot.q0 is a method"


@pytest.mark.filterwarnings("always::chainrule.errors.ModelWarning")
def test_a_warning_is_one_line_in_option_words():
    done = run("simulate", "quadruped", "--controller", "pd", "--duration", "0.01")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: no motor drives 'floating_base' of robot 'quadruped'")
    assert done.stderr.count("\n") == 1
    assert "actuated=" not in done.stderr
    assert ".py" not in done.stderr


def test_an_interrupted_command_exits_with_130(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("chainrule.cli.torque.torque_table", interrupt)
    done = run("torque", "planar_2r")
    assert done.returncode == 130
    assert done.stderr.strip() == "interrupted"


def test_without_a_command_the_help_is_printed():
    done = run()
    assert done.returncode == 2
    assert "Usage: chainrule [OPTIONS] COMMAND" in done.stderr
    assert "error" not in done.stderr
