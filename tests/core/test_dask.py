"""Dask arrays in, Dask arrays out: every function of a robot's state, lazily."""

import inspect
import pickle
import sys
from collections import Counter
from dataclasses import fields, is_dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from surface import functions

import chainrule as cr
from chainrule.compile import kernel as kernels
from chainrule.compile.runtime import threads
from chainrule.core.declaration import takes_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

ARM = (
    cr.load("planar_2r")
    .edit(joints={"*": {"effort": [60.0, 30.0]}})
    .edit(joints={"*": {"viscous": 0.2}})
    .with_spring("base", "link2", (0, 0.5, 0), (0, 0.1, 0), stiffness=3.0)
)
BAR = cr.load("four_bar")
BALL = cr.load("planar_2r").floating()


def forbidden(*arguments, **options):
    raise AssertionError("something was computed")


class State(NamedTuple):
    """The arguments of functions."""

    q: object
    qd: object
    qdd: object
    tau: object
    F: object
    point: object
    payload: object
    mass: object
    target: object

    def map(self, change):
        return State(*(change(name, x) for name, x in zip(self._fields, self, strict=True)))


@cache
def state_of(robot, batch, dtype=float):
    rng = np.random.default_rng(3)
    q = robot.random_state(rng, batch)
    qd, qdd, tau = (rng.normal(size=(*batch, robot.nv)) for _ in range(3))
    if robot.model.constraints:
        qd = robot.loops.consistent_velocity(q, qd)
        qdd = robot.loops.consistent_acceleration(q, qd, qdd)
    F, point, mass = (rng.normal(size=(*batch, k)) for k in (6, 3, 1))
    target = robot.pose(robot.random_state(rng, batch))
    return State(*(np.asarray(x, dtype) for x in (q, qd, qdd, tau, F, point, abs(mass), abs(mass[..., 0]), target)))


