"""Compiled kernels: the same numbers as the reference path, whatever the robot, precision, layout and batch."""

import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.cli.bench import snake
from chainrule.compile.kernel import Kernel
from chainrule.compile.load import cache, engine, threads
from chainrule.core.mechanism import fingerprint
from chainrule.functions.table import FUNCTIONS

LANES = engine.vector_bits() // 64
OF_LOOPS = {
    "constraint_residual", "constraint_jacobian", "constraint_velocity_terms", "constraint_poses", "constraint_forces",
    "loop_forces", "closing_step", "consistent_velocity", "consistent_acceleration",
}  # fmt: skip
SMALL = ["revolute", "prismatic", "universal", "spherical", "fixed"]


def close(ours, theirs, tolerance=1e-12):
    assert ours.shape == theirs.shape
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(1.0, np.abs(theirs).max(initial=0)))


def arguments_of(robot, name, seed, shape=()):
    rng = np.random.default_rng(seed)
    values = {
        "q": lambda: robot.random_state(rng, shape),
        "q0": lambda: robot.random_state(rng, shape),
        "q1": lambda: robot.random_state(rng, shape),
    }
    return [values.get(a, lambda: rng.normal(size=(*shape, robot.nv)))() for a in FUNCTIONS[name].arguments]


@pytest.mark.parametrize("name", sorted(name for name in FUNCTIONS if name not in OF_LOOPS))
@pytest.mark.parametrize("seed", [1, 2])
def test_every_function_is_the_reference_path_to_rounding_on_random_trees(name, seed):
    robot = tree(seed, SMALL, mimic=seed == 2)
    arguments = arguments_of(robot, name, seed, (5,))
    method = {"newton_euler": "newton_euler_table"}.get(name, name)
    extra = [np.random.default_rng(seed).normal(size=6)] if name == "static_torque" else []
    ours, theirs = (getattr(r, method)(*arguments, *extra) for r in (robot, robot.reference))
    if isinstance(ours, dict):
        for term in ours:
            close(ours[term], theirs[term])
    elif method == "newton_euler_table":
        close(ours.n, theirs.n)
        close(ours.tau, theirs.tau)
    else:
        close(ours, theirs)
    assert robot._kernels
    assert not robot.reference._kernels


@pytest.mark.parametrize("name", ["panda", "puma560", "quadruped", "human_arm", "panda_hand", "stanford"])
def test_bundled_robots_agree_with_the_reference_path(name):
    robot = cr.load(name)
    q, qd, qdd = state(robot, 1, (3, 4))
    loads = {"wrenches": {robot.link_names[-1]: np.ones(6)}}
    close(robot.inverse_dynamics(q, qd, qdd, **loads), robot.reference.inverse_dynamics(q, qd, qdd, **loads))
    close(robot.forward_dynamics(q, qd, qdd), robot.reference.forward_dynamics(q, qd, qdd), 1e-11)
    close(robot.mass_matrix(q), robot.reference.mass_matrix(q))
    close(robot.poses(q), robot.reference.poses(q))
    link = robot.link_names[-1]
    for frame in ("space", "body", "world"):
        close(robot.jacobian(q, link, frame), robot.reference.jacobian(q, link, frame))


PANDA = cr.load("panda")
Q, QD, QDD = state(PANDA, 0, (64,))


