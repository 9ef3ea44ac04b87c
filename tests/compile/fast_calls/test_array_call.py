"""The call on arrays: a builtin that takes batches and options straight to the loop of a kernel, as the method would."""

import gc
import sys
import threading
import weakref
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.compile.fast_calls import dispatch_table
from chainrule.compile.fast_calls.builtins import array_call_address, python_function
from chainrule.core.subject import method as as_method
from chainrule.functions.table import FUNCTIONS
from compile.support import OF_LOOPS, arguments_of, close

ARM = cr.load("planar_2r")
DOG = cr.load("quadruped").with_end_effector("HL_FOOT")
SHAPES = [(), (1,), (2,), (9,), (64,), (3, 5), (2, 3, 4)]


class Counted:
    """The calls of a robot's method that its builtin hands on."""

    def __init__(self, robot, name, monkeypatch):
        self.count = 0
        subject, _, own = name.rpartition(".")
        owner = type(getattr(robot, subject)) if subject else cr.Robot
        method = getattr(owner, own)

        def counted(robot, *arguments, **options):
            self.count += 1
            return method(robot, *arguments, **options)

        counted.__module__, counted.__signature__ = method.__module__, __import__("inspect").signature(method)
        monkeypatch.setattr(owner, own, as_method(counted) if subject else counted)


def parts(result):
    if isinstance(result, np.ndarray):
        return [result]
    return list(result.values()) if isinstance(result, dict) else list(result)


def wrench_of(function, shape):
    return [np.random.default_rng(1).normal(size=(*shape, 6))] if FUNCTIONS[function].acts else []


PLAIN = sorted(name for name, entry in FUNCTIONS.items() if entry.is_direct(ARM.model) and name not in OF_LOOPS)


@pytest.mark.parametrize("function", PLAIN)
def test_every_function_takes_batches_without_the_method(function, monkeypatch):
    entry = FUNCTIONS[function]
    name = entry.variant_of or function
    arm = cr.load("panda") if entry.is_surrounded else ARM  # which has bodies that can touch
    counted = Counted(arm, name, monkeypatch)
    robot = cr.Robot(arm.model)
    for _ in range(2):
        attrgetter(name)(robot)(*arguments_of(robot, function, 0), *wrench_of(function, ()), **entry.when)
    before = counted.count
    for shape in SHAPES:
        arguments = [*arguments_of(robot, function, 1, shape), *wrench_of(function, shape)]
        ours = attrgetter(name)(robot)(*arguments, **entry.when)
        assert counted.count == before, shape
        theirs = attrgetter(name)(robot.reference)(*arguments, **entry.when)
        before = counted.count
        for a, b in zip(parts(ours), parts(theirs), strict=True):
            close(a, b)
            assert type(a) is np.ndarray
            assert a.dtype == np.float64


def forms(array):
    """The same numbers in arrays of many kinds."""
    spread = np.repeat(np.repeat(array, 2, axis=0), 3, axis=-1)[::2, ..., ::3]
    unaligned = np.frombuffer(b"x" + array.tobytes(), dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)
    read_only = array.copy()
    read_only.flags.writeable = False

    class Own(np.ndarray):
        pass

    return {
        "contiguous": array,
        "strided": spread,
        "reversed": array[::-1].copy()[::-1],
        "column by column": np.asfortranarray(array),
        "unaligned": unaligned,
        "read-only": read_only,
        "of another byte order": array.astype(">f8"),
        "of a subclass": array.view(Own),
        "float32": array.astype(np.float32).astype(np.float32),
        "long double": array.astype(np.longdouble),
        "one row for all": array[(0,) * (array.ndim - 1)],
        "one row for all, with dimensions": array[(slice(0, 1),) * (array.ndim - 1)],
        "a part of longer rows": np.concatenate([array, array], axis=-1)[..., array.shape[-1] :],
        "one row, broadcast": np.broadcast_to(array[(0,) * (array.ndim - 1)], array.shape),
        "list": array.tolist(),
        "integers": np.round(array).astype(int),
    }