FAR_BALL = cr.World().sphere("ball", 0.1, (3.0, 3.0, 3.0))
OPEN = {
    "distances": lambda r, s: r.distances(s.q, FAR_BALL),
    "clearance": lambda r, s: r.clearance(s.q, FAR_BALL),
    "clearance_dq": lambda r, s: r.clearance_dq(s.q, FAR_BALL),
    "integrate": lambda r, s: r.integrate(s.q, s.qd),
    "difference": lambda r, s: r.difference(s.q, s.q[..., ::-1] if r.nq == 2 else s.q),
    "states.coordinate_rates": lambda r, s: r.states.coordinate_rates(s.q, s.qd),
    "states.by_name": lambda r, s: r.states.by_name(s.q),
    "pose": lambda r, s: r.pose(s.q, "link1"),
    "pose with parameters": lambda r, s: r.at({"link1.length": s.mass + 0.1}).pose(s.q),
    "poses": lambda r, s: r.poses(s.q),
    "velocities": lambda r, s: r.velocities(s.q, s.qd, frame="body"),
    "accelerations": lambda r, s: r.accelerations(s.q, s.qd, s.qdd, gravity=True),
    "jacobian": lambda r, s: r.jacobian(s.q, frame="body"),
    "jacobian_dot": lambda r, s: r.jacobian_dot(s.q, s.qd),
    "jacobian_dq": lambda r, s: r.jacobian_dq(s.q),
    "textbook.analytic_jacobian": lambda r, s: r.textbook.analytic_jacobian(s.q),
    "textbook.pose_vector": lambda r, s: r.textbook.pose_vector(s.q),
    "textbook.angles_are_singular": lambda r, s: r.textbook.angles_are_singular(s.q),
    "velocity": lambda r, s: r.velocity(s.q, s.qd),
    "acceleration": lambda r, s: r.acceleration(s.q, s.qd, s.qdd),
    "acceleration of a point": lambda r, s: r.acceleration(s.q, s.qd, s.qdd, point=s.point),
    "textbook.velocity_terms": lambda r, s: r.textbook.velocity_terms(s.q, s.qd, point=s.point, point_velocity=s.point),
    "textbook.acceleration_terms": lambda r, s: r.textbook.acceleration_terms(s.q, s.qd, s.qdd, "link1", "tip"),
    "analysis.resolved_rate": lambda r, s: r.analysis.resolved_rate(s.q, s.F, null_velocity=s.qd),
    "analysis.resolved_acceleration": lambda r, s: r.analysis.resolved_acceleration(
        s.q, s.qd, s.F, null_acceleration=s.qdd
    ),
    "analysis.null_space": lambda r, s: r.analysis.null_space(s.q),
    "singular_values": lambda r, s: r.singular_values(s.q),
    "analysis.condition_number": lambda r, s: r.analysis.condition_number(s.q),
    "is_singular": lambda r, s: r.is_singular(s.q),
    "analysis.reduced_jacobian": lambda r, s: r.analysis.reduced_jacobian(s.q),
    "manipulability": lambda r, s: r.manipulability(s.q),
    "analysis.gradient": lambda r, s: r.analysis.gradient(s.q),
    "analysis.ellipsoid": lambda r, s: r.analysis.ellipsoid(s.q, kind="force"),
    "analysis.dynamic_manipulability": lambda r, s: r.analysis.dynamic_manipulability(s.q),
    "balanced_wrench": lambda r, s: r.balanced_wrench(s.q, s.tau),
    "analysis.wrench_capacity": lambda r, s: r.analysis.wrench_capacity(s.q, s.F),
    "analysis.push": lambda r, s: r.analysis.push(s.q, s.point),
    "analysis.payload": lambda r, s: r.analysis.payload(s.q),
    "inverse_kinematics": lambda r, s: r.inverse_kinematics(s.target, s.q, restarts=0, max_iterations=2),
    "ik.branches": lambda r, s: r.ik.branches(s.target),
    "inverse_dynamics": lambda r, s: r.inverse_dynamics(s.q, s.qd, s.qdd),
    "inverse_dynamics with wrenches": lambda r, s: r.inverse_dynamics(
        s.q, s.qd, s.qdd, tip_wrench=s.F, external={"link1": s.F}
    ),
    "inverse_dynamics with parameters": lambda r, s: r.at(
        {"tip.payload": s.payload, "link1.mass": s.mass}
    ).inverse_dynamics(s.q, s.qd, s.qdd),
    "forward_dynamics": lambda r, s: r.forward_dynamics(s.q, s.qd, s.tau, tip_wrench=s.F, stick=True, frame="body"),
    "inverse_dynamics_derivatives": lambda r, s: r.inverse_dynamics_derivatives(s.q, s.qd, s.qdd),
    "forward_dynamics_derivatives": lambda r, s: r.forward_dynamics_derivatives(s.q, s.qd, s.tau),
    "derivatives.second": lambda r, s: r.derivatives.second(s.q, s.qd, s.qdd, s.tau),
    "linearize": lambda r, s: r.linearize(s.q, s.qd, s.tau, 0.01),
    "mass_matrix": lambda r, s: r.mass_matrix(s.q, half=True),
    "derivatives.mass_matrix_dq": lambda r, s: r.derivatives.mass_matrix_dq(s.q),
    "derivatives.mass_matrix_dot": lambda r, s: r.derivatives.mass_matrix_dot(s.q, s.qd),
    "analysis.apply_inverse_mass": lambda r, s: r.analysis.apply_inverse_mass(s.q, s.tau),
    "coriolis_matrix": lambda r, s: r.coriolis_matrix(s.q, s.qd),
    "gravity_torque": lambda r, s: r.gravity_torque(s.q),
    "derivatives.gravity_torque_dq": lambda r, s: r.derivatives.gravity_torque_dq(s.q),
    "friction_torque": lambda r, s: r.friction_torque(s.qd, s.q),
    "spring_torque": lambda r, s: r.spring_torque(s.q),
    "analysis.spring_forces": lambda r, s: r.analysis.spring_forces(s.q, s.qd),
    "bias": lambda r, s: r.bias(s.q, s.qd),
    "torque_terms": lambda r, s: r.torque_terms(s.q, s.qd, s.qdd, tip_wrench=s.F, frame="body"),
    "joint_wrenches": lambda r, s: r.joint_wrenches(s.q, s.qd, s.qdd, joints=["joint2"], frame="body"),
    "static_torque": lambda r, s: r.static_torque(s.q, s.F, frame="body"),
    "kinetic_energy": lambda r, s: r.kinetic_energy(s.q, s.qd),
    "potential_energy": lambda r, s: r.potential_energy(s.q),
    "derivatives.kinetic_energy_derivatives": lambda r, s: r.derivatives.kinetic_energy_derivatives(s.q, s.qd),
    "derivatives.potential_energy_dq": lambda r, s: r.derivatives.potential_energy_dq(s.q),
    "momentum": lambda r, s: r.momentum(s.q, s.qd),
    "derivatives.momentum_derivatives": lambda r, s: r.derivatives.momentum_derivatives(s.q, s.qd),
    "centroidal.momentum": lambda r, s: r.centroidal.momentum(s.q, s.qd),
    "derivatives.centroidal_momentum_derivatives": lambda r, s: r.derivatives.centroidal_momentum_derivatives(
        s.q, s.qd
    ),
    "centroidal.matrix": lambda r, s: r.centroidal.matrix(s.q),
    "center_of_mass": lambda r, s: r.center_of_mass(s.q),
    "centroidal.com_jacobian": lambda r, s: r.centroidal.com_jacobian(s.q),
    "textbook.newton_euler_table": lambda r, s: r.textbook.newton_euler_table(s.q, s.qd, s.qdd),
    "textbook.rnea_table": lambda r, s: r.textbook.rnea_table(s.q, s.qd, s.qdd),
    "textbook.matrix_form": lambda r, s: r.textbook.matrix_form(s.q, s.qd, s.qdd),
    "textbook.exponential_table": lambda r, s: r.textbook.exponential_table(s.q),
    "textbook.velocity_table": lambda r, s: r.textbook.velocity_table(s.q, s.qd),
    "parameters.regressor": lambda r, s: r.parameters.regressor(s.q, s.qd, s.qdd),
    "derivatives.by_parameters": lambda r, s: r.derivatives.by_parameters(
        "gravity_torque", {"link2.mass": s.mass}, {"q": s.q}
    ),
    "derivatives.jvp": lambda r, s: r.derivatives.jvp("gravity_torque", [s.q], [s.qd]),
    "derivatives.jvp with parameters": lambda r, s: r.derivatives.jvp(
        "gravity_torque", {"q": s.q, "link1.mass": s.mass}, {"q": s.qd, "link1.mass": s.mass}
    ),
    "derivatives.vjp": lambda r, s: r.derivatives.vjp("kinetic_energy", {"q": s.q, "qd": s.qd}, s.mass),
    "derivatives.hvp": lambda r, s: r.derivatives.hvp("potential_energy", {"q": s.q}, s.mass, {"q": s.qd}),
    "loops.closing_step": lambda r, s: r.loops.closing_step(s.q),
    "loops.close": lambda r, s: r.loops.close(s.q),
    "loops.consistent_velocity": lambda r, s: r.loops.consistent_velocity(s.q, s.qd),
    "loops.consistent_acceleration": lambda r, s: r.loops.consistent_acceleration(s.q, s.qd, s.qdd),
    "loops.forces": lambda r, s: r.loops.forces(s.q, s.qd, s.tau, frame="body"),
    "loops.motion_forces": lambda r, s: r.loops.motion_forces(s.q, s.qd, s.qdd, frame="body"),
    "loops.torques": lambda r, s: r.loops.torques(s.q, s.qd, s.qdd),
    "textbook.state_dot": lambda r, s: r.textbook.state_dot(0.0, np.concatenate([s.q, s.qd], -1), s.tau),
}
"""Calls on an arm: the name of the function, and what is special about the call."""