@pytest.mark.parametrize("count", range(3 * LANES + 1))
def test_every_length_around_the_vector_width(count):
    arguments = Q[:count], QD[:count], QDD[:count]
    close(PANDA.inverse_dynamics(*arguments), PANDA.reference.inverse_dynamics(*arguments))
    single = PANDA.inverse_dynamics(*(a.astype(np.float32) for a in arguments))
    assert single.dtype == np.float32
    assert_allclose(single, PANDA.reference.inverse_dynamics(*arguments), rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize(
    "layout", ["fortran", "reversed", "every other", "transposed batch", "broadcast", "unaligned", "wide"]
)
def test_any_strides(layout):
    kernel = PANDA.kernel("inverse_dynamics")
    expected = PANDA.reference.inverse_dynamics(Q, QD, QDD)
    if layout == "fortran":
        arguments = [np.asfortranarray(a) for a in (Q, QD, QDD)]
    elif layout == "reversed":
        arguments, expected = [a[::-1] for a in (Q, QD, QDD)], expected[::-1]
    elif layout == "every other":
        arguments, expected = [a[::2] for a in (Q, QD, QDD)], expected[::2]
    elif layout == "transposed batch":
        arguments = [a.reshape(8, 8, 7).transpose(1, 0, 2) for a in (Q, QD, QDD)]
        expected = expected.reshape(8, 8, 7).transpose(1, 0, 2)
    elif layout == "broadcast":
        arguments = [Q[0], QD[:, None], QDD[None, :8]]
        expected = PANDA.reference.inverse_dynamics(*arguments)
    elif layout == "unaligned":
        arguments = []
        for a in (Q, QD, QDD):
            raw = np.zeros(a.nbytes + 1, dtype=np.uint8)
            raw[1:] = a.view(np.uint8).ravel()
            arguments.append(raw[1:].view(np.float64).reshape(a.shape))
    else:
        arguments = []
        for a in (Q, QD, QDD):
            padded = np.zeros((64, 14))
            padded[:, ::2] = a
            arguments.append(padded[:, ::2])
    close(PANDA.inverse_dynamics(*arguments), expected)
    close(kernel.ufunc(*arguments), expected)


def test_the_kernel_is_a_numpy_citizen():
    kernel = PANDA.kernel("inverse_dynamics")
    assert isinstance(kernel.ufunc, np.ufunc)
    assert kernel.ufunc.signature == "(7),(7),(7)->(7)" == kernel.signature
    expected = PANDA.reference.inverse_dynamics(Q, QD, QDD)
    out = np.zeros((64, 7))
    assert kernel(Q, QD, QDD, out=out) is out
    close(out, expected)
    strided = np.zeros((64, 14))
    kernel(Q, QD, QDD, out=strided[:, ::2])
    close(strided[:, ::2], expected)
    assert not strided[:, 1::2].any()
    assert kernel(Q, QD, QDD, dtype=np.float32, casting="same_kind").dtype == np.float32
    close(kernel(Q.tolist(), QD.tolist(), QDD.tolist()), expected)
    whole = np.round(Q * 10).astype(int)
    close(kernel(whole, whole, whole), PANDA.reference.inverse_dynamics(whole, whole, whole))
    with pytest.raises(ValueError, match="size 6 is different from 7"):
        kernel(Q[:, :6], QD, QDD)
    M = np.zeros((64, 7, 9))
    PANDA.kernel("mass_matrix").ufunc(Q, out=M[..., 1:8])
    close(M[..., 1:8], PANDA.reference.mass_matrix(Q))


class Tagged(np.ndarray):
    pass


def test_subclasses_and_array_ufunc_are_honoured():
    kernel = PANDA.kernel("gravity_torque")
    assert type(kernel(Q.view(Tagged))) is Tagged

    class Lazy:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return ufunc, method

    assert kernel(Lazy()) == (kernel.ufunc, "__call__")


def test_a_dask_array_stays_lazy():
    dask = pytest.importorskip("dask.array")
    lazy = [dask.from_array(a, chunks=(30, 3)) for a in (Q, QD, QDD)]
    tau = PANDA.inverse_dynamics(*lazy)
    assert isinstance(tau, dask.Array)
    close(tau.compute(), PANDA.reference.inverse_dynamics(Q, QD, QDD))
    close(PANDA.mass_matrix(lazy[0]).compute(scheduler="processes"), PANDA.reference.mass_matrix(Q))


def test_what_is_known_of_a_kernel():
    kernel = PANDA.kernel("inverse_dynamics")
    assert kernel.instructions > 500
    assert kernel.flops > 500
    assert kernel.operations["sin"] <= 7
    assert kernel.compile_seconds > 0
    assert "define void @loop" in kernel.ir()
    assert "mul" in kernel.assembly()
    assert "inverse_dynamics" in repr(kernel)
    with pytest.raises(cr.UnknownNameError, match="did you mean 'inverse_dynamics'"):
        PANDA.kernel("inverse_dynamic")
    with pytest.raises(cr.UnknownNameError, match="no option named 'linkk'"):
        PANDA.kernel("jacobian", linkk="panda_link3")
    close(
        PANDA.kernel("jacobian", link="panda_link3", frame="body")(Q),
        PANDA.reference.jacobian(Q, "panda_link3", "body"),
    )


def test_the_plain_call_is_a_builtin_that_takes_every_case():
    PANDA.inverse_dynamics(Q[0], QD[0], QDD[0])
    fast = PANDA.inverse_dynamics
    assert "built-in" in repr(fast)
    expected = PANDA.reference.inverse_dynamics(Q[0], QD[0], QDD[0])
    close(fast(Q[0], QD[0], QDD[0]), expected)
    close(fast(Q[0].tolist(), QD[0], qdd=QDD[0]), expected)
    close(fast(Q, QD, QDD), PANDA.reference.inverse_dynamics(Q, QD, QDD))
    close(fast(Q[0], QD[0], QDD[0], tip_wrench=np.zeros(6)), expected)
    close(fast(np.repeat(Q[0], 2)[::2], QD[0], QDD[0]), expected)
    with pytest.raises(cr.ShapeError, match="q must have 7 numbers"):
        fast(Q[0][:6], QD[0], QDD[0])
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        fast(Q[0], QD[0])
    assert "Newton-Euler" in fast.__doc__


def test_a_zero_quaternion_is_refused_by_the_plain_call_too():
    robot = cr.load("quadruped")
    robot.mass_matrix(robot.neutral())
    assert "built-in" in repr(robot.mass_matrix)
    with pytest.raises(cr.ShapeError, match="is zero, which is no orientation"):
        robot.mass_matrix(np.zeros(robot.nq))


@given(st.lists(st.floats(-1e300, 1e300, allow_nan=False), min_size=2, max_size=20))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_sine_and_cosine_are_right_to_an_ulp_over_the_whole_range(angles):
    check_trigonometry(np.array(angles))


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 10.0, 1e3, 9.9e4, 1e5, 1.1e5, 1e10, 1e22])
def test_sine_and_cosine_at_every_scale_and_at_multiples_of_half_pi(scale):
    rng = np.random.default_rng(0)
    check_trigonometry(rng.uniform(-scale, scale, 5000))
    check_trigonometry(np.round(rng.uniform(-scale, scale, 5000)) * (np.pi / 2))


