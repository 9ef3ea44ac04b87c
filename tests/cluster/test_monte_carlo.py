"""Monte Carlo: the same runs and statistics whatever computes them, and single runs again."""

import numpy as np
import pytest
from scipy import stats
from simulation.motions import body

import chainrule as cr
from chainrule.core.reading import find_link
from chainrule.model.joints import Free

STEPS = {"duration": 0.05, "dt": 1e-2}


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_2r").reference


def draw_starts(generator, count):
    return {"q0": generator.uniform(-0.5, 0.5, (count, 2)), "qd0": generator.normal(0, 0.5, (count, 2))}


def assert_same(one, other):
    for mine, theirs in (
        (one.statistics, other.statistics),
        (one.over_time, other.over_time),
        (one.measures, other.measures),
    ):
        assert mine.keys() == theirs.keys()
        for name, statistics in mine.items():
            for part, array in statistics.arrays().items():
                np.testing.assert_array_equal(array, theirs[name].arrays()[part], err_msg=f"{name} {part}")
    assert (one.runs, one.diverged_count, one.diverged) == (other.runs, other.diverged_count, other.diverged)


def test_statistics_are_those_of_all_runs_simulated_at_once(arm):
    found = cr.monte_carlo(arm, draw_starts, 23, block=10, seed=4, measure=lambda m: {"end": m.q[:, -1]}, **STEPS)
    parts = []
    for number in range(3):
        generator = np.random.default_rng(np.random.SeedSequence(4, spawn_key=(number,)))
        parts.append(draw_starts(generator, 10))
    q0, qd0 = (np.concatenate([part[name] for part in parts])[:23] for name in ("q0", "qd0"))
    motion = arm.simulate(q0, qd0, **STEPS)
    np.testing.assert_array_equal(found.t, motion.t)
    for name in ("q", "qd", "tau", "energy"):
        values = getattr(motion, name)
        whole, over_time = found.statistics[name], found.over_time[name]
        np.testing.assert_array_equal(whole.maximum, values.max(axis=(0, 1)))
        np.testing.assert_array_equal(whole.maximum_row, np.argmax(values.max(axis=1), axis=0))
        np.testing.assert_allclose(whole.mean, values.mean(axis=(0, 1)), atol=1e-13)
        np.testing.assert_array_equal(over_time.minimum, values.min(axis=0))
        np.testing.assert_allclose(over_time.std, values.std(axis=0), atol=1e-12)
        assert (whole.count == 23 * 6).all()
    assert found.statistics["q"].names == tuple(arm.coordinate_names)
    np.testing.assert_array_equal(found.measures["end"].maximum_row, motion.q[:, -1].argmax(axis=0))
    assert repr(found) == "<MonteCarlo of 'planar_2r': 23 runs of 0.05 s, none diverged>"


def test_workers_give_the_same_to_the_last_bit(client, arm):
    payload, k = f"{find_link(arm)}.payload", 3.0

    def draw(generator, count):
        return {**draw_starts(generator, count), payload: generator.uniform(0, 1, (count, 1))}

    options = {
        **STEPS,
        "block": 7,
        "seed": 1,
        "measure": lambda motion: {"peak": k * np.abs(motion.tau).max(axis=(1, 2))},
    }
    law = cr.PD(arm, [0.0, 0.0], kp=5.0, kd=1.0)
    here = cr.monte_carlo(arm, draw, 40, torque=law, **options)
    there = cr.monte_carlo(arm, draw, 40, torque=law, cluster=client, **options)
    assert_same(here, there)
    other = cr.monte_carlo(arm, draw, 40, torque=law, **{**options, "seed": 2})
    assert other.statistics["q"].mean.tolist() != here.statistics["q"].mean.tolist()


def test_more_runs_go_on_where_fewer_end(arm):
    few, many = (cr.monte_carlo(arm, draw_starts, runs, block=10, **STEPS) for runs in (5, 25))
    for run in (0, 4):
        np.testing.assert_array_equal(few.rerun(run).q, many.rerun(run).q)