CLOSED = {
    name: call
    for name, call in OPEN.items()
    if name
    in {
        "inverse_dynamics", "forward_dynamics", "loops.close", "loops.closing_step", "loops.consistent_velocity",
        "loops.consistent_acceleration", "loops.forces", "loops.motion_forces", "loops.torques",
        "analysis.reduced_jacobian", "singular_values",
    }
} | {
    "loops.residual": lambda r, s: r.loops.residual(s.q),
    "loops.jacobian": lambda r, s: r.loops.jacobian(s.q),
    "loops.velocity_terms": lambda r, s: r.loops.velocity_terms(s.q, s.qd),
    "loops.poses": lambda r, s: r.loops.poses(s.q),
}  # fmt: skip
"""Calls on a closed mechanism."""

ONE_STATE = {
    "analysis.singularity": lambda r, s: r.analysis.singularity(s.q),
    "loops.mobility": lambda r, s: r.loops.mobility(s.q),
    "textbook.dae": lambda r, s: r.textbook.dae(s.q, s.qd, s.tau),
    "ik.follow": lambda r, s: r.ik.follow(s.target, s.q),
    "states.to_pandas": lambda r, s: r.states.to_pandas(s.q),
    "sensitivities": lambda r, s: r.sensitivities(s.q, s.qd, 0.1),
    "textbook.simulate_maximal": lambda r, s: r.textbook.simulate_maximal(s.q, s.qd, 0.1),
    "plot": lambda r, s: r.plot(s.q),
    "analysis.plot": lambda r, s: r.analysis.plot(s.q),
    "animate": lambda r, s: r.animate(s.q, t=[0.0, 0.1, 0.2]),
    "inverse_kinematics": lambda r, s: r.inverse_kinematics(s.target, s.q, history=True),
    "inverse_kinematics on a device": lambda r, s: r.inverse_kinematics(s.target, s.q, device="cuda"),
    "states.reorder": lambda r, s: r.states.reorder(["joint2", "joint1"]).q_from(s.q),
    "simulation": lambda r, s: r.simulation(s.q, s.qd),
    "with_configuration": lambda r, s: r.edit(configurations={"here": s.q}),
}
"""Calls whose answer is about one state, or one motion: Dask arrays are refused."""