def check_trigonometry(angles):
    """The pose of a pendulum shows the sine and the cosine of its angle."""
    pendulum = cr.load("pendulum")
    T = pendulum.pose(angles[:, None], "rod")
    for ours, exact in ((T[:, 1, 0], np.sin(angles)), (T[:, 0, 0], np.cos(angles))):
        assert (np.abs(ours - exact) <= 1.5 * np.spacing(np.abs(exact))).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_one_bad_row_does_not_touch_the_others(bad):
    q = Q.copy()
    q[5, 2] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = PANDA.inverse_dynamics(q, QD, QDD)
    rest = np.arange(64) != 5
    close(ours[rest], PANDA.reference.inverse_dynamics(Q, QD, QDD)[rest])
    assert np.isfinite(ours[5]).all() == np.isfinite(bad)


def test_threads_split_a_batch_and_give_the_same_numbers():
    q, qd, qdd = state(PANDA, 3, (40_001,))
    try:
        cr.set_threads(1)
        one = PANDA.inverse_dynamics(q, qd, qdd)
        cr.set_threads(3)
        assert threads.threads() == 3
        assert (PANDA.inverse_dynamics(q, qd, qdd) == one).all()
        wide = PANDA.inverse_dynamics(q[None], qd[None, :], qdd[:1])
        assert wide.shape == (1, 40_001, 7)
    finally:
        cr.set_threads(None)
    with pytest.raises(cr.ShapeError, match="must be a positive integer"):
        cr.set_threads(0)