KINDS = list(forms(np.zeros((2, 2))))


@settings(max_examples=150)
@given(
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 3),
    shape=st.sampled_from([(1,), (2,), (7,), (8,), (17,), (2, 3), (3, 1, 2)]),
    seed=st.integers(0, 5),
)
def test_arrays_of_every_kind_give_what_the_method_gives(kinds, shape, seed):
    arguments = [forms(a)[kind] for a, kind in zip(arguments_of(ARM, "bias", seed, shape), kinds, strict=False)]
    wrench = forms(np.random.default_rng(seed).normal(size=(*shape, 6)))[kinds[2]]
    for options in ({}, {"tip_wrench": wrench}):
        for _ in range(2):
            ours = ARM.bias(*arguments, **options)
        theirs = cr.Robot.bias(ARM, *arguments, **options)
        assert ours.dtype == theirs.dtype
        single = ours.dtype == np.float32
        close(ours, theirs, 1e-4 if single else 1e-12)


def test_rows_of_one_array_serve_all_rows_of_the_others():
    q, qd, qdd = arguments_of(ARM, "inverse_dynamics", 0, (3, 4))
    expected = ARM.reference.inverse_dynamics(q, qd[0, 0], qdd)
    ARM.inverse_dynamics(q, qd, qdd)
    close(ARM.inverse_dynamics(q, qd[0, 0], qdd), expected)
    close(ARM.inverse_dynamics(q, np.broadcast_to(qd[0, 0], (3, 4, 2)), qdd), expected)
    close(ARM.inverse_dynamics(q, qd[:1, :1], qdd), expected)
    with pytest.raises(cr.ShapeError, match="do not fit together"):
        ARM.inverse_dynamics(q, qd[:2], qdd)
    with pytest.raises(cr.ShapeError, match="must have 2 numbers"):
        ARM.inverse_dynamics(q, np.zeros((3, 4, 3)), qdd)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2,) * 20])
def test_batches_of_no_rows_and_of_many_dimensions_are_taken_by_the_method(shape):
    q = np.zeros((*shape, 2))
    ARM.mass_matrix(np.zeros((2, 2)))
    if len(shape) > 10:
        q = q[(slice(0, 1),) * 17]
    assert ARM.mass_matrix(q).shape == (*q.shape[:-1], 2, 2)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_zero_quaternion_in_any_row_is_refused(kind):
    good = DOG.random_state(np.random.default_rng(0), (20,)).astype(kind)
    v = np.zeros((20, DOG.nv), dtype=kind)
    for _ in range(2):
        DOG.integrate(good, v)
        DOG.difference(good, good)
    for row in (0, 7, 8, 19):
        bad = good.copy()
        bad[row, 3:7] = 0
        for call in (
            lambda bad=bad: DOG.integrate(bad, v),
            lambda bad=bad: DOG.difference(good, bad),
            lambda bad=bad: DOG.difference(bad, good),
            lambda bad=bad, row=row: DOG.difference(bad[row], good),
            lambda bad=bad, row=row: DOG.difference(good, bad[row]),
        ):
            with pytest.raises(cr.ShapeError, match="is zero, which is no orientation"):
                call()
    tiny = good.copy()
    tiny[3, 3:7] = np.finfo(kind).tiny
    with pytest.raises(cr.ShapeError, match="is zero, which is no orientation"):
        DOG.integrate(tiny, v)
    tiny[3, 3:7] = np.nan
    result = DOG.integrate(tiny, v)
    assert result.dtype == kind
    assert np.isnan(result[3]).any()
    assert not np.isnan(np.delete(result, 3, axis=0)).any()