def arrays_of(result, path=()):
    """The arrays of a result, by where they stand in it."""
    if isinstance(result, (np.ndarray, np.generic, da.Array, float)):
        return {path: result}
    if is_dataclass(result):
        parts = {field.name: getattr(result, field.name) for field in fields(result)}
    else:
        parts = result if isinstance(result, dict) else getattr(result, "_asdict", dict)()
    return {where: x for name, part in parts.items() for where, x in arrays_of(part, (*path, name)).items()}


def chunked(array, batch, last=-1):
    """A Dask array with these chunks along the batch, all dimensions of one state in chunks of one size."""
    return da.from_array(array, chunks=(*batch, *(last,) * (array.ndim - len(batch))))


def check(call, robot, state, lazy, chunks=None):
    """The lazy result of a call has the parts, shapes, types, chunks and numbers of NumPy's, and nothing is computed."""
    wanted = call(robot, state)
    with dask.config.set(scheduler=forbidden):
        result = call(robot, lazy)
        again = call(robot, lazy)
    assert type(result) is type(wanted) or isinstance(result, da.Array)
    expected, found = arrays_of(wanted), arrays_of(result)
    assert expected.keys() == found.keys()
    lazy_ones = {path: x for path, x in found.items() if isinstance(x, da.Array)}
    assert lazy_ones
    computed = dict(zip(lazy_ones, dask.compute(*lazy_ones.values(), scheduler="sync"), strict=True))
    for path, numbers in expected.items():
        if path not in lazy_ones:  # the same for all states
            assert_array_equal(found[path], numbers)
            continue
        array, numbers = lazy_ones[path], np.asarray(numbers)
        assert array.dtype == array._meta.dtype == computed[path].dtype == numbers.dtype
        assert array.ndim == array._meta.ndim == numbers.ndim
        assert np.isnan(array.shape).any() or array.shape == numbers.shape
        assert chunks is None or array.chunks[: len(chunks)] == chunks
        assert all(len(own) == 1 for own in array.chunks[len(chunks or array.chunks) :])
        assert array.name == arrays_of(again)[path].name
        assert_array_equal(computed[path], numbers)


def calls_and_robots():
    yield from ((ARM.reference, name, call) for name, call in OPEN.items())
    yield from ((BAR.reference, name, call) for name, call in CLOSED.items())


@pytest.mark.parametrize(
    ("robot", "call"),
    [pytest.param(robot, call, id=f"{robot.name}-{name}") for robot, name, call in calls_and_robots()],
)
def test_every_function_is_lazy(robot, call):
    state = state_of(robot, (5,))
    lazy = state.map(lambda name, x: x if name in ("qdd", "F") else chunked(x, ((2, 0, 3),), 1 if name == "q" else -1))
    check(call, robot, state, lazy, ((2, 0, 3),))