def test_many_python_threads_may_call_one_robot_at_once():
    robot = cr.load("panda")
    expected = PANDA.reference.forward_dynamics(Q, QD, QDD)
    wrong = []

    def hammer():
        for i in range(200):
            k = i % 64
            if not np.allclose(robot.forward_dynamics(Q[k], QD[k], QDD[k]), expected[k], rtol=1e-9):
                wrong.append(k)
            if i % 20 == 0 and not np.allclose(robot.forward_dynamics(Q, QD, QDD), expected, rtol=1e-9):
                wrong.append(-1)

    workers = [threading.Thread(target=hammer) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_compiled_functions_outlive_the_robot_they_came_from():
    import gc

    robot = cr.load("planar_2r").scale_masses(1.5)
    robot.mass_matrix(np.zeros(2))
    call, ufunc = robot.mass_matrix, robot.kernel("mass_matrix").ufunc
    del robot
    gc.collect()
    cr.load("planar_3r").scale_masses(1.1).mass_matrix(np.zeros(3))
    for function in (call, ufunc):
        assert_allclose(function(np.zeros(2)), [[7.5, 3], [3, 1.5]])
    del call, ufunc, function
    gc.collect()


def test_code_outlives_finalizers_that_still_call_it():
    """A robot is part of a cycle; the garbage collector must not free its code before a finalizer has run."""
    code = """
import gc, numpy as np, chainrule as cr
q = np.zeros(7)
kept = []
class Controller:
    def __init__(self, robot):
        self.robot, self.me, self.call = robot, self, robot.gravity_torque
    def __del__(self):
        self.robot.gravity_torque(q)
        self.call(q)
        kept.append(self)
for k in range(3):
    robot = cr.load("panda").scale_masses(1 + k)
    robot.kernel("gravity_torque")
    Controller(robot)
    del robot
    gc.collect()
print([round(float(c.call(q)[1]), 3) for c in kept])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[-3.434, -6.869, -10.303]"


def test_a_method_of_a_subclass_is_not_passed_over():
    class Mine(cr.Robot):
        def gravity_torque(self, q):
            return super().gravity_torque(q) + 100

    robot = Mine(PANDA.model)
    assert [round(float(robot.gravity_torque(np.zeros(7))[0])) for _ in range(3)] == [100, 100, 100]


def test_the_reference_path_never_runs_machine_code(monkeypatch):
    reference = cr.load("panda").reference
    reference.kernel("gravity_torque")
    assert "built-in" not in repr(reference.gravity_torque)
    monkeypatch.setenv("CHAINRULE_KERNELS", "off")
    robot = cr.load("panda")
    robot.kernel("gravity_torque")
    robot.gravity_torque(Q)
    assert "built-in" not in repr(robot.gravity_torque)


def test_difference_refuses_a_zero_quaternion_in_either_argument():
    robot = cr.load("quadruped")
    good, bad = robot.neutral(), robot.neutral()
    bad[3:7] = 0
    robot.difference(good, good)
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(cr.ShapeError, match="is zero, which is no orientation"):
            robot.difference(*pair)


def test_kernels_are_asked_for_as_carefully_as_methods():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)
        bare = cr.Robot.from_dh([(1, 0, 0, 0)], convention="standard")
    with pytest.raises(cr.ModelError, match="has no masses"):
        bare.kernel("inverse_dynamics")
    with pytest.raises(cr.UnknownNameError, match="frame of a Jacobian"):
        PANDA.kernel("jacobian", frame="bogus")
    with pytest.raises(cr.UnknownNameError, match="no joint named 'nope'"):
        PANDA.kernel("joint_wrenches", joints=["nope"])
    with pytest.raises(cr.ShapeError, match="loads must be a list of names"):
        PANDA.kernel("inverse_dynamics", loads="panda_link7")
    with pytest.raises(cr.ShapeError, match="takes one load"):
        PANDA.kernel("static_torque", loads=())
    legged = cr.load("quadruped")
    q = legged.random_state(np.random.default_rng(0), (3,))
    close(legged.kernel("pose", link="FL_FOOT")(q), legged.reference.pose(q, "FL_FOOT"))


def test_absolute_values_are_compiled():
    arm = cr.load("human_arm")
    q = arm.random_state(np.random.default_rng(0), (5,))
    close(arm.analytic_jacobian(q, "shoulder_1"), arm.reference.analytic_jacobian(q, "shoulder_1"))


def test_an_answer_of_no_joints_is_empty():
    assert PANDA.joint_wrenches(Q, QD, QDD, joints=[]).shape == (64, 0, 6)


def test_a_compiled_method_can_be_pickled():
    PANDA.gravity_torque(Q[0])
    again = pickle.loads(pickle.dumps(PANDA.gravity_torque))
    close(again(Q[0]), PANDA.reference.gravity_torque(Q[0]))


def test_a_forked_child_builds_kernels_of_its_own():
    code = """
import os, numpy as np, chainrule as cr
robot = cr.load("panda")
robot.mass_matrix(np.zeros((40_000, 7)))
child = os.fork()
if child == 0:
    robot.gravity_torque(np.zeros((400_000, 7)))
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "7", done.stderr


def test_a_large_batch_with_a_bad_row_gives_no_warning():
    q = np.zeros((40_000, 7))
    q[30_000, 0] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(PANDA.inverse_dynamics(q, q, q)[30_000]).any()


def test_a_robot_can_be_pickled_after_use():
    PANDA.mass_matrix(Q[0])
    again = pickle.loads(pickle.dumps(PANDA))
    assert again == PANDA
    close(again.mass_matrix(Q), PANDA.reference.mass_matrix(Q))


def test_a_kernel_with_parameters_serves_a_family_of_robots():
    kernel = PANDA.kernel("inverse_dynamics", parameters=["gravity", "payload:panda_link8", "link:panda_link3"])
    assert kernel.signature == "(7),(7),(7),(3),(10),(10)->(7)"
    mass, com, inertia = 1.5, (0.1, 0.0, 0.2), (0.02, 0.03, 0.04, 0.001, 0.0, 0.002)
    link = PANDA.model.links[3]
    own = [link.mass, *link.com, *link.inertia.entries()]
    gravity = np.array([[0.0, 0.0, -9.81], [1.0, 2.0, -1.6]])
    tau = kernel(Q[0], QD[0], QDD[0], gravity, [mass, *com, *inertia], own)
    for g, ours in zip(gravity, tau, strict=True):
        family = PANDA.with_payload(mass, com, inertia).with_gravity(g).reference
        close(ours, family.inverse_dynamics(Q[0], QD[0], QDD[0]), 1e-11)
    light = kernel(Q[0], QD[0], QDD[0], gravity[0], np.zeros(10), np.zeros(10))
    assert not np.allclose(light, tau[0])
    for wrong, message in (
        (["mass"], "a parameter is 'gravity'"),
        (["link:panda_link8"], "is welded to link"),
        ("gravity", "must be a list of names"),
    ):
        with pytest.raises(cr.ShapeError, match=message):
            PANDA.kernel("mass_matrix", parameters=wrong)
    with pytest.raises(cr.UnknownNameError, match="did you mean"):
        PANDA.kernel("mass_matrix", parameters=["link:panda_link33"])


# --- the cache ---


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def built(name="gravity_torque", robot="planar_2r"):
    model = cr.load(robot).model
    return Kernel(model, name, fingerprint(model), {})


def works(kernel):
    q = np.array([[0.3, 0.4], [0.1, -2.0]])
    close(kernel(q), cr.load("planar_2r").reference.gravity_torque(q))


def test_a_second_kernel_comes_from_the_cache(empty_cache):
    assert not built().cached
    again = built()
    assert again.cached
    works(again)
    assert again.instructions == built().tape.instructions.__len__()
    assert (empty_cache.stat().st_mode & 0o077) == 0


@pytest.mark.parametrize(
    "damage", ["truncated", "changed", "empty", "another key", "no header", "not ours", "facts", "nested"]
)
def test_an_entry_that_cannot_be_trusted_is_built_again(empty_cache, damage):
    built()
    (path,) = empty_cache.glob("*.kernel")
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        path.write_bytes(content[:-100] + bytes(100))
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "another key":
        built("mass_matrix")
        other = next(p for p in empty_cache.glob("*.kernel") if p != path)
        path.write_bytes(other.read_bytes())
    elif damage == "facts":
        path.write_bytes(content.replace(b'"flops"', b'"flips"', 1))
    elif damage == "nested":
        path.write_bytes(b"[" * 100_000 + content)
    elif damage == "no header":
        path.write_bytes(b"\x7fELF" + content)
    else:
        path.chmod(0o666)
    kernel = built()
    assert not kernel.cached
    works(kernel)


def test_the_key_holds_everything_that_shapes_a_kernel(monkeypatch, empty_cache):
    built()
    other = cr.load("planar_2r").scale_masses(2.0)
    assert not Kernel(other.model, "gravity_torque", fingerprint(other.model), {}).cached
    monkeypatch.setattr(engine, "version", lambda: "another compiler")
    assert not built().cached
    monkeypatch.undo()
    monkeypatch.setenv("CHAINRULE_CACHE", str(empty_cache))
    monkeypatch.setattr(cache, "source_digest", lambda: "another algorithm")
    assert not built().cached


def test_a_cache_that_cannot_be_written_or_is_off_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    for place in (str(blocked / "inside"), "off"):
        monkeypatch.setenv("CHAINRULE_CACHE", place)
        works(built())
        assert not built().cached


def test_a_cache_without_a_home_or_with_a_wrong_bound(monkeypatch, empty_cache):
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", "512M")
    with pytest.raises(cr.ShapeError, match="must be a number of bytes, got '512M'"):
        built()
    monkeypatch.delenv("CHAINRULE_CACHE_BYTES")

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache, "folder", homeless)
    works(built())


