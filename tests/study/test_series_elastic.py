"""Springs between gears and joints: closed forms of a sinusoidal load, the spring's energy, the search, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule import study

TIME = np.arange(1001) / 1000


def swings(inertia, amplitude, w, damping=0.0, t=TIME):
    bar = cr.build("bar").revolute("hip", viscous=damping).link("leg", mass=1.0, com=(0, 0, 0), inertia=(inertia,) * 3)
    robot = bar.gravity((0, 0, 0)).robot()
    motion = cr.Trajectory.from_samples(robot, t, amplitude * np.sin(w * t)[:, None], smoothing=None)
    return study.run(robot, motions={"swing": motion})


@settings(max_examples=8)
@given(st.floats(0.05, 2), st.floats(0.1, 1), st.integers(1, 4), st.floats(0.3, 5))
def test_a_sinusoidal_load_moves_the_motor_as_in_closed_form(inertia, amplitude, cycles, share):
    w = 2 * np.pi * cycles
    k = share * inertia * w**2
    motor = study.on_springs(swings(inertia, amplitude, w).examples["swing"], k, cutoff=None)
    left = 1 - inertia * w**2 / k
    theta = amplitude * left * np.sin(w * TIME)
    tau = -inertia * amplitude * w**2 * np.sin(w * TIME)
    scale = amplitude * (1 + 1 / share)
    np.testing.assert_allclose(motor.angle[:, 0], theta, atol=1e-6 * scale)
    np.testing.assert_allclose(motor.speed[:, 0], amplitude * left * w * np.cos(w * TIME), atol=1e-5 * scale * w)
    np.testing.assert_allclose(motor.acceleration[20:-20, 0], -(w**2) * theta[20:-20], atol=1e-3 * scale * w**2)
    np.testing.assert_allclose(motor.torque[:, 0], tau, atol=1e-5 * np.abs(tau).max())
    most = inertia * amplitude**2 * w**3 / 2
    assert np.abs(motor.power).max() == pytest.approx(most * abs(left), abs=1e-3 * most * (1 + 1 / share))
    assert motor.energy[0] == pytest.approx(most * abs(left) / w * 2 * cycles, abs=1e-2 * most)


@pytest.mark.parametrize("least", ["power", "energy"])
def test_the_best_spring_swings_the_link_by_itself(least):
    found = study.best_stiffness(swings(0.2, 0.5, 2 * np.pi), least=least, bend=1.0, cutoff=None)
    assert found["hip"] == pytest.approx(0.2 * (2 * np.pi) ** 2, rel=1e-6)


def test_a_load_of_friction_alone_wants_no_spring():
    assert study.best_stiffness(swings(1e-9, 0.5, 2 * np.pi, damping=1.0), cutoff=None)["hip"] == np.inf


def test_what_the_motor_gives_more_is_in_the_spring(few):
    example, k = few.examples["drink_with_cup"], 80.0
    rigid, soft = study.on_springs(example, np.inf), study.on_springs(example, k)
    np.testing.assert_array_equal(rigid.torque, soft.torque)
    stored = (soft.torque**2 - soft.torque[0] ** 2) / (2 * k)
    steps = (soft.power - rigid.power)[1:] + (soft.power - rigid.power)[:-1]
    given = np.concatenate([0 * stored[:1], np.cumsum(steps / 2 / 200, axis=0)])
    np.testing.assert_allclose(given, stored, atol=2e-3 * stored.max())


@pytest.mark.parametrize("least", ["power", "energy"])
@pytest.mark.parametrize("driven", [False, True])
def test_no_other_stiffness_needs_less(few, least, driven):
    drives = study.size(few, carried=False).drives if driven else {}

    def needs(stiffness):
        runs = [study.on_springs(example, stiffness, drives=drives) for example in few.examples.values()]
        if least == "power":
            return np.max([np.abs(run.power).max(axis=0) for run in runs], axis=0)
        return np.sum([run.energy for run in runs], axis=0)

    best = study.best_stiffness(few, least=least, drives=drives)
    found = needs(best)
    largest = np.max([np.abs(study.on_springs(e, np.inf).torque).max(axis=0) for e in few.examples.values()], axis=0)
    assert any(np.isfinite([*best.values()]))
    for softness in np.linspace(0, 1, 30):
        other = dict(zip(best, largest / (0.5 * softness) if softness else 0 * largest + np.inf, strict=True))
        assert (found <= 1.002 * needs(other)).all()


def test_a_drive_behind_a_spring_obeys_its_equations(few):
    drives = study.size(few, carried=False).drives
    example = few.examples["reach_head_level"]
    bare, motor = (
        study.on_springs(example, {"elbow_flexion": 60.0}),
        study.on_springs(example, {"elbow_flexion": 60.0}, drives={"elbow_flexion": drives["elbow_flexion"]}),
    )
    j, drive = motor.joints.index("elbow_flexion"), drives["elbow_flexion"]
    state = bare.torque[:, j], np.where(abs(motor.speed[:, j]) < 1e-3, 0, motor.speed[:, j]), motor.acceleration[:, j]
    np.testing.assert_allclose(motor.torque[:, j], drive.gear.ratio * drive.motor_torque(*state))
    np.testing.assert_allclose(motor.power[:, j], drive.electric_power(*state))
    np.testing.assert_array_equal(np.delete(motor.power, j, axis=1), np.delete(bare.power, j, axis=1))
    assert [*motor.uses] == ["elbow_flexion"]
    assert motor.uses["elbow_flexion"]["speed"] == pytest.approx(drive.peak_use(*state)["speed"])
    assert "drive's" in str(motor)


def test_refusals(few):
    example = few.examples["drink_with_cup"]
    with pytest.raises(cr.UnknownNameError, match="elbow_flexion"):
        study.on_springs(example, {"elbow_flexon": 60.0})
    with pytest.raises(cr.UnknownNameError, match="drives"):
        study.best_stiffness(few, drives={"knee": study.drives().drives[0]})
    with pytest.raises(cr.ShapeError, match=r"such as sizing\.drives"):
        study.on_springs(example, 60.0, drives=study.size(few, carried=False))
    with pytest.raises(cr.ShapeError, match=r"result\.examples\[name\]"):
        study.on_springs(few, 60.0)
    with pytest.raises(cr.ShapeError, match="result must be that of a study"):
        study.best_stiffness(example)
    with pytest.raises(cr.ShapeError, match="cutoff must be positive"):
        study.on_springs(example, 60.0, cutoff=0)
    with pytest.raises(cr.ShapeError, match="stiffness of 'shoulder_flexion' must be positive"):
        study.on_springs(example, 0.0)
    with pytest.raises(cr.UnknownNameError, match="least"):
        study.best_stiffness(few, least="mass")
    five = cr.load("five_bar")
    still = cr.Trajectory.from_samples(five, np.arange(20) / 100, np.tile(five.home(), (20, 1)))
    with pytest.raises(cr.ModelError, match="closed loops"):
        study.best_stiffness(study.run(five, motions={"still": still}))