def test_a_run_is_simulated_again_exactly():
    arm = cr.load("planar_2r")
    payload = f"{find_link(arm)}.payload"
    distributions = {
        "q0": ("normal", [0.2, 0.1], [0.3, 0.1]), "qd0": ("uniform", -1, [1, 2]), payload: ("lognormal", 0.0, 0.5),
        "*.viscous": ("uniform", 0.0, 0.3), "kp": ("choice", [5.0, 50.0]), "kd": 2.0,
    }  # fmt: skip

    def controller(drawn):
        return cr.PD(arm, [0.0, 0.0], kp=np.repeat(drawn["kp"], 2, axis=1), kd=drawn["kd"])

    found = cr.monte_carlo(arm, distributions, 130, controller=controller, block=50, **STEPS)
    for name in ("q", "tau", "energy"):
        statistics = found.statistics[name]
        for value, run in zip(statistics.maximum.flat, statistics.maximum_row.flat, strict=True):
            assert value in getattr(found.rerun(int(run)), name)
    drawn = found.inputs(77)
    assert set(np.unique(drawn.torque.parameters[..., 0])) <= {5.0, 50.0}
    again = found.rerun(77)
    assert again.batch == ()
    assert again.parameters[payload].shape == (10,)
    np.testing.assert_array_equal(again.q[0], drawn.q0[0])


def test_distributions_of_scipy_and_of_quaternions():
    floating = body(Free()).reference
    home = floating.home()
    found = cr.monte_carlo(floating, {"q0": ("normal", home, 0.1), "qd0": stats.uniform(-1, 2)}, 30, block=20, **STEPS)
    q = found.inputs(3).q0
    np.testing.assert_allclose(np.linalg.norm(q[0, 3:]), 1.0, atol=1e-12)
    assert np.ptp(found.over_time["qd"].maximum[0]) < 1.0 < found.over_time["qd"].maximum[0].min() + 1
    assert found.statistics["q"].shape == (7,)


def test_closed_loops_and_dry_friction():
    four_bar = cr.load("four_bar").reference
    closed = four_bar.home()

    def start(generator, count):
        qd = four_bar.loops.consistent_velocity(closed, generator.normal(0, 0.3, four_bar.nv))
        return {"q0": closed, "qd0": np.tile(qd, (count, 1))}

    loops = cr.monte_carlo(four_bar, start, 3, 0.02, block=2, quantities=("q",), dt=1e-2)
    assert (loops.statistics["q"].count == 9).all()
    rubbing = cr.load("planar_2r").reference.edit(joints={"*": {"coulomb": 20.0}})
    held = cr.monte_carlo(rubbing, {"q0": ("uniform", [1.4, -0.1], [1.6, 0.1])}, 6, block=4, **STEPS)
    assert held.statistics["qd"].peak.max() < 1e-9


def test_runs_that_diverge_are_named_and_left_out(arm):
    def draw(generator, count):
        gains = np.full((count, 2), 2.0)
        gains[3] = 1e9
        return {"q0": np.full((count, 2), 0.1), "torque": cr.PD(arm, [0.0, 0.0], kp=gains, kd=0.0)}

    found = cr.monte_carlo(arm, draw, 25, 0.3, dt=1e-2, block=10, measure=lambda m: {"one": np.ones(len(m.q))})
    assert found.diverged == (3, 13, 23)
    assert found.diverged_count == 3
    assert found.measures["one"].count == 22
    assert not found.statistics["q"].nonfinite.any()
    assert repr(found).endswith("3 diverged>")
    with pytest.raises(cr.SimulationError, match="diverges at about"):
        found.rerun(13)
    wild = cr.PD(arm, [0.0, 0.0], kp=1e9, kd=0.0)
    with pytest.raises(cr.SimulationError, match="all 3 runs diverge"):
        cr.monte_carlo(arm, {"q0": [0.1, 0.1]}, 3, 0.3, wild, dt=1e-2)