def test_options_are_kept_apart():
    robot = cr.Robot(ARM.model)
    q = np.random.default_rng(0).normal(size=(5, 2))
    calls = [
        ((), {}),
        ((), {"link": "link1"}),
        (("link1",), {}),
        (("link2",), {"frame": "body"}),
        ((None,), {"frame": "space"}),
        ((), {"frame": "body", "link": "link1"}),
        ((), {"link": "link1", "frame": "body"}),
        ((), {"link": None, "frame": "world"}),
    ]
    for _ in range(3):
        for arguments, options in calls:
            close(robot.jacobian(q, *arguments, **options), robot.reference.jacobian(q, *arguments, **options))
        dynamic = "".join(["li", "nk1"])
        close(robot.jacobian(q, link=dynamic), robot.reference.jacobian(q, "link1"))
        close(robot.jacobian(q=q, link="link1"), robot.reference.jacobian(q, "link1"))
        with pytest.raises(cr.UnknownNameError, match="link9"):
            robot.jacobian(q, link="link9")
        with pytest.raises(cr.ChainruleError, match="frame"):
            robot.jacobian(q, frame=0)
        with pytest.raises(TypeError, match="there is no argument 'fame'"):
            robot.jacobian(q, fame="body")
        with pytest.raises(TypeError, match="multiple values"):
            robot.jacobian(q, q=q)


def test_options_that_choose_another_function_are_kept_apart():
    robot = ARM.edit(joints={"*": {"coulomb": 30.0}})
    q, qd, tau = arguments_of(robot, "forward_dynamics", 0, (4,))
    qd[:] = 0
    for _ in range(3):
        for stick in (False, True):
            ours = robot.forward_dynamics(q, qd, tau, stick=stick)
            close(ours, robot.reference.forward_dynamics(q, qd, tau, stick=stick), 1e-9)
        close(robot.friction_torque(tau), robot.reference.friction_torque(tau))
        close(robot.friction_torque(tau, q), robot.reference.friction_torque(tau, q))
        close(robot.friction_torque(tau, None), robot.reference.friction_torque(tau))
        close(robot.friction_torque(q=q, qd=tau), robot.reference.friction_torque(tau, q))


def test_wrenches_have_the_signs_of_the_method():
    q, qd, qdd = arguments_of(ARM, "inverse_dynamics", 0, (4,))
    wrench = np.random.default_rng(1).normal(size=(4, 6))
    for _ in range(3):
        for w in (wrench, wrench[0], wrench[::-1]):
            for options in ({}, {"frame": "world"}, {"frame": "body"}):
                ours = ARM.inverse_dynamics(q, qd, qdd, tip_wrench=w, **options)
                close(ours, ARM.reference.inverse_dynamics(q, qd, qdd, tip_wrench=w, **options))
            ours = ARM.torque_terms(q, qd, qdd, tip_wrench=w, frame="body")
            theirs = ARM.reference.torque_terms(q, qd, qdd, tip_wrench=w, frame="body")
            assert list(ours) == list(theirs)
            close(ours["external"], theirs["external"])
            close(ARM.static_torque(q, w, frame="body"), ARM.reference.static_torque(q, w, frame="body"))
            close(
                ARM.static_torque(q, w, "link1", frame="body"), ARM.reference.static_torque(q, w, "link1", frame="body")
            )
            close(ARM.static_torque(q, w, frame="space"), ARM.reference.static_torque(q, w, frame="space"))
        loaded = {"link1": wrench}
        ours = ARM.inverse_dynamics(q, qd, qdd, external=loaded, frame="body")
        close(ours, ARM.reference.inverse_dynamics(q, qd, qdd, external=loaded, frame="body"))


def test_results_are_new_arrays_and_arguments_stay_as_they_are():
    q, qd, _ = arguments_of(ARM, "inverse_dynamics", 0, (6,))
    kept = q.copy(), qd.copy()
    ARM.bias(q, qd)
    counts = [sys.getrefcount(x) for x in (q, qd, "world", None)]
    results = [ARM.bias(q, qd, frame="world") for _ in range(100)]
    assert [sys.getrefcount(x) for x in (q, qd)] == counts[:2]
    assert len({r.ctypes.data for r in results}) == 100
    assert all(r.flags.owndata and r.flags.writeable and sys.getrefcount(r) <= 4 for r in results)
    assert (q == kept[0]).all()
    assert (qd == kept[1]).all()


