"""What new users type before they have read a page: it works, or says what to type instead."""

import pickle
import re

import numpy as np
import pytest

import chainrule as cr
from chainrule.dynamics.linearization import Linearization
from chainrule.formats.dh import DHTable
from chainrule.functions.named import InverseDynamicsDerivatives
from chainrule.inverse_kinematics.result import InverseKinematics
from chainrule.kinematics.ellipsoids import ManipulabilityEllipsoid

pytestmark = pytest.mark.interpreted

RESULTS = (cr.Trajectory, InverseKinematics, DHTable, ManipulabilityEllipsoid, cr.MonteCarlo, cr.symbolic.Document)

PUMA, PANDA = cr.load("puma560"), cr.load("panda")
Q = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]

SUBJECTS = ("ik", "loops", "analysis", "textbook", "derivatives", "centroidal", "parameters", "compiled", "degrees")

MADE_BY_OTHERS = {
    "Calibration", "Comparison", "Controller", "Excitation", "Exercise", "HandEye", "Identification", "InverseKinematics",
    "MonteCarlo", "Screw", "Statistics", "WorkspaceMap",
}  # fmt: skip
"""Classes whose objects functions make, or that are subclassed."""


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("fk", "use robot.pose(q)"),
        ("fkine", "use robot.pose(q)"),
        ("forward_kinematics", "use robot.pose(q)"),
        ("jacob0", "use robot.jacobian(q), whose angular rows come first"),
        ("rne", "use robot.inverse_dynamics(q, qd, qdd)"),
        ("rnea", "use robot.inverse_dynamics(q, qd, qdd)"),
        ("inertia", "use robot.mass_matrix(q)"),
        ("M", "use robot.mass_matrix(q)"),
        ("coriolis", "use robot.coriolis_matrix(q, qd)"),
        ("gravload", "use robot.gravity_torque(q)"),
        ("dh_parameters", "use robot.textbook.to_dh(convention=...)"),
        ("newton_euler", "use robot.textbook.newton_euler_table(q, qd, qdd)"),
        ("analytic_inverse_kinematics", "use robot.ik.branches(target)"),
        ("with_friction", 'use robot.edit(joints={"*": {"viscous": 0.1'),
        ("random", "use robot.random_state(rng, shape)"),
        ("gpu", 'use robot.compiled.kernel(name, "cuda")'),
        ("kernel", "there is robot.compiled.kernel"),
        ("to_dh", "there is robot.textbook.to_dh"),
        ("follow", "there is robot.ik.follow"),
        ("resolved_rate", "there is robot.analysis.resolved_rate"),
        ("qpos", "use robot.home(), and q is an argument of every function: a robot holds no state"),
        ("ikine_QP", "use robot.inverse_kinematics(target)"),
        ("mass_matrx", "did you mean robot.mass_matrix"),
        ("xyzzy", "dir() lists what there is"),
    ],
)
def test_names_that_a_robot_does_not_have(name, advice):
    assert not hasattr(PUMA, name)
    with pytest.raises(AttributeError) as caught:
        getattr(PUMA, name)
    assert isinstance(caught.value, cr.UnknownNameError)
    assert f"a Robot has no attribute {name!r}; {advice}" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("from_dh", r"there is cr\.Robot\.from_dh$"),
        ("DH", r"use cr\.Robot\.from_dh\(rows, convention=\.\.\.\)"),
        ("load_motion", r"use cr\.Trajectory\.load\(path, robot\)"),
        ("generate_dataset", r"use cr\.dataset\(paths\)"),
        ("inverse_dynamics", r"there is robot\.inverse_dynamics$"),
        ("robot_names", r"use cr\.robots\(\)"),
        ("LQR", r"use robot\.linearize\(q, qd, tau\)"),
        ("SlidingMode", r"use cr\.Controller"),
    ],
)
def test_names_that_the_package_does_not_have(name, advice):
    with pytest.raises(AttributeError, match=f"module 'chainrule' has no attribute '{name}'.*{advice}"):
        getattr(cr, name)