SOME = (
    "inverse_dynamics with wrenches", "torque_terms", "singular_values", "inverse_dynamics with parameters",
    "derivatives.jvp", "derivatives.jvp with parameters", "derivatives.by_parameters",
)  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_batches_of_other_forms(name):
    robot, call = ARM.reference, OPEN[name]
    square = state_of(robot, (4, 3))
    check(call, robot, square, square.map(lambda _, x: chunked(x, ((1, 3), (2, 1)))), ((1, 3), (2, 1)))
    one = state_of(robot, ())
    check(call, robot, one, one.map(lambda _, x: chunked(x, ())), ())
    none = square.map(lambda _, x: x[:0])
    check(call, robot, none, none.map(lambda _, x: chunked(x, ((0,), (2, 1)))))
    row = state_of(robot, (4,))
    for still in ("qd", "payload", "mass"):  # one for all
        some = row.map(lambda name, x, still=still: x[0] if name == still else x)
        check(call, robot, some, some.map(lambda _, x: chunked(x, ((3, 1),)[: x.ndim - 1])))
        check(call, robot, some, some.map(lambda name, x, still=still: x if name == still else chunked(x, ((3, 1),))))
    wide = square._replace(q=square.q[:, :1], qd=square.qd[:1], qdd=square.qdd[0])
    check(call, robot, wide, wide.map(lambda _, x: chunked(x, (1,) * (x.ndim - 1))))
    unknown = row.map(lambda _, x: chunked(x, ((3, 1),))[da.from_array(np.array([True, False, True, True]), chunks=3)])
    kept = row.map(lambda _, x: x[[0, 2, 3]])
    check(call, robot, kept, unknown)


def test_chunks_of_unknown_size_do_not_fit_to_known_ones():
    q = da.from_array(np.zeros((4, 2)), chunks=2)
    some = q[q[:, 0] >= 0]
    with pytest.raises(cr.ShapeError, match=r"inverse_dynamics: the chunks .*compute_chunk_sizes"):
        ARM.inverse_dynamics(some, np.zeros((4, 2)), np.zeros(2))
    with pytest.raises(cr.ShapeError, match=r"mass_matrix: q is a Dask array .*known length"):
        ARM.mass_matrix(da.from_array(np.zeros((2, 4)), chunks=2)[:, da.from_array(np.ones(4, bool), chunks=2)])


def test_types_of_numbers_are_those_of_numpy():
    calls = ["inverse_dynamics", "inverse_dynamics with wrenches", "kinetic_energy", "singular_values", "torque_terms"]
    for name in calls:
        for types in (("float32",), ("float64",), ("int64",), ("float32", "float64"), ("float32", "int32")):
            state = state_of(ARM, (4,))
            state = state.map(lambda name, x, types=types: x.astype(types[len(name) % len(types)]))
            check(OPEN[name], ARM, state, state.map(lambda _, x: chunked(x, (2,))), ((2, 2),))
    assert ARM.inverse_dynamics(*state_of(ARM, (4,), np.float32).map(lambda _, x: chunked(x, (2,)))[:3]).dtype == "f4"


def test_floating_bases_and_quaternions():
    robot = BALL.reference
    state = state_of(robot, (4,))
    lazy = state.map(lambda _, x: chunked(x, (2,)))
    for name in ("integrate", "inverse_dynamics", "mass_matrix", "states.by_name"):
        check(OPEN[name], robot, state, lazy, ((2, 2),))
    with pytest.raises(cr.ShapeError, match="the quaternion of joint 'floating_base'"):
        robot.mass_matrix(lazy.q * 0).compute(scheduler="sync")


# --- names ---


def test_configurations_by_name():
    q, qd = np.random.default_rng(0).normal(size=(2, 6, 2))
    lazy = [da.from_array(x, chunks=(4, 1)) for x in (q, qd)]
    robot = ARM.reference
    by_name = {"joint2": lazy[0][:, 1], "joint1": lazy[0][:, 0]}
    with dask.config.set(scheduler=forbidden):
        results = [
            robot.coriolis_matrix(by_name, lazy[1]),
            robot.coriolis_matrix({"joint2": q[:, 1], "joint1": q[:, 0]}, lazy[1]),
            robot.coriolis_matrix(robot.q(by_name), robot.qd(joint1=lazy[1][:, 0], joint2=qd[:, 1])),
        ]
    for result in results:
        assert_array_equal(result.compute(scheduler="sync"), robot.coriolis_matrix(q, qd))
    free = BALL.reference
    state = state_of(free, (4,))
    by_joint = {name: da.from_array(x, chunks=2) for name, x in free.states.by_name(state.q).items()}
    assert_array_equal(free.mass_matrix(by_joint).compute(scheduler="sync"), free.mass_matrix(state.q))
    with pytest.raises(cr.UnknownNameError, match="no joint named 'elbow'"):
        robot.mass_matrix({"joint1": lazy[0][:, 0], "elbow": 0.0})
    with pytest.raises(cr.ShapeError, match="lacks joint 'joint2'"):
        robot.mass_matrix({"joint1": lazy[0][:, 0]})


