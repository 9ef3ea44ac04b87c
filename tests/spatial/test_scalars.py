"""One text, many scalars: the same algorithms on floats, batches, CasADi, SymPy, and numbers that carry units."""

import subprocess
import sys

import casadi
import numpy as np
import pint
import pytest
import sympy
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.algorithms import (
    aba,
    coriolis,
    crba,
    energy,
    jacobians,
    rnea,
    terms,
)
from chainrule.spatial import Vector, scalar
from chainrule.spatial.scalar import is_zero

pytestmark = pytest.mark.interpreted

ROBOTS = {
    "puma560": cr.load("puma560"),
    "stanford": cr.load("stanford"),
    "tree": tree(5),
    "quadruped": cr.load("quadruped"),
}
EXPRESSIONS = {
    "inverse_dynamics": rnea.inverse_dynamics,
    "forward_dynamics": aba.forward_dynamics,
    "mass_matrix": lambda m, q, qd, qdd: [x for row in crba.mass_matrix(m, q) for x in row],
    "coriolis_matrix": lambda m, q, qd, qdd: [x for row in coriolis.coriolis_matrix(m, q, qd) for x in row],
    "energy": lambda m, q, qd, qdd: [energy.kinetic_energy(m, q, qd), energy.potential_energy(m, q)],
}


def floats(model, expression, *arguments):
    return expression(model, *(a.tolist() for a in arguments))


def batches(model, expression, *arguments):
    two = expression(model, *([np.stack([x, x]) for x in a] for a in arguments))
    return [np.broadcast_to(x, 2)[1] for x in two]


def casadi_graph(model, expression, *arguments):
    symbols = [casadi.SX.sym(name, len(a)) for name, a in zip("abc", arguments, strict=True)]
    result = expression(model, *(casadi.vertsplit(s) for s in symbols))
    function = casadi.Function("f", symbols, [casadi.vertcat(*result)])
    return np.array(function(*arguments)).ravel()


def sympy_expressions(model, expression, *arguments):
    symbols = [sympy.symbols(f"{name}:{len(a)}") for name, a in zip("abc", arguments, strict=True)]
    result = expression(model, *symbols)
    everything = [s for group in symbols for s in group]
    function = sympy.lambdify(everything, result, cse=True)
    return function(*np.concatenate(arguments))


@pytest.mark.parametrize("scalars", [floats, batches, casadi_graph])
@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_every_scalar_gives_the_value_that_floats_give(robot, name, scalars):
    model, expression = ROBOTS[robot].model, EXPRESSIONS[name]
    arguments = state(ROBOTS[robot], 3)
    expected = np.array(floats(model, expression, *arguments), dtype=float)
    assert_allclose(np.array(scalars(model, expression, *arguments), dtype=float), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "energy"])
@pytest.mark.parametrize("robot", ["planar_2r", "planar_rp", "modern_robotics_3r"])
def test_sympy_expressions_give_the_value_that_floats_give(robot, name):
    robot = cr.load(robot)
    arguments = state(robot, 4)
    expected = np.array(floats(robot.model, EXPRESSIONS[name], *arguments))
    result = np.array(sympy_expressions(robot.model, EXPRESSIONS[name], *arguments), dtype=float)
    assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


def test_zeros_and_ones_of_the_geometry_fold_away():
    """Panda: the trial of the design counted 447 multiplications and 351 additions after sharing."""
    robot = cr.load("panda").without_friction().merge_fixed()
    q, qd, qdd = (casadi.SX.sym(name, 7) for name in ("q", "qd", "qdd"))
    tau = rnea.inverse_dynamics(robot.model, *(casadi.vertsplit(s) for s in (q, qd, qdd)))
    function = casadi.Function("tau", [q, qd, qdd], casadi.cse([casadi.vertcat(*tau)]))
    codes = [function.instruction_id(i) for i in range(function.n_instructions())]
    products = codes.count(casadi.OP_MUL) + codes.count(casadi.OP_SQ)
    sums = codes.count(casadi.OP_ADD) + codes.count(casadi.OP_SUB)
    assert codes.count(casadi.OP_SIN) <= 7
    assert products + sums < 1100, (products, sums)


class Measured:
    """A pint quantity in which an exact zero folds away, as it does in an expression graph."""

    def __init__(self, quantity):
        self.quantity = quantity

    def __add__(self, other):
        return self if is_zero(other) else Measured(self.quantity + bare(other))

    def __sub__(self, other):
        return self if is_zero(other) else Measured(self.quantity - bare(other))

    def __mul__(self, other):
        return 0 if is_zero(other) else Measured(self.quantity * bare(other))

    def __rsub__(self, other):
        return -self if is_zero(other) else Measured(bare(other) - self.quantity)

    def __truediv__(self, other):
        return Measured(self.quantity / bare(other))

    def __rtruediv__(self, other):
        return 0 if is_zero(other) else Measured(bare(other) / self.quantity)

    def __neg__(self):
        return Measured(-self.quantity)

    def __gt__(self, other):
        return bool(self.quantity > bare(other))

    def __lt__(self, other):
        return bool(self.quantity < bare(other))

    __radd__, __rmul__ = __add__, __mul__