def test_every_word_of_others_leads_to_something_that_there_is():
    from chainrule.display import words

    for word in (*words.ROBOT, *words.PACKAGE):
        path = re.search(r"(robot|cr|chainrule)\.[\w.]+", word.here)[0].split(".")
        owner = {"robot": PUMA, "cr": cr, "chainrule": __import__("chainrule.spatial")}[path[0]]
        for name in path[1:]:
            owner = getattr(owner, name)
    results = [{*dir(cls), *getattr(cls, "__dataclass_fields__", {})} for cls in RESULTS]
    results += [{*cls._fields} for cls in (Linearization, InverseDynamicsDerivatives)]
    missing = [word.here for word in words.RESULTS if not any(word.here in names for names in results)]
    assert missing == []


def test_a_word_of_others_is_asked_for_only_where_it_is_no_name_here():
    from chainrule.display import words

    assert [other for word in words.ROBOT for other in word.words() if hasattr(PUMA, other)] == []
    assert [other for word in words.PACKAGE for other in word.words() if hasattr(cr, other)] == []


def test_every_word_of_others_is_answered_by_the_table_of_its_owner():
    from chainrule.display import words

    for table, owner in ((words.ROBOT, PUMA), (words.PACKAGE, cr)):
        for word in table:
            for other in word.words():
                with pytest.raises(cr.UnknownNameError) as caught:
                    getattr(owner, other)
                assert word.here in str(caught.value) or "; there is " in str(caught.value)


def test_the_table_of_words_is_printed_for_the_docs():
    from chainrule.display import words

    lines = words.markdown().splitlines()
    assert len({line.count(" | ") for line in lines}) == 1
    assert any("`robot.pose(q)` | `fkine` | `getTransform` | `forwardKinematics`" in line for line in lines)


def test_names_that_a_subject_does_not_have():
    with pytest.raises(
        AttributeError, match=r"robot\.loops has no attribute 'forcs'; did you mean robot\.loops\.forces"
    ):
        PUMA.loops.forcs
    with pytest.raises(cr.ArgumentError, match=r"robot\.ik is a subject, not a function; it has branches, .* solve"):
        PUMA.ik(PUMA.pose(Q))


