import pickle

import numpy as np
import pytest

import chainrule as cr
from chainrule import study
from chainrule.study import kept as kept_states
from chainrule.study import pieces
from chainrule.study.kept import KeptStates
from chainrule.study.motions import evenly
from chainrule.study.report.data import facts

NAME = "open_door"


@pytest.fixture(scope="module")
def source():
    content = study.activities()
    people = study.population(7, side="both")
    return study.Synthetic(people, content, content.choose(NAME), variants=2, rate=25)


def test_the_result_does_not_depend_on_the_size_of_pieces(source, monkeypatch):
    def found(motions_per_piece):
        monkeypatch.setattr(pieces, "MOTIONS_PER_PIECE", motions_per_piece)
        return study.Study(source).run()

    whole, split = found(100), found(3)
    compare(facts(whole), facts(split))
    np.testing.assert_array_equal(whole.examples[NAME].motion.q, split.examples[NAME].motion.q)
    assert list(whole.kept.states[NAME]) == list(split.kept.states[NAME]) == list(range(14))
    for a, b in zip(whole.kept.states[NAME].values(), split.kept.states[NAME].values(), strict=True):
        np.testing.assert_array_equal(a.t, b.t)
        np.testing.assert_allclose(a.qdd, b.qdd, atol=1e-6)


def compare(a, b, where="facts"):
    """The same content, numbers to rounding."""
    if isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            compare(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for k, pair in enumerate(zip(a, b, strict=True)):
            compare(*pair, f"{where}[{k}]")
    else:
        assert a == (pytest.approx(b, rel=1e-9, abs=1e-9) if isinstance(b, float) else b), where


def test_motions_of_some_numbers_are_those_of_all(source):
    every = list(source.motions(NAME))
    assert len(every) == source.count(NAME) == 14
    some = source.motions(NAME, 5, 11)
    for place, ((subject, motion), (other, again)) in enumerate(zip(every[5:11], some, strict=True)):
        assert subject is other is some.subject_of(place)
        np.testing.assert_allclose(motion.q, again.q, atol=1e-9)


def test_a_piece_travels_as_seeds_and_numbers(source):
    many = study.Synthetic(study.population(100_000), source.content, source.content.choose("all"), variants=2)
    planned = list(study.Study(many).pieces())
    assert len(planned) == 24 * pieces.MAX_PIECES
    assert sum(piece.count for piece in planned) == 24 * 200_000
    assert len(pickle.dumps(planned[3])) < 40_000
    again = pickle.loads(pickle.dumps(planned[1000]))
    assert str(again) == str(planned[1000])
    assert again.motions.people is pickle.loads(pickle.dumps(planned[2000])).motions.people  # made once a process


def test_durations_are_those_of_the_motions():
    content = study.activities()
    source = study.Synthetic([study.Subject.human()], content, content.choose("all"), rate=100)
    for name, activity in content.items():
        (_, motion), *_ = source.motions(name)
        assert motion.duration == pytest.approx(activity.duration, abs=0.011)
        assert source.samples(name) == pytest.approx(len(motion), abs=2)


def test_recordings_are_pieces_too():
    robot = cr.load("planar_2r")
    t = np.linspace(0, 1, 51)
    wave = np.sin(np.outer(3 * t, [1.0, 2.0]))
    motions = [cr.Trajectory.from_samples(robot, t, k * wave) for k in (0.5, 1.0, 1.5)]
    source = study.Recorded(study.Subject.of(robot), {"a": motions, "b": motions[0]})
    assert source.samples("a") == 153
    (piece,) = [piece for piece in study.Study(source).pieces() if piece.activity == "a"]
    part = pieces.compute(pickle.loads(pickle.dumps(piece)))
    assert part.collector.sums.motions == 3
    peak = np.abs(motions[2].tau).max(axis=0)
    np.testing.assert_allclose(part.collector.sums.peak, peak, rtol=1e-9)
    assert str(piece) == "activity 'a', motions 1 to 3 (planar_2r)"


def test_an_error_names_the_subject_and_the_activity():
    def refuse(subject):
        if subject.name.startswith("person 3,"):
            raise cr.ModelError("too heavy")
        return subject

    content = study.activities()
    source = study.Synthetic(study.population(4, sex="male"), content, content.choose([2]), rate=50)
    name = next(iter(source.activities))
    with pytest.raises(cr.ModelError, match=rf"^person 3, male, .* right arm, activity '{name}': too heavy$"):
        study.Study(source, refuse).run()
    with pytest.raises(cr.ShapeError, match=r"^person 1, male, .* right arm: activity '.*' lasts"):
        study.run(study.population(4, sex="male"), 2, rate=0.01)


@pytest.mark.parametrize("every", [1, 7, 1000, 50_000])
def test_samples_at_a_distance_are_spread_evenly(every):
    motions, length = 3000, 400
    taken = [np.arange(length)[evenly(every, k)] for k in range(motions)]
    assert sum(map(len, taken)) == pytest.approx(motions * length / every, rel=0.05, abs=2)
    if every < length:
        assert len({len(one) for one in taken}) <= 2
    assert np.concatenate(taken).mean() == pytest.approx(length / 2, rel=0.1)


def test_kept_states_are_bounded_and_the_farthest_are_among_them(monkeypatch):
    monkeypatch.setattr(kept_states, "MOTIONS_PER_ACTIVITY", 5)
    monkeypatch.setattr(kept_states, "STATES_PER_ACTIVITY", 40)
    monkeypatch.setattr(kept_states, "MOST_EXTREME", 2)
    people = study.population(60)
    result = study.run(people, "reach_head_level", rate=25)
    states = result.kept.states["reach_head_level"]
    assert len(states) <= 5 + 2 * 8 * 7
    assert 20 <= sum(motion.even.sum() for motion in states.values()) <= 80
    every = list(result.study.torques("reach_head_level"))
    kept = {number: list(motion.t) for number, motion in states.items()}
    for array in ([x.total for x in every], [x.motion.qd for x in every], [x.power for x in every]):
        for j in range(7):
            peaks = np.array([one[:, j].max() for one in array])
            for number in np.argsort(-peaks)[:2]:
                at = array[number][:, j].argmax()
                assert every[number].motion.t[at] in kept[number]
    for subject, motion in result.kept.motions("reach_head_level"):
        assert subject in people
        assert len(motion) <= 56 + 40


def test_nothing_is_dropped_of_few_motions(few):
    for name, (motion,) in ((name, states.values()) for name, states in few.kept.states.items()):
        assert motion.even.sum() == pytest.approx(len(few.examples[name].motion), abs=1)
    assert not KeptStates.of(3, 1000).motions


def test_a_population_is_a_sequence_that_makes_its_people():
    people = study.population(5, seed=2)
    assert len(people) == 5
    assert people[1] is people[1]
    assert people[-1].name.startswith("person 5,")
    assert [one.name for one in people[3:]] == [people[3].name, people[4].name]
    with pytest.raises(IndexError):
        people[5]
    me = study.Subject.human()
    assert (people + [me])[5] is me  # noqa: RUF005
    assert ([me] + people)[0] is me  # noqa: RUF005
    assert repr(people) == "<Population of 5 people: male, female; right>"
    assert pickle.loads(pickle.dumps(people))[3].name == people[3].name
    with pytest.raises(cr.ShapeError, match="a rigid body for each link by name"):
        study.population(5, exoskeleton=[1])
    with pytest.raises(cr.ShapeError, match="recorded motions are those of one subject, got 5"):
        study.run(people, motions={})