def bare(x):
    return x.quantity if isinstance(x, Measured) else x


scalar.register(
    Measured,
    scalar.ScalarFunctions(
        lambda x: Measured(np.sin(x.quantity)),
        lambda x: Measured(np.cos(x.quantity)),
        lambda x: Measured(np.sqrt(x.quantity)),
        lambda y, x: Measured(np.arctan2(bare(y), bare(x))),
        lambda condition, a, b: a if condition else b,
    ),
)


class Units:
    """The robot's numbers and a state, with their units."""

    def __init__(self, robot, seed):
        self.registry = pint.UnitRegistry()
        self.model = robot.model.map(lambda x, unit: x if unit == "1" or x == 0 else self.measured(x, unit))
        units = [unit for joint in robot.model.moving for unit in joint.kind.units]
        q, qd, qdd = state(robot, seed)
        self.state = [
            [self.measured(x, f"{unit}{per}") for x, unit in zip(values, units, strict=True)]
            for values, per in ((q, ""), (qd, "/s"), (qdd, "/s^2"))
        ]
        self.efforts = ["N*m" if unit == "rad" else "N" for unit in units]

    def measured(self, x, unit):
        return Measured(self.registry.Quantity(float(x), unit))


@pytest.mark.parametrize("name", ["puma560", "stanford", "planar_rp", "scara", "tree"])
def test_every_term_of_the_torque_has_units_of_torque(name):
    robot = (
        tree(6, ["revolute", "prismatic", "helical", "cylindrical", "universal", "planar"], mimic=False)
        if name == "tree"
        else cr.load(name)
    )
    world = Units(robot, 7)
    q, qd, qdd = world.state
    for term, values in terms.torque_terms(world.model, q, qd, qdd).items():
        for value, effort in zip(values, world.efforts, strict=True):
            assert is_zero(value) or bare(value).check(effort), (term, value)
    tau = rnea.inverse_dynamics(world.model, q, qd, qdd)
    plain = robot.inverse_dynamics(*([bare(x).magnitude for x in part] for part in world.state))
    assert_allclose(
        [bare(t).to(e).magnitude for t, e in zip(tau, world.efforts, strict=True)], plain, rtol=1e-9, atol=1e-9
    )
    back = aba.forward_dynamics(world.model, q, qd, tau)
    for acceleration, given in zip(back, qdd, strict=True):
        assert_allclose(bare(acceleration).to(bare(given).units).magnitude, bare(given).magnitude, rtol=1e-8)


def test_adding_a_torque_to_a_force_is_caught():
    """The units test can fail: a model whose length has lost its unit does not pass."""
    world = Units(cr.load("planar_2r"), 1)
    broken = world.model.map(lambda x, unit: bare(x).magnitude if unit == "m" and not is_zero(x) else x)
    with pytest.raises(pint.DimensionalityError):
        rnea.inverse_dynamics(broken, *world.state)


def test_parameters_can_be_symbols():
    """A payload's mass as an unknown: the torque is linear in it."""
    mass = casadi.SX.sym("mass")
    robot = cr.load("planar_2r")
    model = robot.model.map(lambda x, unit: mass if unit == "kg" and x == 1 else x)
    tau = casadi.vertcat(*rnea.gravity_torque(model, [0.3, 0.4]))
    slope = casadi.Function("slope", [mass], [casadi.jacobian(tau, mass)])
    assert_allclose(np.array(slope(1.0)).ravel(), robot.gravity_torque([0.3, 0.4]), rtol=1e-12)


def test_sympy_prints_the_planar_2r_of_the_notes():
    """Masses and lengths as symbols: the mass matrix of the notes, term by term."""
    from chainrule.model import Frame, Joint, Link, Model, Screw
    from chainrule.spatial import Rotation, Transform, Vector

    m1, m2, L1, L2, t1, t2, g = sympy.symbols("m1 m2 L1 L2 t1 t2 g")
    z, at = Vector(0, 0, 1), lambda x: Transform(Rotation.identity(), Vector(x, 0, 0))
    zero = cr.load("planar_2r").model.links[0].inertia.__class__(0, 0, 0)
    model = Model.build(
        "2R",
        [Link("base"), Link("one", m1, Vector(L1, 0, 0), zero), Link("two", m2, Vector(L2, 0, 0), zero)],
        [Joint("j1", "base", "one", Screw.revolute(z)), Joint("j2", "one", "two", Screw.revolute(z), at(L1))],
        [Frame("tip", "two", at(L2))],
        Vector(0, -g, 0),
    )
    M = sympy.Matrix(crba.mass_matrix(model, [t1, t2]))
    c2 = sympy.cos(t2)
    printed = sympy.Matrix([
        [m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), m2 * (L1 * L2 * c2 + L2**2)],
        [m2 * (L1 * L2 * c2 + L2**2), m2 * L2**2],
    ])  # fmt: skip
    assert sympy.simplify(M - printed) == sympy.zeros(2, 2)
    torque = sympy.Matrix(rnea.gravity_torque(model, [t1, t2]))
    held = [(m1 + m2) * L1 * g * sympy.cos(t1) + m2 * g * L2 * sympy.cos(t1 + t2), m2 * g * L2 * sympy.cos(t1 + t2)]
    assert sympy.simplify(torque - sympy.Matrix(held)) == sympy.zeros(2, 1)
    J = sympy.Matrix(
        [[getattr(S.linear, axis) for S in jacobians.jacobian(model, [t1, t2], "tip", "world")] for axis in "xy"]
    )
    s1, s12, c1, c12 = sympy.sin(t1), sympy.sin(t1 + t2), sympy.cos(t1), sympy.cos(t1 + t2)
    printed = sympy.Matrix([[-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12]])
    assert sympy.simplify(sympy.expand_trig(J - printed)) == sympy.zeros(2, 2)