def test_the_cache_keeps_within_its_bound(empty_cache, monkeypatch):
    built()
    size = next(empty_cache.glob("*.kernel")).stat().st_size
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", str(2 * size))
    for name in ("mass_matrix", "bias", "inverse_dynamics"):
        built(name)
    assert sum(p.stat().st_size for p in empty_cache.glob("*.kernel")) <= 3 * size
    assert cache.clear() >= 1
    assert not list(empty_cache.glob("*"))


def test_two_processes_may_fill_the_cache_at_once(empty_cache):
    code = "import chainrule as cr; print(cr.load('planar_3r').gravity_torque([0.1, 0.2, 0.3]).tolist())"
    workers = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {worker.communicate()[0] for worker in workers}
    assert len(answers) == 1
    assert all(worker.returncode == 0 for worker in workers)
    assert not list(empty_cache.glob("*.part"))


# --- switches and size ---


def test_one_switch_runs_everything_without_llvmlite():
    code = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "import chainrule as cr; print(cr.load('planar_2r').mass_matrix([0.0, 0.0]).tolist())"
    )
    import os

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "CHAINRULE_KERNELS": "off"},
        check=True,
    )
    assert done.stdout.strip() == "[[5.0, 2.0], [2.0, 1.0]]"


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_narrower_vectors_give_the_same_numbers(bits, monkeypatch):
    """What runs on processors with SSE2 or NEON, and with AVX2, compiled here for as many lanes."""
    if bits > engine.vector_bits():
        pytest.skip(f"this processor has no vectors of {bits} bits")
    monkeypatch.setattr(engine, "vector_bits", lambda: bits)
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    for name, options in (("inverse_dynamics", {"loads": ()}), ("mass_matrix", {})):
        kernel = Kernel(PANDA._merged, name, "x", options)
        assert kernel.lanes == bits // 64
        arguments = arguments_of(PANDA, name, 1, (21,))
        expected = getattr(PANDA.reference, name)(*arguments)
        close(kernel.spread(arguments), expected)
        close(kernel.spread([np.asfortranarray(a) for a in arguments]), expected)
        single = kernel.spread([a.astype(np.float32) for a in arguments])
        assert_allclose(single, expected, rtol=1e-3, atol=2e-4)