def test_a_run_whose_simulation_stops_does_not_stop_the_others(arm):
    def draw(generator, count):
        speed = np.zeros((count, 2))
        speed[2] = 300.0  # too fast for the equations of the midpoint rule
        return {"q0": np.full((count, 2), 0.1), "qd0": speed}

    found = cr.monte_carlo(arm, draw, 7, 0.1, integrator="implicit_midpoint", dt=1e-2)
    assert found.diverged == (2,)
    assert (found.statistics["q"].count == 6 * 11).all()


def test_noise_of_a_drawn_law_belongs_to_its_block(arm):
    def draw(generator, count):
        law = cr.PD(arm, [0.0, 0.0], kp=5.0, kd=1.0)
        return {
            "q0": np.full((count, 2), 0.1),
            "torque": cr.Sampled(law, 0.01, noise=0.01, seed=int(generator.integers(2**31))),
        }

    found = cr.monte_carlo(arm, draw, 7, block=5, **STEPS)
    run = int(found.statistics["tau"].maximum_row[0])
    assert found.rerun(run).tau[:, 0].max() == found.statistics["tau"].maximum[0]
    assert (found.statistics["q"].count == 42).all()


def test_warnings_of_blocks_are_told_once(arm):
    with pytest.warns(cr.SimulationWarning, match=r"2 of 2 blocks warn. monte_carlo: runs 0 to 4: simulate: .*energy"):
        cr.monte_carlo(arm, {"q0": [1.0, 0.5], "qd0": [20.0, 0.0]}, 10, 0.5, block=5, integrator="euler", dt=2e-2)


def test_samples_are_about_two_hundred_unless_asked_for(arm):
    found = cr.monte_carlo(cr.load("planar_2r"), {"q0": [0.1, 0.2]}, 1, 0.4, dt=1e-3, quantities=("energy",))
    assert found.statistics["energy"].count == 201
    assert len(found.t) == 26
    all_of = cr.monte_carlo(arm, {"q0": [0.1, 0.2]}, 1, 0.01, dt=1e-3, record=1, quantities=["power"])
    assert (all_of.statistics["power"].count == 11).all()
    assert len(all_of.t) == 11


def test_a_table_of_pandas(arm):
    pytest.importorskip("pandas")
    table = cr.monte_carlo(arm, draw_starts, 5, measure=lambda m: {"end": m.q[:, -1, 0]}, **STEPS).to_pandas()
    assert table.loc[("qd", "joint1"), "count"] == 30
    assert table.loc[("end", ()), "count"].item() == 5


