"""Inverse kinematics on an emulated device: success as on the CPU, libraries' arrays, and what is refused."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from compile.cuda.emulator import DeviceNumbers, emulated_device, on_device
from tiers import with_slow

import chainrule as cr
from chainrule.compile.cuda import driver
from chainrule.compile.cuda.driver import DeviceError
from chainrule.core.derived import merged_model
from chainrule.core.reading import find_link
from chainrule.errors import MissingPackageError, ModelError, ShapeError
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.descent import blank_state, descent, inner_bounds, shared_numbers
from chainrule.inverse_kinematics.device import DeviceSearch, Kernels, _entries_of, _target_text
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.methods import SearchProblem
from chainrule.inverse_kinematics.request import Tolerances, target_numbers
from chainrule.inverse_kinematics.result import REASON_CODES


@pytest.fixture(scope="module", autouse=True)
def device():
    """An emulated device."""
    with emulated_device():
        yield


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_2r")


@pytest.fixture(scope="module")
def points(arm):
    """Positions of the tip in 150 configurations."""
    return arm.pose(arm.random_state(np.random.default_rng(1), (150,)))[:, :3, 3]


@pytest.mark.parametrize("bits", with_slow([32, 64], 32))
def test_every_reachable_point_is_reached(arm, points, bits):
    answer = arm.inverse_kinematics(on_device(points, bits), task="position", tolerance=1e-5, device="cuda")
    assert isinstance(answer.q, DeviceNumbers)
    assert answer.q.dtype == answer.error.dtype == f"float{bits}"
    assert answer.success.all()
    assert not answer.reason.any()
    assert np.abs(arm.pose(np.asarray(answer.q, float))[:, :3, 3] - points).max() < 1e-5
    assert (answer.iterations > 0).all()


def test_the_result_says_the_same_as_that_of_the_cpu(arm, points):
    targets = points.copy()
    targets[3] = np.nan
    targets[5] *= 50
    on_cpu = arm.inverse_kinematics(targets, task="position")
    copied = arm.inverse_kinematics(targets, task="position", device="cuda:0")
    assert type(copied.q) is np.ndarray
    assert copied.reason.tolist() == on_cpu.reason.tolist()
    assert copied.success.tolist() == on_cpu.success.tolist()
    assert np.allclose(copied.error[5], on_cpu.error[5], rtol=1e-3)
    assert np.isfinite(copied.q).all()
    stays = arm.inverse_kinematics(on_device(targets), task="position", device="cuda")
    assert [REASON_CODES[k] for k in stays.reason] == on_cpu.reason.tolist()
    assert len({str(one).splitlines()[0] for one in (stays, copied, on_cpu)}) == 1
    assert stays._repr_html_() == copied._repr_html_()


@pytest.mark.slow
def test_limits_are_kept():
    bounded = cr.load("ur5")
    lower, upper = np.array(bounded.model.layout.lower), np.array(bounded.model.layout.upper)
    T = bounded.pose(bounded.random_state(np.random.default_rng(4), (20,)))
    answer = bounded.inverse_kinematics(on_device(T, 32), tolerance=1e-5, device="cuda")
    assert answer.success.all()
    q = np.asarray(answer.q, float)
    assert ((q >= lower) & (q <= upper)).all()


def test_starts_are_where_the_search_begins(arm, points):
    q0 = arm.inverse_kinematics(points, task="position").q + 0.01
    from_q0 = arm.inverse_kinematics(on_device(points), on_device(q0), task="position", device="cuda")
    assert from_q0.success.all()
    assert np.abs(from_q0.q - q0).max() < 0.1
    one = arm.inverse_kinematics(on_device(points), on_device(q0[0]), task="position", restarts=0, device="cuda")
    assert one.q.shape == (150, 2)
    lost = on_device(q0)
    lost[7] = np.nan
    answer = arm.inverse_kinematics(on_device(points), lost, task="position", device="cuda")
    assert REASON_CODES[answer.reason[7]] == "not finite"
    assert answer.success.sum() == 149


def test_batches_of_any_shape(arm, points):
    for batch in ((), (0,), (2, 3)):
        some = points[: int(np.prod(batch))].reshape(*batch, 3)
        answer = arm.inverse_kinematics(on_device(some), task="position", device="cuda")
        assert answer.q.shape == (*batch, 2)
        assert answer.success.shape == answer.reason.shape == batch
        assert answer.errors["tip"].shape == (*batch, 2)
        assert answer.success.all()
    strided = on_device(np.repeat(points, 2, axis=0))[::2]
    assert arm.inverse_kinematics(strided, task="position", device="cuda").success.all()


FORMS = {
    "poses": ("pose", lambda arm, q: arm.pose(q)),
    "pose vectors": ("pose", lambda arm, q: arm.textbook.pose_vector(q)),
    "poses as orientations": ("orientation", lambda arm, q: arm.pose(q)),
    "rotations": ("orientation", lambda arm, q: arm.pose(q)[:, :3, :3]),
    "points": ("position", lambda arm, q: arm.pose(q)[:, :3, 3]),
    "poses as directions": ("pointing", lambda arm, q: arm.pose(q)),
    "directions": ("pointing", lambda arm, q: 3 * arm.pose(q)[:, :3, 3]),
    "axes": ("axis", lambda arm, q: arm.pose(q)),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_device_reads_targets_as_the_cpu_does(arm, form):
    task, of = FORMS[form]
    values = of(arm, arm.random_state(np.random.default_rng(3), (9,)))
    goal, shape = Goal("tip", task, (1.0, 0.0, 0.0)), _entries_of(Goal("tip", task), values.shape, "target")
    read = _target_text(goal, shape, list(values.reshape(9, -1).T))
    assert np.all(np.array(read[-1]) == 1)
    numbers = np.stack(np.broadcast_arrays(*read[:-1]), axis=-1)
    assert np.allclose(numbers, target_numbers(goal, values, "target"), rtol=0, atol=1e-15)


def test_iterations_in_single_precision_reach_what_is_near(panda):
    problem = SearchProblem(merged_model(panda), (Goal(find_link(panda, None)),))
    rng = np.random.default_rng(5)
    goals = panda.random_state(rng, (200,))
    bounds = inner_bounds(Bounds.of_limits(panda), 32)
    T = panda.pose(goals)
    target = np.concatenate([T[:, :3, :3].reshape(-1, 9), T[:, :3, 3]], axis=1).astype(np.float32)
    shared = shared_numbers(bounds, Tolerances(1e-5, 1e-5), False, 32).astype(np.float32)
    state = np.tile(blank_state(problem, 60), (200, 1)).astype(np.float32)
    state[:, :7] = goals + rng.normal(scale=0.2, size=goals.shape)
    q, running = np.full((200, 7), np.nan), np.arange(200)
    with np.errstate(all="ignore"):
        for _ in range(60):
            now = descent(problem, 32, list(shared), list(target[running].T), list(state[running].T))
            state[running] = np.stack(np.broadcast_arrays(*now), axis=-1)
            assert state.dtype == np.float32
            running = running[state[running, -1] == 0]
    assert not len(running)
    solved = state[:, -1] == 1
    assert solved.mean() > 0.9
    q = state[solved, :7].astype(float)
    assert (q >= Bounds.of_limits(panda).lower).all()
    assert (q <= Bounds.of_limits(panda).upper).all()
    assert np.abs(panda.pose(q) - T[solved]).max() < 1e-5


def test_the_same_seed_gives_the_same_answer(arm, points):
    first, again = (arm.inverse_kinematics(on_device(points), task="position", seed=3, device="cuda") for _ in range(2))
    assert (first.q == again.q).all()
    alone = arm.inverse_kinematics(on_device(points[40:41]), task="position", seed=3, device="cuda")
    assert (alone.q[0] == first.q[40]).all()


def test_without_room_on_the_device(arm, points, monkeypatch):
    class OutOfMemoryError(Exception):
        pass

    def refuse(*_):
        raise OutOfMemoryError("allocating 12 bytes")

    monkeypatch.setattr(DeviceSearch, "run", refuse)
    with pytest.raises(MemoryError, match=r"CUDA device 0 has no room left \(allocating 12 bytes\); search in parts"):
        arm.inverse_kinematics(on_device(points), task="position", device="cuda")


def test_without_cupy(arm, monkeypatch):
    monkeypatch.setattr(driver, "_driver", driver.CupyDriver())
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingPackageError, match="a graphics processor needs the package cupy"):
        arm.inverse_kinematics(np.eye(4), device="cuda")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no CUDA compiler")
@pytest.mark.parametrize("bits", [32, 64])
def test_the_text_compiles(panda, bits, tmp_path):
    kernels = Kernels(SearchProblem(merged_model(panda), (Goal(find_link(panda, None)),)), bits)
    file = tmp_path / "kernel.cu"
    file.write_text(kernels.until._code.text)
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-cubin", "-o", str(tmp_path / "kernel.cubin"), str(file)]
    subprocess.run(command, check=True)


def test_refusals(arm, points):
    T = on_device(arm.pose(np.zeros((2, 2))))

    def ask(target=T, q0=None, robot=arm, device="cuda", **options):
        return robot.inverse_kinematics(target, q0, device=device, **options)

    for device in ("gpu", "cuda:x", 0):
        with pytest.raises(ShapeError, match="device must be 'cuda', 'cuda:1' or 'cpu'"):
            ask(device=device)
    with pytest.raises(DeviceError, match="there is no CUDA device 3"):
        ask(np.eye(4), device="cuda:3")
    with pytest.raises(ShapeError, match="the targets are on CUDA device 0, and device 1 is asked for"):
        ask(device="cuda:1")
    with pytest.raises(ShapeError, match="history is for searches on the CPU"):
        ask(history=True)
    with pytest.raises(ShapeError, match=r"numbers bound by robot.at\(\.\.\.\) are for searches on the CPU"):
        ask(robot=arm.at({"link1.length": [1.0]}))
    with pytest.raises(ShapeError, match="searches by method='lm', got 'transpose'"):
        ask(method="transpose")
    with pytest.raises(ShapeError, match="postures are approached on the CPU"):
        ask(posture="center")
    with pytest.raises(ModelError, match="closed loops are closed on the CPU"):
        ask(robot=cr.load("four_bar"))
    with pytest.raises(ShapeError, match="a tolerance of 1e-07 is below the rounding of float32"):
        ask(on_device(T, 32), tolerance=1e-7)
    with pytest.raises(ShapeError, match="arrays of NumPy, or all of them on the device"):
        ask(q0=[0.0, 0.0])
    with pytest.raises(ShapeError, match="one type, got"):
        ask(q0=on_device(np.zeros(2), 32))
    with pytest.raises(ShapeError, match="q0 must have 2 numbers"):
        ask(q0=on_device(np.zeros(3)))
    with pytest.raises(ShapeError, match=r"do not fit together: \(2,\), \(3,\)"):
        ask(q0=on_device(np.zeros((3, 2))))
    with pytest.raises(ShapeError, match=r"must be poses \(..., 4, 4\).*got shape \(2, 5\)"):
        ask(on_device(np.zeros((2, 5))))
    with pytest.raises(ShapeError, match="target is not a rigid transform"):
        ask(on_device(2 * np.asarray(T[0])))
    with pytest.raises(ShapeError, match="target, row 1, is not a rigid transform"):
        ask(on_device(np.asarray(T) * [[[1.0]], [[2.0]]]))
    with pytest.raises(ShapeError, match="a direction of length zero"):
        ask(on_device(np.zeros(3)), task="pointing")