def test_a_long_tape_is_split_and_stays_right(monkeypatch):
    from chainrule.compile.emit import lanes

    monkeypatch.setattr(lanes, "PART", 100)
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    kernel = Kernel(PANDA._merged, "forward_dynamics", "x", {"loads": ()})
    assert kernel.ir().count("define internal void @core.") > 5
    close(kernel(Q, QD, QDD), PANDA.reference.forward_dynamics(Q, QD, QDD), 1e-11)


def test_a_robot_that_cannot_move_has_functions_of_nothing():
    robot = cr.load("pendulum").lock({"hinge": 0.1})
    nothing = np.zeros(0)
    assert robot.mass_matrix(nothing).shape == (0, 0)
    assert robot.inverse_dynamics(np.zeros((3, 0)), nothing, nothing).shape == (3, 0)
    assert robot.jacobian(nothing).shape == (6, 0)
    close(robot.pose(nothing)[:3, 3], np.array([np.sin(0.1), -np.cos(0.1), 0]))
    with pytest.raises(cr.ModelError, match="nothing to compile"):
        robot.kernel("pose")


@pytest.mark.slow
def test_a_chain_of_200_joints_works_for_every_function():
    robot = snake(200)
    q, qd, qdd = (a * 0.1 for a in state(robot, 0, (3,)))
    tau = robot.inverse_dynamics(q, qd, qdd)
    close(tau, robot.reference.inverse_dynamics(q, qd, qdd), 1e-10)
    assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-5, atol=1e-5)
    M = robot.mass_matrix(q)
    assert_allclose((M @ qdd[..., None])[..., 0] + robot.bias(q, qd), tau, rtol=1e-8, atol=1e-8)
    for name in sorted(
        set(FUNCTIONS)
        - {
            "torque_terms",
            "newton_euler",
            "static_torque",
            "inverse_dynamics",
            "forward_dynamics",
            "mass_matrix",
            "bias",
        }
    ):
        assert np.isfinite(getattr(robot, name)(*arguments_of(robot, name, 0, (2,)))).all()