def test_a_property_that_fails_says_why_itself():
    class Broken(cr.Robot):
        @property
        def broken(self):
            raise AttributeError("its own words")

    with pytest.raises(AttributeError, match="its own words"):
        Broken(PUMA.model).broken


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda: PUMA.pose(Q, degrees=True), r"pose: .* 'degrees'; angles are in radians: np\.radians"),
        (lambda: PUMA.pose(Q, lnk="link3"), "perhaps 'link' is meant; it takes q, link, relative_to, out"),
        (PUMA.pose, "pose: missing a required argument: 'q'"),
        (
            lambda: PUMA.gravity_torque(Q, Q),
            "gravity_torque: too many positional arguments: those after q are given by their names; it takes q, out",
        ),
        (lambda: PUMA.degrees.pose(Q, lnk="link3"), "pose: .* perhaps 'link' is meant"),
        (lambda: PUMA.inverse_dynamics(Q, gravity=(0, 0, 0)), r"robot\.edit\(gravity="),
        (lambda: PUMA.inverse_kinematics(PUMA.pose(Q), tol=1e-3), r"tolerance= is in m and rad"),
        (lambda: PUMA.inverse_kinematics(PUMA.pose(Q), mask=[1] * 6), 'task="position"'),
        (lambda: PUMA.simulate(Q, tspan=[0, 1]), r"duration= is the time in s"),
        (lambda: PUMA.simulate(Q, method="RK45"), r"integrator= names the method"),
        (lambda: cr.plan(PUMA, [Q, Q], duration=2.0), r"times= is the duration in s"),
        (lambda: PUMA.pose(Q, frame="world"), "relative_to= names the frame"),
        (PUMA.lock, "lock: missing a required argument: 'positions'"),
        (PUMA.save, "save: missing a required argument: 'path', where to write it"),
        (lambda: cr.PD(PUMA), "PD: missing a required argument: 'target', a configuration, a plan"),
        (lambda: cr.PD(PUMA, Q)(0.0, Q), "PD: missing a required argument: 'qd'; it takes t, q, qd, z"),
        (lambda: cr.Stops(stifness=1.0), "perhaps 'stiffness' is meant"),
        (lambda: cr.RK4(step=0.1), "RK4: there is no argument 'step'; it takes dt"),
        (lambda: cr.build("arm").link("a", weight=1.0), "link: there is no argument .weight.; mass= is in kg"),
        (lambda: cr.robots("arms"), "robots: it takes nothing, and lists them all"),
        (lambda: PUMA.inverse_dynamics(Q, f_ext=[0.0] * 6), r"external=\{link: wrench\} what acts on a link"),
        (lambda: PUMA.manipulability(Q, tasks="pose"), "perhaps 'task' is meant"),
        (lambda: PUMA.mass_matrix(Q, parameters={"link2.mass": 1.0}), r"robot\.at\("),
        (lambda: PUMA.inverse_kinematics(PUMA.pose(Q), all=True), r"robot\.ik\.branches\(target\) has all"),
        (lambda: PUMA.inverse_kinematics(position=[0.4, 0.2, 0.3], quaternion=[1, 0, 0, 0]), "a target is a pose"),
        (lambda: PUMA.simulate(q0=Q, controller=cr.PD(PUMA, Q)), r"torque=cr\.PD\(robot, target\)"),
        (lambda: cr.human_arm(weight=80), "mass= is in kg"),
        (
            lambda: cr.Robot.from_dh([[0, 0.5, 0, 0]]),
            "from_dh: missing a required argument: 'convention', convention=\"standard\" or",
        ),
        (
            lambda: cr.monte_carlo(PUMA, runs=100),
            "monte_carlo: missing a required argument: 'draw', such as",
        ),
    ],
)
def test_arguments_that_a_function_does_not_take(call, advice):
    with pytest.raises(cr.ArgumentError, match=advice) as caught:
        call()
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("owner", ["cr", "robot", *(f"robot.{name}" for name in SUBJECTS)])
def test_whatever_is_called_with_an_argument_that_there_is_not_says_what_it_takes(owner):
    thing = cr if owner == "cr" else PUMA if owner == "robot" else getattr(PUMA, owner.partition(".")[2])
    silent = []
    for name in dir(thing):
        function = None if name.startswith("_") else getattr(thing, name)
        if not callable(function) or name in MADE_BY_OTHERS:
            continue
        if isinstance(function, type) and issubclass(function, (Exception, Warning)):
            continue
        try:
            function(nonsense=1)
        except cr.ChainruleError:
            continue
        except TypeError:
            pass
        silent.append(name)
    assert silent == []


def test_a_motion_and_a_builder_say_what_their_methods_take():
    motion = PUMA.simulate(Q, duration=0.01)
    with pytest.raises(cr.ArgumentError, match="resample: missing a required argument: 'times'"):
        motion.resample()
    with pytest.raises(cr.ArgumentError, match="load: missing a required argument: 'source'; it takes source, robot"):
        cr.Trajectory.load()
    with pytest.raises(cr.ArgumentError, match="plot: there is no argument 'quantity'"):
        motion.plot(quantity="tau")
    with pytest.raises(cr.ShapeError, match=r'\.column\("q\.JOINT"\) is one number over time'):
        motion["joint1"]


def test_an_error_of_a_users_function_stays_as_it_is():
    def broken(t, q, qd):
        raise TypeError("its own words")

    with pytest.raises((TypeError, cr.ChainruleError), match="its own words"):
        PUMA.simulate(Q, None, 0.01, broken)


