"""Two ways to one number, on ugly robots and ugly states: kernel and reference, float32 and float64, reduced and DAE.

Robots have coincident frames, origins turned by quarters, branches, several followers of one joint, links without mass
and masses of very different size; states have quaternions of any length and angles of 1e8. A normal run tries a few
robots: CHAINRULE_DIFFERENTIAL_ROBOTS=200 tries as many, with other seeds.
"""

import os
import warnings
from itertools import product
from operator import attrgetter

import numpy as np
import pytest
from compile.support import OF_LOOPS
from tiers import with_slow
from trees import KINDS, dof, inertia, kind_of, looped, transform, unit, vector

import chainrule as cr
from chainrule.core.derived import has_moving_mass
from chainrule.errors import ModelError
from chainrule.functions.table import FUNCTIONS, Needs
from chainrule.model import Fixed, Frame, Joint, Link, Mimic, Model, Screw
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

ROBOTS = int(os.environ.get("CHAINRULE_DIFFERENTIAL_ROBOTS", "2"))
SEEDS = range(100, 100 + ROBOTS)
LOOPED = range(200, 200 + max(1, ROBOTS // 2))
STATES = 12
TURNING = ("revolute", "continuous", "universal")
"""Types of joints whose angles may be large without a link's being far away."""
QUARTERS = tuple(k * np.pi / 2 for k in range(4))
INVERTING = ("forward_dynamics", "analysis.apply_inverse_mass")
"""Functions that divide by the mass matrix: compared by what is left of the equation that they solve."""


def ugly_origin(rng):
    """Identity, a turn by quarters, a turn alone, or any placement."""
    how = rng.integers(4)
    if how == 0:
        return Transform.identity()
    if how == 1:
        return Transform(Rotation.from_rpy(*(float(rng.choice(QUARTERS)) for _ in range(3))), Vector(0.0, 0.0, 0.0))
    return transform(rng) if how == 2 else Transform(transform(rng).rotation, Vector(0.0, 0.0, 0.0))


def ugly_link(rng, name):
    """No mass, a point without inertia, a speck, or any body."""
    how = rng.integers(6)
    if how == 0:
        return Link(name)
    if how == 1:
        return Link(name, 1.0, vector(rng, 0.3))
    body = inertia(rng)
    return (
        Link(name, 1e-6, vector(rng, 0.3), Symmetric(*(1e-6 * x for x in body.entries())))
        if how == 2
        else Link(name, 1.0, vector(rng, 0.3), body)
    )


def ugly_tree(seed) -> cr.Robot:
    """A tree of a few joints with everything that is ugly; its last links have mass, so that its joints move some."""
    rng = np.random.default_rng(seed)
    links, joints = [Link("base")], []
    for i in range(int(rng.integers(3, 6))):
        name = str(rng.choice([kind for kind in KINDS if kind != "free" or i == 0]))
        kind = kind_of(name, rng)
        parent = links[int(rng.integers(0, i + 1))].name if rng.random() < 0.4 else links[-1].name
        dofs = tuple(dof(rng, kind.nq == kind.nv) for _ in range(kind.nv))
        links.append(ugly_link(rng, f"link{i}"))
        joints.append(Joint(f"joint{i}", parent, f"link{i}", kind, ugly_origin(rng), dofs))
    source = next((joint.name for joint in joints if joint.kind.nv == 1), None)
    for k in range(2 if source else 0):  # both follow one joint, one on top of the other
        links.append(ugly_link(rng, f"follower{k}"))
        follow = Mimic(source, float(rng.choice([-1, 0, 0.5, 3])), float(rng.normal()))
        joints.append(
            Joint(f"follow{k}", links[-2].name, f"follower{k}", Screw.revolute(unit(rng)), ugly_origin(rng), (), follow)
        )
    for leaf in {link.name for link in links[1:]} - {joint.parent for joint in joints}:
        links.append(Link(f"end of {leaf}", 1.0, vector(rng, 0.3), inertia(rng)))
        joints.append(Joint(f"at the end of {leaf}", leaf, f"end of {leaf}", Fixed(), ugly_origin(rng)))
    frames = [Frame("tool", links[-1].name, ugly_origin(rng)), Frame("same place", links[-1].name)]
    gravity = vector(rng, 5.0) if rng.random() < 0.8 else Vector(0.0, 0.0, 0.0)
    return cr.Robot(Model.build(f"ugly{seed}", links, joints, frames, gravity, "tool"))


def ugly_arguments(robot, name, seed):
    """Arguments of a function: rows that are plain, zero, and with quaternions of any length and large angles."""
    rng = np.random.default_rng(seed)
    arguments = []
    for argument in FUNCTIONS[name].takes:
        if not argument.is_configuration:
            value = rng.normal(size=(STATES, robot.nv))
            value[0] = 0
            arguments.append(value)
            continue
        q = robot.random_state(rng, (STATES,))
        q[0] = robot.neutral()
        types = {joint.name: joint.type for joint in robot.model.joints}
        for coordinate in robot.model.layout.coordinates:
            if coordinate.unit == "rad":
                q[1:4, coordinate.index] = rng.choice(QUARTERS, 3)
            if types[coordinate.joint] in TURNING:
                q[4:6, coordinate.index] = rng.uniform(-1e8, 1e8, 2)
        for _, i in robot.model.quaternions:
            q[6:10, i : i + 4] *= np.array([3.0, 1e-3, -1.0, 1e5])[:, None]
        arguments.append(q)
    return arguments


def evaluate(robot, name, arguments):
    """A function of the table as one array, whatever its method makes of it; None where the robot lacks something."""
    extra = [np.ones(6)] if name == "static_torque" else []
    try:
        answer = attrgetter(FUNCTIONS[name].variant_of or name)(robot)(*arguments, *extra)
    except ModelError:
        return None
    if isinstance(answer, dict):
        return np.stack(list(answer.values()))
    if name == "textbook.newton_euler":
        return np.concatenate([np.asarray(answer.n), np.asarray(answer.f)], axis=-1)
    if name == "textbook.recursion":
        return np.concatenate([np.asarray(answer.V), np.asarray(answer.V_dot), np.asarray(answer.F)], axis=-1)
    if name == "bodies.nearest":
        return np.concatenate([answer[0][..., None], *answer[1:]], axis=-1)
    return np.asarray(answer)


def assert_same(ours, theirs, tolerance, what):
    """Arrays that differ by no more than rounding, measured against the largest number of each state."""
    if theirs is None:
        assert ours is None, f"{what}: the reference refuses, the kernel does not"
        return
    assert ours is not None, f"{what}: the kernel refuses, the reference does not"
    assert ours.shape == theirs.shape, what
    assert (np.isfinite(ours) == np.isfinite(theirs)).all(), what
    scale = max(1.0, float(np.nanmax(np.abs(theirs), initial=0.0)))
    assert np.nanmax(np.abs(ours - theirs), initial=0.0) <= tolerance * scale, what


@pytest.fixture(scope="module")
def robots():
    return {seed: ugly_tree(seed) for seed in SEEDS}


ALL = sorted(set(FUNCTIONS) - OF_LOOPS)
LONG = "derivatives.second"


@pytest.mark.parametrize(("seed", "name"), with_slow(product(SEEDS, ALL), (SEEDS[0], LONG), *product(SEEDS[1:], ALL)))
def test_the_kernel_of_every_function_is_its_reference_on_ugly_robots(robots, seed, name):
    robot = robots[seed]
    arguments = ugly_arguments(robot, name, seed)
    ours, theirs = evaluate(robot, name, arguments), evaluate(robot.reference, name, arguments)
    if name in INVERTING and theirs is not None:
        assert_solves(robot, name, arguments, ours)
        assert_solves(robot, name, arguments, theirs)
    else:
        assert_same(ours, theirs, 1e-10, f"{robot.name}: {name}")


def assert_solves(robot, name, arguments, answer):
    """The answer put back into M x = b leaves rounding: a measure that holds where M is nearly singular."""
    written = robot.reference
    M = written.mass_matrix(arguments[0])
    wanted = arguments[-1] - (written.bias(*arguments[:2]) if name == "forward_dynamics" else 0)
    left = np.einsum("...ij,...j->...i", M, answer) - wanted
    size = np.abs(M).max(axis=(-1, -2)) * np.abs(answer).max(axis=-1) + np.abs(wanted).max(axis=-1) + 1
    assert (np.abs(left).max(axis=-1) <= 1e-10 * size).all(), f"{robot.name}: {name}"


@pytest.mark.parametrize("seed", SEEDS)
def test_one_state_gives_what_a_batch_gives(robots, seed):
    robot = robots[seed]
    for name in ("pose", "jacobian", "inverse_dynamics", "mass_matrix", "velocities", "integrate"):
        arguments = ugly_arguments(robot, name, seed)
        together = evaluate(robot, name, arguments)
        for row in range(STATES):
            alone = evaluate(robot, name, [argument[row].copy() for argument in arguments])
            assert_same(alone, together[row], 1e-12, f"{robot.name}: {name}, row {row}")


@pytest.mark.parametrize("name", with_slow(sorted(set(ALL) - set(INVERTING)), LONG, "sticking_dynamics"))
@pytest.mark.parametrize("seed", list(SEEDS)[:1] if ROBOTS < 10 else SEEDS)
def test_float32_is_float64_with_fewer_digits(robots, seed, name):
    robot = robots[seed]
    entry = FUNCTIONS[name]
    if not has_moving_mass(robot) and entry.needs is not Needs.NOTHING:
        pytest.skip("without mass")
    try:
        kernel = robot.compiled.kernel(name)
    except ModelError:  # such as the manipulability of a link that moves along nothing
        assert evaluate(robot.reference, name, ugly_arguments(robot, name, seed)) is None
        return
    arguments = [argument[[0, 1, 2, 3, 6, 10, 11]] for argument in ugly_arguments(robot, name, seed)]
    arguments += [np.ones((7, 6))] * ("loads" in entry.options and name == "static_torque")
    short = [argument.astype(np.float32) for argument in arguments]
    single, double = kernel(*short), kernel(*(argument.astype(np.float64) for argument in short))
    assert single.dtype == np.float32
    assert double.dtype == np.float64
    if name in (
        "textbook.analytic_jacobian",
        "manipulability",
        "difference",
        "textbook.pose_vector",
    ):  # which magnify rounding near places
        assert (np.isfinite(single) == np.isfinite(double)).all()
        assert np.median(np.abs(single - double)) <= 1e-3 * max(1.0, np.abs(double).max())
    else:
        assert_same(single.astype(float), double, 3e-5, f"{robot.name}: {name}")


@pytest.mark.parametrize("seed", LOOPED)
def test_loops_reduced_and_as_one_sparse_system_move_alike(seed):
    ties = (("point", "distance"), ("hinge",), ("point",))[seed % 3]
    robot, closed = looped(
        seed, ties, ("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "revolute")
    )
    rng = np.random.default_rng(seed)
    for q in (closed, robot.random_state(rng)):
        qd = robot.loops.consistent_velocity(q, rng.normal(size=robot.nv))
        tau = rng.normal(size=robot.nv)
        reduced = robot.forward_dynamics(q, qd, tau)
        system = robot.textbook.dae(q, qd, tau).solve()
        assert_same(reduced, robot.reference.forward_dynamics(q, qd, tau), 1e-8, f"{robot.name}: kernel and reference")
        assert_same(reduced, system.qdd, 1e-8, f"{robot.name}: reduced and DAE")
        assert_same(
            robot.loops.forces(q, qd, tau, frame="body"), system.constraint_forces, 1e-7, f"{robot.name}: forces"
        )
        torques = robot.mass_matrix(q) @ reduced + robot.bias(q, qd) - tau
        G = robot.loops.jacobian(q)
        rest = torques - G.T @ np.linalg.lstsq(G.T, torques, rcond=None)[0]
        assert np.abs(rest).max() <= 1e-8 * (1 + np.abs(torques).max()), (
            "what is left of M qdd + h - tau is no G^T lambda"
        )


@pytest.mark.parametrize("name", with_slow(["four_bar", "slider_crank", "stewart_platform"], "stewart_platform"))
def test_bundled_loops_reduced_and_as_one_sparse_system_move_alike(name):
    robot = cr.load(name)
    rng = np.random.default_rng(3)
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            q = robot.random_state(rng)
        qd = robot.loops.consistent_velocity(q, rng.normal(size=robot.nv))
        tau = rng.normal(size=robot.nv)
        assert_same(robot.forward_dynamics(q, qd, tau), robot.textbook.dae(q, qd, tau).solve().qdd, 1e-7, name)