def test_what_makes_no_sense_is_refused_before_anything_runs(arm, monkeypatch):
    def never(*_):
        raise AssertionError("a block was simulated")

    monkeypatch.setattr("chainrule.cluster.monte_carlo.run_tasks", never)
    q0 = {"q0": [0.1, 0.2]}
    noisy = cr.Sampled(cr.PD(arm, [0.0, 0.0], kp=1.0, kd=1.0), 0.01, noise=0.1)
    for call, match in (
        (
            lambda: cr.monte_carlo(arm, lambda g, n: {"q0": np.zeros((3, 2))}, 10),
            r"asked for 1000 runs, and q0 has the shape",
        ),
        (lambda: cr.monte_carlo(arm, lambda g, n: {"q0": np.zeros((n, 3))}, 10), "q0"),
        (lambda: cr.monte_carlo(arm, lambda g, n: {"qd0": np.zeros((n, 2))}, 10), "draw gives no q0"),
        (lambda: cr.monte_carlo(arm, lambda g, n: {**q0, "qd0": np.zeros((2, 2))}, 10), "qd0 has the shape"),
        (lambda: cr.monte_carlo(arm, lambda g, n: {**q0, "gravity": np.zeros((2, 3))}, 10), "gravity has the shape"),
        (lambda: cr.monte_carlo(arm, lambda g, n: {**q0, "torque": np.zeros((2, 2))}, 10), "torque has the shape"),
        (lambda: cr.monte_carlo(arm, lambda g, n: [1.0], 10), "draw must return a dictionary"),
        (lambda: cr.monte_carlo(arm, [1.0], 10), "draw must be a function"),
        (lambda: cr.monte_carlo("arm", q0, 10), "robot must be a Robot"),
        (lambda: cr.monte_carlo(arm, q0, 0), "runs must be a whole number"),
        (lambda: cr.monte_carlo(arm, q0, 5, measure=3), "measure must be a function"),
        (lambda: cr.monte_carlo(arm, q0, 5, controller=3), "controller must be a function"),
        (lambda: cr.monte_carlo(arm, q0, 5, controller=cr.PD(arm, [0, 0])), "give one for all runs as torque="),
        (lambda: cr.monte_carlo(arm, {**q0, "torque": [0.0, 0.0]}, 5, 1.0, [1.0, 0.0]), "torque and draw both give"),
        (lambda: cr.monte_carlo(arm, q0, 5, torque=noisy), "would repeat in each block"),
        (lambda: cr.monte_carlo(arm, q0, 5, events=never), "option events is not for it"),
        (lambda: cr.monte_carlo(arm, q0, 5, parameters={}), "are drawn by their names"),
        (lambda: cr.monte_carlo(arm, q0, 5, dt=-1.0), "dt"),
        (lambda: cr.monte_carlo(arm, q0, 5, 1e4, record=1), "takes .* GiB; take a larger record"),
        (lambda: cr.monte_carlo(arm, {"q0": ("normal", 0.0)}, 5), r"q0 must be \('normal', mean, std\)"),
        (lambda: cr.monte_carlo(arm, {"q0": ("gauss", 0.0, 1.0)}, 5), "the distribution of q0 is 'gauss'; known are"),
        (lambda: cr.monte_carlo(arm, {"q0": ("normal", 0.0, -1.0)}, 5), "q0 cannot be drawn from"),
        (lambda: cr.monte_carlo(arm, {"q0": ("normal", [0.0] * 3, 1.0)}, 5), "q0 cannot be drawn from"),
        (lambda: cr.monte_carlo(arm, {"q0": ("choice", np.empty((0, 2)))}, 5), r"q0 must be \('choice', values\)"),
        (lambda: cr.monte_carlo(arm, {"q0": ("choice", 1.0)}, 5), r"q0 must be \('choice', values\)"),
        (lambda: cr.monte_carlo(arm, {**q0, 1: 2.0}, 5), "draw must be a dictionary such as"),
    ):
        with pytest.raises(cr.ShapeError, match=match):
            call()
    for call, match in (
        (lambda: cr.monte_carlo(arm, {**q0, "kp": 3.0}, 5), "no parameter named 'kp'"),
        (lambda: cr.monte_carlo(arm, q0, 5, steps=3), "no option named 'steps'"),
        (lambda: cr.monte_carlo(arm, q0, 5, quantities=["speed"]), "no quantity named 'speed'"),
    ):
        with pytest.raises(cr.UnknownNameError, match=match):
            call()


def pd_of(read):
    """A controller that takes its gains by this function of what was drawn."""
    return lambda drawn: cr.PD(cr.load("planar_2r"), [0.0, 0.0], **read(drawn))