def test_numbers_that_cannot_be_meant():
    with pytest.raises(cr.ShapeError, match=r"the duration comes after it: simulate\(q0, None, 2\.0\)"):
        PANDA.simulate(PANDA.home(), 2.0)
    with pytest.raises(cr.ShapeError, match=r"robot\.q\('home'\)"):
        PANDA.forward_dynamics("home")
    with pytest.raises(cr.ShapeError, match="180 rad, more than one turn"):
        PANDA.inverse_kinematics([0.4, 0.1, 0.3, 0, 180, 0])
    with pytest.raises(cr.ShapeError, match="three numbers are a point: task='position'"):
        PANDA.inverse_kinematics([0.4, 0.1, 0.3])
    with pytest.warns(cr.ModelWarning, match="joint 'panda_joint2' is at 45 rad, .* if these are degrees"):
        cr.load("panda").pose([0, 45, 0, -90, 0, 90, 0])


def test_an_answer_is_true_where_the_target_is_reached():
    assert PANDA.inverse_kinematics(PANDA.pose(PANDA.home()), PANDA.home())
    assert not PANDA.inverse_kinematics([9.0, 0.0, 0.0], task="position", restarts=1)
    many = PANDA.inverse_kinematics([PANDA.pose(PANDA.home())] * 2, PANDA.home())
    with pytest.raises(cr.ShapeError, match=r"solutions of 2 targets; .* \.success\.all\(\)"):
        bool(many)


def test_rates_that_are_left_out_are_zero():
    zero = np.zeros(6)
    assert np.array_equal(PUMA.linearize(Q).A, PUMA.linearize(Q, zero, zero).A)
    assert np.array_equal(PUMA.textbook.rnea_table(Q).tau, PUMA.inverse_dynamics(Q))
    assert np.array_equal(PUMA.textbook.newton_euler_table(Q, zero).tau, PUMA.textbook.newton_euler_table(Q).tau)
    assert np.array_equal(PUMA.textbook.matrix_form(Q).g, PUMA.textbook.matrix_form(Q, zero).g)
    assert np.array_equal(PUMA.acceleration(Q, Q), PUMA.acceleration(Q, Q, zero))
    bar = cr.load("four_bar")
    assert np.array_equal(bar.loops.torques(bar.home()).tau, bar.loops.torques(bar.home(), [0] * 3, [0] * 3).tau)


def test_a_number_as_index_of_a_motion_says_what_there_is():
    with pytest.raises(cr.ShapeError, match=r"row\(3\) is a motion of the batch"):
        PUMA.simulate([Q] * 4, duration=0.002)[3]
    with pytest.raises(cr.ShapeError, match=r"\.q\[3\] is a configuration"):
        PUMA.simulate(Q, duration=0.002)[3]


def test_a_recording_of_some_joints_holds_the_others_by_one_word():
    arm, t = cr.human_arm(), np.linspace(0.0, 1.0, 50)
    table = {"time": t, "elbow_flexion_rad": 0.8 + 0.1 * np.sin(t)}
    with pytest.raises(cr.UnknownNameError, match="constant='neutral'"):
        cr.Trajectory.load(table, arm)
    motion = cr.Trajectory.load(table, arm, constant="neutral")
    others = [name != "elbow_flexion" for name in arm.coordinate_names]
    assert np.array_equal(motion.q[:, others], np.broadcast_to(arm.neutral()[others], (50, 6)))
    assert motion.q[0, 3] == pytest.approx(0.8, abs=1e-3)
    with pytest.raises(cr.UnknownNameError, match="no configuration named 'rest'"):
        cr.Trajectory.load(table, arm, constant="rest")
    with pytest.raises(cr.UnknownNameError, match="no column for"):
        cr.Trajectory.load({"time": t, "other": t}, arm, constant="neutral")


def test_names_are_suggested_whatever_their_case():
    with pytest.raises(cr.UnknownNameError, match="did you mean 'puma560'"):
        cr.load("PUMA560")
    with pytest.raises(cr.UnknownNameError, match="did you mean 'panda_link8'"):
        PANDA.pose([*Q, 0.0], "Panda_Link8")


