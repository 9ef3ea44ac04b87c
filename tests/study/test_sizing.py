import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrule as cr
from chainrule import study
from chainrule.study.drives import Drive
from chainrule.study.sizing import Balancer, JointStates, outermost, with_drives

OWN = """
format = 1
[[motor]]
name = "weak"
source = "made up"
mass = 0.1
voltage = 24
torque_constant = 0.05
resistance = 1.0
rotor_inertia = 1e-5
continuous_torque = 0.1
peak_torque = 0.4
max_speed = 400
cost = 300
[[motor]]
name = "strong"
source = "made up"
mass = 0.5
voltage = 48
torque_constant = 0.1
resistance = 0.3
rotor_inertia = 1e-4
continuous_torque = 0.6
peak_torque = 2.4
max_speed = 400
cost = 100
[[gear]]
name = "50"
source = "made up"
ratio = 50
efficiency = 0.8
mass = 0.2
rated_torque = 40
peak_torque = 80
max_input_speed = 600
no_load_torque = 0.01
cost = 50
[[gear]]
name = "100"
source = "made up"
ratio = 100
efficiency = 0.7
mass = 0.3
rated_torque = 60
peak_torque = 120
max_input_speed = 600
inertia = 1e-5
cost = 80
"""


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    path = tmp_path_factory.mktemp("motors") / "own.toml"
    path.write_text(OWN)
    return study.drives(path)


@pytest.fixture(scope="module")
def result(person):
    return study.run(person, ["reach_right_move_left", "pour_from_bottle", "brush_teeth"], rate=200)


def test_the_bundled_catalogue_names_its_sources():
    bundled = study.drives()
    for item in (*bundled.motors.values(), *bundled.gears.values()):
        assert len(item.source) > 10
    masses = [drive.mass for drive in bundled.drives]
    assert masses == sorted(masses)
    built_in = [drive for drive in bundled.drives if drive.motor.gear]
    assert all(drive.gear.name == drive.motor.gear for drive in built_in)


def test_a_drive_obeys_its_equations(catalogue):
    drive = Drive(catalogue.motors["strong"], catalogue.gears["50"])
    assert drive.inertia == pytest.approx(1e-4 * 2500)
    assert drive.friction == pytest.approx(0.5)
    driving = drive.motor_torque(np.array([10.0]), np.array([2.0]), np.array([4.0]))
    assert driving == pytest.approx(0.02 + 0.01 + 0.25)
    driven = drive.motor_torque(np.array([10.0]), np.array([-2.0]), np.array([4.0]))
    assert driven == pytest.approx(0.02 - 0.01 + 0.16)
    power = drive.electric_power(np.array([10.0]), np.array([2.0]), np.array([0.0]))
    tau = 0.01 + 10 / 40
    assert power == pytest.approx(tau * 100 + 0.3 * (tau / 0.1) ** 2)
    assert drive.motor.available_torque(np.array([0.0, 470.0, 500.0])).tolist() == pytest.approx([2.4, 1 / 3, 0.0])


@given(st.integers(0, 2**32 - 1))
def test_what_turns_the_rotor_neither_passes_the_gear_nor_loads_it(catalogue, seed):
    drive = Drive(catalogue.motors["strong"], catalogue.gears["100"])
    rng = np.random.default_rng(seed)
    torque, speed, acceleration = rng.uniform(-20, 20, (3, 40))
    freewheeling = drive.motor_torque(0 * torque, speed, acceleration)
    ideal = (drive.motor.rotor_inertia + drive.gear.inertia) * 100 * acceleration
    np.testing.assert_allclose(freewheeling, ideal + drive.gear.no_load_torque * np.sign(speed), rtol=1e-12)
    motor_power = (drive.motor_torque(torque, speed, acceleration) - freewheeling) * 100 * speed
    lost = motor_power - torque * speed
    forward = torque * speed > 0
    np.testing.assert_allclose(lost[forward], (1 / 0.7 - 1) * (torque * speed)[forward], rtol=1e-9)
    np.testing.assert_allclose(lost[~forward], (0.7 - 1) * (torque * speed)[~forward], rtol=1e-9)
    assert drive.peak_use(torque, speed, acceleration)["gear peak torque"] == np.abs(torque).max() / 120
    assert drive.thermal_use(torque, speed, 100 * acceleration)["gear rated torque"] == pytest.approx(
        np.sqrt((torque**2).mean()) / 60
    )


@given(st.integers(0, 2**32 - 1))
def test_the_largest_uses_are_at_the_outermost_states(catalogue, seed):
    rng = np.random.default_rng(seed)
    states = JointStates(*(rng.normal(size=(4, 300)) * rng.uniform(0.1, 30, (4, 1))))
    states.speed[rng.random(300) < 0.2] = 0.0
    for drive in catalogue.drives:
        whole = drive.peak_use(*states[:3])
        assert drive.peak_use(*outermost(states)[:3]) == pytest.approx(whole, rel=1e-12)