@pytest.mark.slow
def test_jax_tracers_give_the_value_that_floats_give_and_a_gradient():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    robot = cr.load("planar_3r")
    arguments = state(robot, 3)
    for name in ("inverse_dynamics", "forward_dynamics", "energy"):
        expression = EXPRESSIONS[name]

        def traced(*parts, expression=expression):
            result = expression(robot.model, *(list(part) for part in parts))
            return jax.numpy.stack([jax.numpy.asarray(x) for x in result])

        assert_allclose(jax.jit(traced)(*arguments), floats(robot.model, expression, *arguments), rtol=1e-9, atol=1e-9)
        assert np.isfinite(jax.jit(jax.jacobian(traced))(*arguments)).all()


def test_torch_tensors_give_the_value_that_floats_give_and_a_gradient():
    torch = pytest.importorskip("torch")
    robot = ROBOTS["puma560"]
    arguments = state(robot, 3)
    for expression in EXPRESSIONS.values():
        tensors = [torch.tensor(a, requires_grad=True) for a in arguments]
        result = torch.stack(
            [
                torch.as_tensor(x, dtype=torch.float64)
                for x in expression(robot.model, *(list(part) for part in tensors))
            ]
        )
        assert_allclose(result.detach().numpy(), floats(robot.model, expression, *arguments), rtol=1e-9, atol=1e-9)
        result.sum().backward()
        assert torch.isfinite(tensors[0].grad).all()


def message_of(x):
    with pytest.raises(TypeError, match="is not a scalar chainrule knows") as caught:
        scalar.sin(x)
    return str(caught.value)


def test_what_is_no_scalar_stays_none_whatever_has_been_computed():
    vector = Vector(1.0, 2.0, 3.0)
    before = message_of(vector)
    cr.load("planar_2r").equations()
    assert message_of(vector) == before


@pytest.mark.parametrize("x", ["1.0", [1.0], 1j, None, object()], ids=["text", "list", "complex", "none", "object"])
def test_builtins_that_are_no_numbers_are_refused(x):
    assert "scalar.register" in message_of(x)


class Plain(float):
    """A class of a package of the user's."""


class Other:
    pass


def test_scalars_are_registered_by_class_and_a_subclass_is_served_by_its_base():
    assert scalar.functions_of(Plain) is scalar.functions_of(float)
    mine = scalar.functions_of(float)._replace(sin=lambda x: "mine")
    scalar.register(Plain, mine)
    assert scalar.sin(Plain(1.0)) == "mine"
    assert scalar.sin(type("Sub", (Plain,), {})(1.0)) == "mine"
    assert scalar.sin(0.0) == 0.0
    message_of(Other())


def test_a_package_can_be_registered_by_its_name():
    Foreign = type("Foreign", (), {"__module__": "some_package.inner"})
    message_of(Foreign())
    scalar.register("some_package", scalar.functions_of(float)._replace(cos=lambda x: "theirs"))
    assert scalar.cos(Foreign()) == "theirs"


def test_scalars_of_other_packages_are_known_without_importing_them():
    code = "import sys, chainrule.spatial.scalar as s; s.sin(0.5); print([m for m in ('casadi', 'sympy', 'pint') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    for x in (np.float64(0.5), casadi.SX(0.5), casadi.DM(0.5), sympy.Float(0.5), pint.Quantity(0.5, "rad")):
        assert float(scalar.sin(x)) == pytest.approx(np.sin(0.5))
    assert scalar.sin(np.array([0.5])).tolist() == [np.sin(0.5)]


def test_a_function_of_time_is_a_scalar():
    from chainrule.spatial import Rotation, Vector

    t = sympy.Symbol("t")
    theta = sympy.Function("theta")(t)
    x, y, _ = Rotation.about(Vector(0, 0, 1), theta) * Vector(1, 0, 0)
    assert (x.diff(t), y.diff(t)) == (-sympy.sin(theta) * theta.diff(t), sympy.cos(theta) * theta.diff(t))