@pytest.mark.parametrize("name", ["ur5x", "UR-50", "iiwa99", "panda3"])
def test_a_robot_with_another_number_in_its_name_is_not_proposed_as_the_same(name):
    with pytest.raises(cr.UnknownNameError, match=r"the nearest name, '\w+', is that of another robot.*a file"):
        cr.load(name)


def test_another_spelling_of_a_robot_leads_to_it():
    for spelling in ("UR5", "ur-5", "ur_5"):
        with pytest.raises(cr.UnknownNameError, match="did you mean 'ur5'"):
            cr.load(spelling)


def test_what_is_no_function_says_so_where_it_is_called():
    with pytest.raises(cr.ArgumentError, match=r"its torques are robot\.gravity_torque\(q\)"):
        PUMA.gravity(Q)
    assert type(2 * PUMA.gravity) is np.ndarray
    with pytest.raises(cr.UnknownNameError, match=r"cr\.robots\(\) lists them; it has no 'names'"):
        cr.robots.names()
    assert pickle.loads(pickle.dumps(cr.robots)) is cr.robots
    with pytest.raises(cr.ArgumentError, match=r"called: controller\(t, q, qd\)"):
        cr.GravityCompensation(PUMA).torque(Q)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("position", r"use \.q$"),
        ("torques", r"use \.tau"),
        ("qvel", r"use \.qd"),
        ("to_csv", r"use \.save"),
        ("Time", r"use \.t$"),
    ],
)
def test_words_of_others_lead_to_what_a_trajectory_has(name, advice):
    motion = PUMA.simulate(Q, duration=0.01)
    with pytest.raises(cr.UnknownNameError, match=f"a Trajectory has no attribute {name!r}; {advice}"):
        getattr(motion, name)


def test_a_trajectory_says_where_a_function_is():
    motion = PUMA.simulate(Q, duration=0.01)
    with pytest.raises(AttributeError, match=r"a Trajectory has no attribute 'animate'; there is robot\.animate"):
        motion.animate("film.gif")
    with pytest.raises(AttributeError, match="did you mean 'duration'"):
        _ = motion.durations


def test_a_study_of_motions_is_run_by_its_name_too():
    motion = PUMA.simulate(Q, duration=0.05)
    assert cr.study(PUMA, motions=motion).overall.keys() == cr.study.run(PUMA, motions=motion).overall.keys()
    with pytest.raises(cr.ShapeError, match="motions of your own go in by name: motions="):
        cr.study(PUMA, [motion])


def test_words_of_others_lead_to_what_a_controller_has():
    law = cr.GravityCompensation(PUMA)
    with pytest.raises(cr.UnknownNameError, match=r"no attribute 'update'; use the controller itself: controller\(t"):
        law.update
    with pytest.raises(cr.UnknownNameError, match=r"no attribute 'Kp'; use cr\.default_gains"):
        law.Kp


def test_words_of_others_lead_to_what_a_link_and_a_joint_have():
    for part, name, advice in (
        (PUMA.links["link2"], "inertia_matrix", r"a link has no attribute 'inertia_matrix'; use \.inertia"),
        (PUMA.joints["joint2"], "max_torque", r"use \.effort"),
        (PUMA.links, "link2", r"robot\.links\['link2'\]"),
        (PUMA.joints, "elbow", r"robot\.joints\[NAME\]"),
    ):
        with pytest.raises(AttributeError, match=advice):
            getattr(part, name)
    with pytest.raises(KeyError, match=r"found by their names: robot\.joints\['joint1'\]"):
        PUMA.joints[0]