def brute_force(result, catalogue, objective, safety):
    """The cheapest choice by every state of every motion, without drives on the arm."""
    key = (lambda d: (d.cost, d.mass)) if objective == "cost" else (lambda d: d.mass)
    chosen = {}
    for j, joint in enumerate(result.joints):
        for drive in sorted(catalogue.drives, key=key):
            uses = []
            for name in result.titles:
                for torques in result.study.torques(name):
                    states = (torques.total[:, j], torques.motion.qd[:, j], torques.motion.qdd[:, j])
                    motor, omega = drive.motor_torque(*states), drive.gear.ratio * np.abs(states[1])
                    tau, out = np.abs(motor), states[0]
                    volts = np.where(
                        motor * states[1] >= 0, tau * drive.motor.resistance / drive.motor.torque_constant, 0
                    )
                    uses += [
                        tau.max() / drive.motor.peak_torque, omega.max() / drive.motor.max_speed,
                        omega.max() / drive.gear.max_input_speed, np.abs(out).max() / drive.gear.peak_torque,
                        (volts + drive.motor.torque_constant * omega).max() / drive.motor.voltage,
                        np.sqrt((tau**2).mean()) / drive.motor.continuous_torque,
                        np.sqrt((out**2).mean()) / drive.gear.rated_torque,
                    ]  # fmt: skip
            if max(uses) * safety <= 1:
                chosen[joint] = (drive.name, max(uses))
                break
        else:
            chosen[joint] = (None, None)
    return chosen


@pytest.mark.parametrize("objective", ["mass", "cost"])
def test_the_choice_is_that_of_a_brute_force_search(result, catalogue, objective):
    sizing = study.size(result, catalogue, objective=objective, carried=False)
    expected = brute_force(result, catalogue, objective, 1.2)
    for joint, choice in sizing.choices.items():
        name, use = expected[joint]
        assert (choice.drive.name if choice.drive else None) == name, joint
        if choice.drive:
            assert choice.use == pytest.approx(use, rel=0.02)
            assert choice.margin == pytest.approx(1 / choice.use)


def test_drives_on_the_arm_settle_and_load_the_joints_before(result, catalogue):
    light, heavy = (study.size(result, catalogue, carried=carried) for carried in (False, True))
    assert heavy.complete
    assert heavy.rounds > 1
    assert heavy.mass >= light.mass
    a, b = (np.abs(one.loads["shoulder_flexion"].extreme.torque).max() for one in (light, heavy))
    assert b > a + 1
    wrist = (np.abs(one.loads["wrist_deviation"].extreme.torque).max() for one in (light, heavy))
    assert next(wrist) == pytest.approx(next(wrist))
    mounted = heavy.subject(study.Subject.human())
    first = heavy.choices["shoulder_flexion"].drive.mass  # it stands on the trunk
    assert mounted.robot.mass == pytest.approx(study.Subject.human().robot.mass + heavy.mass - first)


def test_a_mass_at_a_joint_weighs_on_those_before_it(person, catalogue):
    drive = catalogue.drives[0]
    carrying = with_drives(person, {"elbow_flexion": drive})
    q = np.zeros(7)
    q[0] = np.pi / 2
    extra = carrying.robot.gravity_torque(q) - person.robot.gravity_torque(q)
    upper_arm = np.linalg.norm([*person.robot.model.joints[3].origin.translation])
    np.testing.assert_allclose(extra, [9.81 * drive.mass * upper_arm, 0, 0, 0, 0, 0, 0], atol=1e-9)


def test_springs_take_weight_off(result, catalogue):
    without, with_springs = (study.size(result, catalogue, balanced=b, carried=False) for b in (False, True))
    for joint in ("shoulder_flexion", "elbow_flexion"):
        plain, freed = (
            np.concatenate([s.torque for s in one.loads[joint].steady.values()]) for one in (without, with_springs)
        )
        assert np.sqrt((freed**2).mean()) < 0.8 * np.sqrt((plain**2).mean())
        assert with_springs.choices[joint].balancer.strength > 1
    assert with_springs.mass <= without.mass


def test_a_balancer_carries_the_weight_of_one_link():
    q = np.linspace(-1, 2, 50)
    still = np.zeros(50)
    found = Balancer.fit(JointStates(3.0 * np.sin(q) - 1.5 * np.cos(q), still, still, q))
    assert (found.sine, found.cosine) == pytest.approx((3.0, -1.5))
    np.testing.assert_allclose(found.torque(q), 3.0 * np.sin(q) - 1.5 * np.cos(q))


def swinging(robot, rate=100, seconds=1.0):
    t = np.arange(round(rate * seconds) + 1) / rate
    return cr.Trajectory.from_samples(robot, t, robot.home() - 0.08 * np.sin(t)[:, None])