def test_nan_stays_in_its_row_and_no_warning_comes():
    q, qd, qdd = arguments_of(ARM, "inverse_dynamics", 0, (20,))
    right = ARM.inverse_dynamics(q, qd, qdd)
    q[5], qd[7], qdd[9] = np.nan, np.inf, 1e308
    with np.errstate(all="raise"):
        for _ in range(2):
            tau = ARM.inverse_dynamics(q, qd, qdd, tip_wrench=np.full(6, 1e308), frame="body")
            assert (np.add(1.0, 1.0)) == 2.0
        tau = ARM.inverse_dynamics(q, qd, qdd)
    good = np.delete(np.arange(20), [5, 7, 9])
    close(tau[good], right[good])
    assert np.isnan(tau[5]).all()


def test_calls_from_threads_give_the_same_numbers():
    """The second batch is so large that the loop runs without Python's lock."""
    robot = cr.load("panda")
    for rows in (50, 3000):
        arguments = arguments_of(robot, "inverse_dynamics", 0, (rows,))
        expected = robot.inverse_dynamics(*arguments)
        wrong = []

        def work(arguments=arguments, expected=expected, wrong=wrong):
            for _ in range(20):
                if not (robot.inverse_dynamics(*arguments) == expected).all():
                    wrong.append(1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not wrong
        assert expected.shape == (rows, 7)


def test_ways_of_calling_are_remembered_up_to_a_number():
    robot = cr.Robot(ARM.model)
    q = np.zeros((2, 2))
    robot.pose(q)
    for k in range(dispatch_table.MAX_RECORDS + 20):
        with pytest.raises(cr.UnknownNameError):
            robot.pose(q, link=f"link{k + 9}")
    for k in range(dispatch_table.MAX_RECORDS + 20):
        robot.pose(q, **({"link": "link1"} if k % 2 else {"relative_to": "link1"}))
    assert 3 <= len(robot.pose.__self__.records) < 10
    few = dispatch_table.DispatchTable()
    target = robot.compiled.kernel("pose").target
    for _ in range(dispatch_table.MAX_RECORDS + 5):
        few.add(dispatch_table.Pattern.of_arrays(1), target)
    assert len(few.records) == dispatch_table.MAX_RECORDS


def test_a_robot_that_was_called_in_many_ways_is_collected():
    robot = cr.load("planar_2r").scale_masses(1.7)
    q = np.zeros((2, 2))
    for _ in range(3):
        robot.pose(q, link="link1")
        robot.torque_terms(q, q, q)
    gone = weakref.ref(robot)
    call = robot.pose
    del robot
    gc.collect()
    assert call(q, link="link1").shape == (2, 4, 4)
    del call
    gc.collect()
    assert gone() is None


def test_a_builtin_without_records_hands_everything_on():
    def fallback(*arguments, **keywords):
        return arguments, keywords

    call = python_function(array_call_address(), fallback, "call", "", None)
    assert call(1, x=2) == ((1,), {"x": 2})
    assert call() == ((), {})
    del call.__self__.table  # as the garbage collector does
    assert call(1, x=2) == ((1,), {"x": 2})


def test_dask_arrays_stay_lazy_after_the_first_batch():
    dask = pytest.importorskip("dask.array")
    q = np.random.default_rng(0).normal(size=(6, 2))
    expected = ARM.pose(q, link="link1")
    for _ in range(2):
        lazy = ARM.pose(dask.from_array(q, chunks=(2, 2)), link="link1")
        assert type(lazy).__module__.startswith("dask")
        close(lazy.compute(), expected)


def test_the_method_of_a_subclass_is_called_for_batches_too():
    class Mine(cr.Robot):
        def gravity_torque(self, q):
            return super().gravity_torque(q) + 100

    robot = Mine(ARM.model)
    for _ in range(3):
        assert robot.gravity_torque(np.zeros((2, 2))).min() > 100