def test_results_that_are_no_arrays_say_what_their_parts_are_called():
    with pytest.raises(cr.ShapeError, match=r"have names, \.q, \.success and \.error"):
        _q, _success = PUMA.inverse_kinematics(PUMA.pose(Q), Q)
    with pytest.raises(cr.ShapeError, match=r"\.lower\[1\], \.upper\[1\]"):
        PUMA.limits["joint2"]
    with pytest.raises(cr.UnknownNameError, match=r"terms\['gravity'\]"):
        PUMA.torque_terms(Q).gravity
    with pytest.raises(cr.UnknownNameError, match=r"a Linearization has no attribute 'input_matrix'; use \.B$"):
        PUMA.linearize(Q).input_matrix


def test_frames_of_others_lead_to_those_here():
    with pytest.raises(cr.UnknownNameError, match=r"named 'LOCAL'; that is 'body'"):
        PUMA.jacobian(Q, frame="LOCAL")
    with pytest.raises(cr.UnknownNameError, match=r"named 'WORLD'; that is 'space'"):
        PUMA.jacobian(Q, frame="WORLD")
    with pytest.raises(cr.UnknownNameError, match=r"no link or frame named 'body'.*axes are chosen by frame='body'"):
        PUMA.jacobian(Q, "body")
    with pytest.raises(cr.ShapeError, match="link='link3' is the link"):
        PUMA.inverse_kinematics(PUMA.pose(Q), "link3")


@pytest.mark.parametrize(("torque", "advice"), [(lambda t: t, r"takes \(t\)"), ("pd", r"a controller such as cr\.PD")])
def test_a_torque_that_is_none_says_what_it_may_be(torque, advice):
    with pytest.raises(cr.ShapeError, match=f"function of \\(t, q, qd\\).*{advice}|{advice}.*function of"):
        PUMA.simulate(Q, duration=0.01, torque=torque)


def test_makers_lead_to_their_robots():
    with pytest.raises(cr.UnknownNameError, match="of that maker there is 'iiwa14'"):
        cr.load("KUKA")
    with pytest.raises(cr.UnknownNameError, match="of that maker there are 'go2', 'g1'"):
        cr.load("Unitree G1")
    with pytest.raises(cr.UnknownNameError, match="Other robots are loaded from a file"):
        cr.load("xyzzy")


def test_the_studio_is_no_function():
    import chainrule.studio

    with pytest.raises(cr.ArgumentError, match=r"robot\.show\(q\) opens the page"):
        chainrule.studio(PUMA)


def test_angles_in_degrees_have_limits_in_degrees_and_other_words_lead_there():
    limits = PANDA.degrees.limits
    assert np.allclose(limits.lower, np.degrees(PANDA.limits.lower))
    assert limits.units == ("deg",) * 7
    assert np.array_equal(limits.effort, PANDA.limits.effort)
    slides = cr.load("planar_rp").degrees.limits
    assert slides.units == ("deg", "m")
    assert slides.upper[1] == cr.load("planar_rp").limits.upper[1]
    with pytest.raises(cr.UnknownNameError, match=r"no function named 'fkine'; use robot\.degrees\.pose\(q\)"):
        PANDA.degrees.fkine
    with pytest.raises(cr.UnknownNameError, match=r"robot\.simulate itself has angles in radians.*np\.radians"):
        PANDA.degrees.simulate
    with pytest.raises(cr.ShapeError, match=r"plan: the first argument must be a Robot.*np\.radians"):
        cr.plan(PANDA.degrees, [[0] * 7, [10] * 7])


def test_a_plan_prints_its_way_points():
    shown = repr(cr.plan(PUMA, [Q, [0.0] * 6], times=1.5)).splitlines()
    assert shown[0] == "a motion of 1.5 s through 2 way-points: q, qd, qdd = motion(t)"
    assert shown[1].split() == ["time,", "s", *(f"q[{i}]" for i in range(6))]
    assert shown[3].split()[0] == "1.5"
    pose = repr(cr.plan_pose([np.eye(4), np.eye(4)], times=[0.0, 1.0])).splitlines()
    assert pose[1].split() == ["time,", "s", "x,", "m", "y,", "m", "z,", "m"]