# --- C ---


@pytest.mark.parametrize("name", ["panda", "puma560", "quadruped"])
def test_exported_c_compiles_without_a_warning_and_agrees(name, tmp_path):
    robot = cr.load(name)
    functions = ["inverse_dynamics", "mass_matrix", "forward_dynamics", "friction_torque"]
    files = robot.export("c", functions=functions, path=tmp_path / "robot.c")
    assert {f.name for f in files} == {"robot.c", "robot.h", "robot_main.c"}
    binary = tmp_path / "robot"
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off"]
    subprocess.run(["gcc", *flags, tmp_path / "robot.c", tmp_path / "robot_main.c", "-lm", "-o", binary], check=True)
    arguments = [arguments_of(robot, f, 5) for f in functions]
    text = " ".join(repr(float(x)) for group in arguments for a in group for x in a)
    lines = subprocess.run([binary], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    for function, group, line in zip(functions, arguments, lines, strict=True):
        expected = getattr(robot.reference, function)(*group)
        close(np.array(line.split(), dtype=float).reshape(expected.shape), expected, 1e-11)


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
    kernel = robot.kernel("mass_matrix")
    assert "main" not in kernel.ir()
    for file in robot.export("c", functions=["mass_matrix"], path=tmp_path / "x.c"):
        assert "return 1;} /*" not in file.read_text()
    close(kernel(np.zeros((3, 2))), cr.load("planar_2r").reference.mass_matrix(np.zeros((3, 2))))


GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["pendulum.c", "pendulum.h", "pendulum_main.c"])
def test_the_c_text_of_a_small_kernel_is_as_it_was(name, tmp_path, request):
    """Run pytest with --update-golden after a change that is meant."""
    cr.load("pendulum").export("c", functions=["inverse_dynamics", "pose"], path=tmp_path / "pendulum.c")
    text = (tmp_path / name).read_text()
    if request.config.getoption("--update-golden"):
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cuda",), "can be exported to the target 'c'"),
        (("c", ["mass_matrx"]), "did you mean 'mass_matrix'"),
        (("c", "mass_matrix"), "functions must be a list of names"),
        (("c", ["mass_matrix"], "x.cpp"), "path must end in .c"),
    ],
)
def test_wrong_exports_are_refused(arguments, message, tmp_path):
    target, functions, path = [*arguments, *["c", ["bias"], "x.c"][len(arguments) :]]
    with pytest.raises(cr.ChainruleError, match=message):
        PANDA.export(target, functions=functions, path=tmp_path / path)