def test_drives_turn_so_that_sliding_joints_get_none():
    scara = cr.load("scara")
    result = study.run(scara, motions=swinging(scara))
    sizing = study.size(result)
    assert result.sliding == sizing.sliding == ("joint3",)
    assert list(sizing.choices) == ["joint1", "joint2", "joint4"]
    assert sizing.complete
    with pytest.raises(cr.ModelError, match=r"'joint3'\], which slide"):
        study.follow(result, sizing)
    gantry = cr.load("cartesian_3p")
    with pytest.raises(cr.ModelError, match="all joints of 'cartesian_3p' slide"):
        study.size(study.run(gantry, motions=swinging(gantry)))


def test_no_drive_may_be_enough(result, catalogue):
    sizing = study.size(result, catalogue, safety=50)
    assert not sizing.complete
    choice = sizing.choices["shoulder_flexion"]
    assert choice.drive is None
    assert choice.use * 50 > 1
    assert choice.limit in choice.uses
    with pytest.raises(cr.ModelError, match="no drive"):
        study.follow(result, sizing)


def test_refusals(result, catalogue, person):
    with pytest.raises(cr.ModelError, match="cost"):
        study.size(result, objective="cost")
    with pytest.raises(cr.UnknownNameError, match="objective"):
        study.size(result, catalogue, objective="price")
    with pytest.raises(cr.ModelError, match="balancing springs are not simulated"):
        study.follow(result, study.size(result, catalogue, balanced=True, carried=False))
    robot = cr.load("four_bar")
    swing = robot.simulate(robot.home(), None, 0.05)
    with pytest.raises(cr.ModelError, match="closed loops"):
        study.size(study.run(robot, motions=swing))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format = 1", "", "format must be 1"),
        ("mass = 0.1\n", "", "lacks 'mass'"),
        ("mass = 0.1\n", "masse = 0.1\n", "did you mean 'mass'"),
        ("efficiency = 0.8", "efficiency = 80", "at most 1"),
        ("ratio = 50", "ratio = 0", "positive number"),
        ("peak_torque = 0.4", "peak_torque = 0.04", "less than continuous_torque"),
        ('name = "strong"', 'name = "weak"', "two motors named 'weak'"),
        ("cost = 300", 'cost = 300\ngear = "7"', "no gear named '7'"),
        ("voltage = 24", "voltage = nan", "voltage"),
    ],
)
def test_a_wrong_catalogue_is_refused_by_name(tmp_path, old, new, words):
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(old, new, 1))
    with pytest.raises(cr.FormatError, match=words):
        study.drives(path)


def test_an_empty_catalogue_is_refused(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("format = 1\n")
    with pytest.raises(cr.FormatError, match="at least one"):
        study.drives(path)


def test_drives_follow_an_activity(result, catalogue):
    sizing = study.size(result, catalogue)
    followed = study.follow(result, sizing, ["pour_from_bottle"], dt=2e-3)["pour_from_bottle"]
    assert np.degrees(followed.rms_error).max() < 5
    assert followed.rms_error.max() > 0
    assert (followed.peak_error >= followed.rms_error).all()
    assert (followed.energy > 0).all()
    assert followed.saturated.max() < 0.01
    with pytest.raises(cr.UnknownNameError, match="activity"):
        study.follow(result, sizing, ["pour"])
    with pytest.raises(cr.UnknownNameError, match="no controller named 'pid'"):
        study.follow(result, sizing, controller="pid")


def test_a_controller_without_the_model_follows_worse(result, catalogue, tmp_path):
    sizing = study.size(result, catalogue)
    known, blind = (
        study.follow(result, sizing, ["Pour from bottle"], controller=name, dt=2e-3)["pour_from_bottle"]
        for name in ("computed_torque", "pd")
    )
    assert known.rms_error.max() < 0.7 * blind.rms_error.max()
    assert str(blind).startswith("Pour from bottle, followed by a PD controller at each joint")
    figure = known.plot(tmp_path / "follow.svg", joints=["elbow_flexion"])
    angle, error, _ = figure.axes
    (curve,) = (line for line in error.lines)
    np.testing.assert_allclose(curve.get_ydata(), np.degrees(known.errors[:, 3]))
    reference = next(line for line in angle.lines if line.get_gid() == "reference")
    np.testing.assert_allclose(reference.get_ydata(), known.motion.q[:, 3])
    assert "computed torque" in (tmp_path / "follow.svg").read_text() or figure.get_suptitle()


def test_a_catalogue_may_be_given_as_a_file(result, catalogue, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    named, read = study.size(result, str(path), carried=False), study.size(result, catalogue, carried=False)
    assert repr(named).splitlines()[1:] == repr(read).splitlines()[1:]
    assert repr(named).startswith("Drives of ")
    assert repr(result).startswith("Result of a study of 'human_arm': 3 motions, 3 activities\njoint ")
    assert [row[0] for row in result.table().rows] == list(result.joints)
    assert result.table("pour_from_bottle").rows[0][1] == result.cell("pour_from_bottle", result.joints[0]).peak_torque