def test_tables_of_xarray():
    xarray = pytest.importorskip("xarray")
    q, qd = np.random.default_rng(0).normal(size=(2, 6, 2))
    robot = ARM.reference
    joints = ["joint2", "joint1"]
    table = xarray.DataArray(q.T[::-1], dims=["joint", "time"], coords={"joint": joints})
    lazy, other = table.chunk(time=4), robot.states.to_xarray(da.from_array(qd, chunks=(4, 2)))
    assert isinstance(other.data, da.Array)
    with dask.config.set(scheduler=forbidden):
        result = robot.coriolis_matrix(lazy, other)
    assert isinstance(result, da.Array)
    assert result.chunks[0] == (4, 2)
    assert_array_equal(result.compute(scheduler="sync"), robot.coriolis_matrix(table, qd))
    assert_array_equal(robot.coriolis_matrix(table, other).compute(scheduler="sync"), robot.coriolis_matrix(q, qd))
    data = xarray.Dataset({"joint1": ("time", q[:, 0]), "joint2": ("time", q[:, 1])}).chunk(time=4)
    assert_array_equal(robot.mass_matrix(data).compute(scheduler="sync"), robot.mass_matrix(q))
    with pytest.raises(cr.ShapeError, match="'units' is 'deg'"):
        robot.mass_matrix(lazy.assign_attrs(units="deg"))
    with pytest.raises(cr.ShapeError, match="tip_wrench takes numbers by their places"):
        robot.inverse_dynamics(
            q,
            qd,
            qd,
            tip_wrench=xarray.DataArray(q, dims=["t", "c"], coords={"c": ["x", "y"]}).chunk(t=2),
            frame="body",
        )
    with pytest.raises(cr.UnknownNameError, match=r"joint1.* given twice"):
        robot.mass_matrix(xarray.DataArray(q, dims=["t", "joint"], coords={"joint": ["joint1"] * 2}).chunk(t=2))


# --- refusals ---


@pytest.mark.parametrize("name", ONE_STATE)
def test_what_is_about_one_state_refuses_dask_arrays(name):
    robot = ARM.reference
    one = state_of(robot, ())
    for lazy in (one.map(lambda _, x: da.from_array(x)), state_of(robot, (3,)).map(lambda _, x: chunked(x, (2,)))):
        with dask.config.set(scheduler=forbidden), pytest.raises(cr.ShapeError, match=r"\.compute\(\)"):
            ONE_STATE[name](robot, lazy)