@pytest.mark.parametrize(
    ("drawn", "read", "match"),
    [
        ({"tip.paylod": 1.0, "kp": 9.0}, lambda d: {"kp": d["kp"]}, r"'tip\.paylod' is drawn and .* 'tip\.payload'"),
        ({"tip.payload.mas": 1.0}, lambda d: {}, r"'tip\.payload' has no number named 'mas'; did you mean 'mass'"),
        ({"link2mass": 1.0}, lambda d: {}, r"did you mean 'link2\.mass'"),
        ({"qd_0": 1.0}, lambda d: {}, "did you mean 'qd0'"),
        ({"kpp": 9.0}, lambda d: {"kp": d.get("kp", 3.0)}, "'kpp' is drawn and never used.* did you mean 'kp'"),
        ({"kpp": 9.0}, lambda d: {"kp": 3.0 if "kp" not in d else 2.0}, "did you mean 'kp'"),
        ({"kpp": 9.0}, lambda d: {"kp": d["kp"]}, "what draw gives .* no number named 'kp'; did you mean 'kpp'"),
    ],
)
def test_a_name_that_neither_robot_nor_controller_knows_is_refused(arm, drawn, read, match):
    own = {"q0": [0.1, 0.2], **drawn}
    for draw in (own, lambda generator, count: own):
        with pytest.raises(cr.UnknownNameError, match=match):
            cr.monte_carlo(arm, draw, 5, controller=pd_of(read), **STEPS)


@pytest.mark.parametrize(
    "read",
    [
        lambda d: {"kp": d["kp"], "kd": d["kd"]},
        lambda d: {"kp": d.get("kp"), "kd": d.get("kd")},
        lambda d: {name: value for name, value in d.items() if name.startswith("k")},
        lambda d: {name: {**d}[name] for name in ("kp", "kd")},
    ],
)
def test_a_controller_reads_what_was_drawn_as_it_likes(arm, read):
    drawn = {"q0": [0.1, 0.2], "tip.payload": 0.5, "kp": 9.0, "kd": 2.0}
    law = cr.PD(arm, [0.0, 0.0], kp=9.0, kd=2.0)
    found = cr.monte_carlo(arm, drawn, 3, controller=pd_of(read), **STEPS)
    same = cr.monte_carlo(arm, {"q0": [0.1, 0.2], "tip.payload": 0.5}, 3, torque=law, **STEPS)
    np.testing.assert_array_equal(found.statistics["q"].mean, same.statistics["q"].mean)


def test_a_start_outside_the_limits_names_its_run(client, arm):
    limited = arm.edit(joints={"*": {"lower": -3.0, "upper": 3.0}})

    def draw(generator, count):
        q0 = np.zeros((count, 2))
        q0[2] = 9.0 if generator.bit_generator.seed_seq.spawn_key == (1,) else 0.0
        return {"q0": q0}

    for where in (None, client):
        with pytest.raises(cr.ShapeError, match=r"in row \(12,\), outside its limits"):
            cr.monte_carlo(limited, draw, 20, block=10, cluster=where, **STEPS)


def test_measures_may_do_without_quantities(arm):
    found = cr.monte_carlo(arm, {"q0": [0.1, 0.2]}, 3, quantities=(), measure=lambda m: {"end": m.q[:, -1]}, **STEPS)
    assert found.statistics == {}
    assert found.measures["end"].count.tolist() == [3, 3]


def test_wrong_measures_are_refused(arm):
    for measure, match in (
        (lambda m: 3.0, "measure must return a dictionary"),
        (lambda m: {"x": np.zeros(2)}, "measure 'x' must have a number, or a row of numbers, for each of 5 motions"),
        (lambda m: {str(len(m.q)): m.q[:, 0, 0]}, r"measure gives \['5'\] for some runs, and \['2'\] for others"),
    ):
        with pytest.raises(cr.ShapeError, match=match):
            cr.monte_carlo(arm, {"q0": [0.1, 0.2]}, 7, block=5, measure=measure, **STEPS)
    found = cr.monte_carlo(arm, {"q0": [0.1, 0.2]}, 7, **STEPS)
    with pytest.raises(cr.ShapeError, match="run must be at most 6"):
        found.rerun(7)