def test_an_error_that_is_rounding_is_shown_as_zero():
    solution = PANDA.inverse_kinematics(PANDA.pose(PANDA.home()), PANDA.home() + 0.1)
    assert "e-" not in repr(solution)
    assert "e-" not in repr(PANDA.ik.follow([PANDA.pose(PANDA.home())] * 2, PANDA.home() + 0.1))


@pytest.mark.parametrize("change", ["gravity", "mass", "payload", "q", "end_effector", "anything"])
def test_a_robot_takes_no_attributes_which_no_function_would_read(change):
    with pytest.raises(AttributeError, match=r"a Robot is never changed.*robot\.(edit|with_\w+)\(.*gives a new robot"):
        setattr(cr.load("pendulum"), change, 1.0)


def test_parts_and_controllers_take_no_numbers_that_nothing_would_read():
    with pytest.raises(AttributeError, match=r"a link is never changed.*edit\(links=\{'panda_link3': \{'mass'"):
        PANDA.links["panda_link3"].mass = 3.0
    with pytest.raises(AttributeError, match=r"a joint is never changed.*edit\(joints=\{'panda_joint4': \{'lower'"):
        PANDA.joints["panda_joint4"].lower = -1.0
    with pytest.raises(cr.ArgumentError, match=r"a robot is not changed: robot.edit\(gravity="):
        PANDA.gravity[2] = 0.0
    with pytest.raises(AttributeError, match="a controller is given its gains when it is made"):
        cr.PD(PANDA, PANDA.home()).kp = 3.0


def test_a_controller_of_a_user_has_gains_of_its_own():
    class Spring(cr.Controller):
        def __init__(self, robot, kp):
            super().__init__(robot, {})
            self.kp = kp

        def torque(self, q, qd, z, s, p):
            return [-self.kp * x for x in q], []

    spring = Spring(PUMA, 2.0)
    spring.kp = 3.0
    assert np.allclose(spring(0.0, Q, [0.0] * 6), -3.0 * np.array(Q))


@pytest.mark.parametrize(
    ("owner", "name", "advice"),
    [
        (cr.Robot, "load", "the class Robot has no attribute 'load'; there is cr.load"),
        (cr.Robot, "URDF", r"use cr\.load\(path\)"),
        (cr.Robot, "from_drf", r"did you mean cr\.Robot\.from_sdf"),
        (cr.wheels, "differential", "did you mean 'DifferentialDrive'"),
        (cr.symbolic, "lagrangian", "did you mean 'Lagrangian'"),
    ],
)
def test_classes_and_packages_advise_too(owner, name, advice):
    with pytest.raises(AttributeError, match=advice):
        getattr(owner, name)
    assert not hasattr(owner, "_private")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Panda", r"did you mean 'panda'\?$"),
        ("pand", r"did you mean 'panda' or 'panda_hand'\?$"),
        ("ur5e_robot", r"did you mean 'ur5e'\?$"),
        ("zzz", r"there are: 'cartesian_3p', .*'xarm7'\. Other robots are loaded from a file"),
    ],
)
def test_names_of_robots_lead_to_bundled_ones_first(name, advice):
    with pytest.raises(cr.UnknownNameError, match=advice):
        cr.load(name)


def test_a_robot_that_sounds_a_little_alike_is_not_proposed():
    with pytest.raises(cr.UnknownNameError) as caught:
        cr.load("anymal")
    assert "did you mean 'panda" not in str(caught.value)


def test_integrators_that_choose_their_steps_do_not_lead_to_one_that_does_not():
    with pytest.raises(cr.UnknownNameError, match="choose their steps are 'dop853', 'radau', 'lsoda'"):
        PUMA.simulate(Q, duration=0.1, integrator="RK45")


def test_what_follows_a_hand_refuses_what_cannot_be_walked_through():
    class Raises:
        def __iter__(self):
            raise RuntimeError("no")

    with pytest.raises(cr.ShapeError, match="targets must be a sequence"):
        next(PUMA.ik.stream(Raises()))