WRONG = {
    "length": lambda r, q: r.inverse_dynamics(q[:, :1], q, q),
    "number": lambda r, q: r.mass_matrix(q[0, 0]),
    "batch": lambda r, q: r.inverse_dynamics(q, q[:3], q),
    "wrench": lambda r, q: r.inverse_dynamics(q, q, q, tip_wrench=q, frame="body"),
    "parameter": lambda r, q: r.at({"link1.com": q}).gravity_torque(q),
    "link": lambda r, q: r.pose(q, "hand"),
    "frame": lambda r, q: r.jacobian(q, frame="moon"),
    "complex": lambda r, q: r.mass_matrix(q * 1j),
    "words": lambda r, q: r.mass_matrix(q.astype(str)),
    "pose": lambda r, q: r.inverse_kinematics(q),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_at_once_as_of_numpy(name):
    q = np.ones((6, 2))
    with pytest.raises(cr.ChainruleError) as expected:
        WRONG[name](ARM.reference, q)
    with dask.config.set(scheduler=forbidden), pytest.raises(type(expected.value)) as found:
        WRONG[name](ARM.reference, da.from_array(q, chunks=(4, 1)))
    if name not in ("number", "complex", "words"):  # their messages show the numbers
        assert str(found.value) == str(expected.value)


def test_other_things_of_dask_are_refused():
    q = da.from_array(np.ones((6, 2)), chunks=(4, 2))
    with pytest.raises(cr.ShapeError, match="lazy: nothing can be written into out"):
        ARM.mass_matrix(q, out=np.zeros((6, 2, 2)))
    with pytest.raises(cr.ShapeError, match="q is a list with Dask arrays; make one array of them"):
        ARM.mass_matrix([q[:, 0], q[:, 1]])
    with pytest.raises(cr.ShapeError, match="q is a Delayed of Dask; make a Dask array of it"):
        ARM.mass_matrix(dask.delayed(np.ones)((6, 2)))
    with pytest.raises(cr.ShapeError, match=r"mass is lazy, and this takes numbers: call .compute\(\)"):
        ARM.edit(links={"link1": {"mass": q[0, 0]}})


def test_kernels_refuse_dask_arrays():
    q = da.from_array(np.ones((6, 2)), chunks=(4, 2))
    with (
        dask.config.set(scheduler=forbidden),
        pytest.raises(cr.ShapeError, match=r"kernel 'mass_matrix'.*\.compute\(\)"),
    ):
        ARM.compiled.kernel("mass_matrix")(q)


def test_units_are_made_of_numbers():
    pint = pytest.importorskip("pint")
    q = da.from_array(np.ones((6, 2)), chunks=(4, 2))
    with dask.config.set(scheduler=forbidden):
        with pytest.raises(cr.ShapeError, match=r"the result of gravity_torque is lazy.*call .compute\(\)"):
            ARM.units.gravity_torque(q)
        with pytest.raises(cr.ShapeError, match=r"q is lazy.*call .compute\(\)"):
            ARM.gravity_torque(pint.get_application_registry().Quantity(q, "rad"))


def test_a_batch_that_is_no_array_is_not_mixed_up():
    from scipy.spatial.transform import Rotation

    robot = ARM.reference
    state = state_of(robot, (4,))
    turns = Rotation.from_matrix(state.target[:, :3, :3])
    lazy = robot.inverse_kinematics(turns, chunked(state.q, (1,)), task="orientation", restarts=0)
    wanted = robot.inverse_kinematics(turns, state.q, task="orientation", restarts=0)
    assert_array_equal(lazy.q.compute(scheduler="sync"), wanted.q)
    torque = cr.Samples([0.0, 1.0], np.zeros((4, 2, 2)))
    x = np.zeros((4, 4))
    with pytest.raises(cr.ShapeError, match="do not fit together: q"):
        robot.textbook.state_dot(0.0, chunked(x, (1,)), torque)


@takes_dask()
def repeat(robot, q):
    return np.concatenate([q, q])


def test_a_function_that_is_not_one_of_each_state_is_refused_in_the_end():
    with pytest.raises(cr.ShapeError, match=r"repeat: a chunk of shape \(2,\) gives a result of shape \(4, 3\)"):
        repeat(ARM, da.zeros((4, 3), chunks=(2, 3))).compute(scheduler="sync")


# --- inverse kinematics ---


def test_inverse_kinematics_does_not_depend_on_chunks_and_is_solved_once():
    robot = ARM
    rng = np.random.default_rng(1)
    points = rng.uniform(-2.2, 2.2, size=(12, 3)) * [1, 1, 0]
    points[5] = np.nan
    wanted = robot.inverse_kinematics(points, task="position", restarts=3)
    assert set(wanted.reason) > {"", "not finite"}
    calls = []
    for chunks in (12, 5, 1):
        with dask.config.set(scheduler=forbidden):
            lazy = robot.inverse_kinematics(da.from_array(points, chunks=(chunks, 3)), task="position", restarts=3)
        assert lazy.names == wanted.names
        assert (lazy.rank, lazy.equations, list(lazy.errors)) == (wanted.rank, wanted.equations, ["tip"])
        everything = (lazy.q, lazy.success, lazy.error, lazy.iterations, lazy.reason, lazy.errors["tip"])
        with dask.callbacks.Callback(pretask=lambda key, *_: calls.append(key)):
            found = dask.compute(*everything, scheduler="sync")
        for ours, theirs in zip(found, (*list(vars(wanted).values())[:5], wanted.errors["tip"]), strict=True):
            assert_array_equal(ours, theirs)
        solved = [key for key in calls if isinstance(key, tuple) and key[0].startswith("inverse_kinematics-")]
        assert len([key for key in solved if len(key[0].split("-")) == 2]) == -(-12 // chunks)
        calls.clear()


def test_several_links_and_tasks():
    robot = cr.load("planar_3r").reference
    wanted, lazy = {}, {}
    for k, name in enumerate(("link2", "tip")):
        wanted[name] = robot.pose(np.linspace(0, 1, 9).reshape(3, 3) + k, name)[:, :3, 3 if k else slice(0, 3)]
        lazy[name] = chunked(wanted[name], (2,))
    options = {"task": {"link2": "orientation", "tip": "position"}, "restarts": 0, "max_iterations": 3}
    found = robot.inverse_kinematics(lazy, **options)
    assert_array_equal(found.q.compute(scheduler="sync"), robot.inverse_kinematics(wanted, **options).q)
    assert list(found.errors) == ["link2", "tip"]


# --- where it is computed ---


def test_one_layer_and_one_small_robot_whatever_the_chunks():
    robot = cr.load("panda")
    q = da.zeros((1000, 7), chunks=(1, 7))
    tau = robot.inverse_dynamics(q, q, q)
    graph = tau.__dask_graph__()
    assert len(graph.layers) == len(q.__dask_graph__().layers) + 1
    assert len(pickle.dumps(graph)) < 60_000
    two = robot.torque_terms(q, q, q)
    assert len(two["total"].__dask_graph__().layers) == len(q.__dask_graph__().layers) + 2


def test_nothing_is_compiled_before_it_is_computed(monkeypatch):
    robot = cr.load("planar_3r").scale_masses(1.0123)
    made = Counter()
    original = kernels.Kernel.__init__

    def count(self, model, name, *rest):
        made[name] += 1
        original(self, model, name, *rest)

    monkeypatch.setattr(kernels.Kernel, "__init__", count)
    q = da.from_array(np.random.default_rng(0).normal(size=(64, 3)), chunks=(4, 3))
    lazy = [robot.inverse_dynamics(q, q, q), robot.linearize(q, q, q).A]
    assert not made
    with dask.config.set(scheduler="threads", num_workers=8):
        lazy[0].compute()
    assert made == {"inverse_dynamics": 1}


@takes_dask()
def count_threads(robot, q):
    return np.full(q.shape[:-1], threads.threads())


def test_kernels_use_one_thread_in_a_task(monkeypatch):
    monkeypatch.delenv("CHAINRULE_THREADS", raising=False)
    q = da.zeros((4, 2), chunks=(2, 2))
    for scheduler in ("threads", "sync"):
        assert count_threads(ARM, q).compute(scheduler=scheduler).tolist() == [1, 1, 1, 1]
    cr.set_threads(3)
    try:
        assert count_threads(ARM, q).compute(scheduler="threads").tolist() == [3, 3, 3, 3]
    finally:
        cr.set_threads(None)


def test_every_function_of_states_is_looked_at():
    """A method that takes states is lazy, or refuses Dask arrays, or is named here."""
    known = {name.split(" ")[0] for table in (OPEN, CLOSED, ONE_STATE) for name in table}
    elsewhere = {
        "q", "qd", "tau", "states.to_xarray",  # by name, above
        "simulate", "workspace", "show", "derivation", "textbook.dae_residual",  # motions, pictures
        "ik.solve", "parameters.with_values",  # the first is inverse_kinematics
        "compiled.kernel", "compiled.export",  # of names of functions
        "ik.stream",  # one target after another
        "states.link_side", "states.motor_side", "states.on_springs",  # states of robots with elastic joints
        "check",  # an answer on paper, with the state it is about
        *(f"textbook.{name}" for name in ("figure", "free_body", "dh_figure", "velocity_figure", "screw_figure")),
    }  # fmt: skip
    arguments = {"q", "qd", "qdd", "tau", "q0", "q1", "x", "v", "target", "arguments", "values"}
    takes = {name for name, f in functions(ARM) if arguments & set(inspect.signature(f).parameters)}
    assert takes - known - elsewhere == set()


def test_without_dask_nothing_is_looked_at(monkeypatch):
    monkeypatch.delitem(sys.modules, "dask")
    assert ARM.reference.mass_matrix([0.1, 0.2]).shape == (2, 2)


def test_chunks_of_unknown_sizes_must_have_as_many_rows():
    """One row beside several is not spread over them, as NumPy would do it with arrays."""
    q = da.from_array(np.linspace(0, 1, 8).reshape(4, 2), chunks=(4, 2))
    several, one = q[q[:, 0] > 0.1], q[q[:, 0] > 0.8]
    robot = cr.load("planar_2r").reference
    assert robot.inverse_dynamics(several, several, several).compute().shape == (3, 2)
    with pytest.raises(cr.ShapeError, match=r"different numbers of rows, \(3,\), \(1,\).*do not belong together"):
        robot.inverse_dynamics(several, one, np.zeros(2)).compute()


def test_solutions_of_dask_arrays_say_that_they_are_not_computed():
    robot = cr.load("planar_2r")
    found = robot.inverse_kinematics(robot.pose(da.zeros((4, 2), chunks=2)), task="position")
    assert "of shape (4,), which are not computed yet" in str(found)
    assert "not computed yet" in found._repr_html_()
