"""Lagrange's equations: the examples of the slides "Ch2: Robot Dynamics - Part 1" as printed, the bundled robots' numbers, identities, bad input."""

import unicodedata

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sympy import cos, sin
from sympy.physics.mechanics import dynamicsymbols

import chainrule as cr
from chainrule.errors import ModelError, UnknownNameError
from chainrule.symbolic.algebra.textbook import canonical
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.lagrange.bodies import Friction, PointMass, Spring, generalized_force
from chainrule.symbolic.lagrange.coordinates import coordinates
from chainrule.symbolic.lagrange.lagrangian import Lagrangian

from .systems import (
    L_1,
    L_2,
    arm_2r,
    arm_rp,
    arm_rp_with_inertia,
    b,
    double_pendulum,
    f_c,
    g,
    gantry,
    held_bob,
    k,
    l,
    l_1,
    l_2,
    m,
    m_1,
    m_2,
    m_3,
    pendulum,
    phi,
    spinning_top,
    t,
    tau_1,
    theta,
    theta_1,
    theta_2,
    thetaddot,
    thetaddot_1,
    thetaddot_2,
    thetadot,
    thetadot_1,
    thetadot_2,
    x,
    xddot,
    xdot,
    y,
    ydot,
)  # fmt: skip

few = settings(max_examples=15)
SEEDS = st.integers(0, 10_000)


def lines(system):
    """The equations as text, letters with dots being one character, and minus signs those of a keyboard."""
    return unicodedata.normalize("NFC", str(system)).replace("\u2212", "-").splitlines()


def equal(a, b):
    return sp.simplify(sp.Matrix([a]) - sp.Matrix([b])).is_zero_matrix


# --- the five worked examples, as the notes print them ---


def test_example_1_a_particle_on_a_vertical_line():
    particle = Lagrangian([x], m * xdot**2 / 2, m * g * x, forces="f")
    assert particle.equations == (sp.Eq(sp.Symbol("f"), m * xddot + m * g),)
    assert lines(particle) == ["f = m ẍ + m g"]
    assert particle.latex() == "\\begin{aligned}\nf &= m \\ddot{x} + m g\n\\end{aligned}"


def test_example_2_a_link_of_two_parts_about_a_vertical_axis():
    """The first part is level, the second rises by phi; seen from the axis m_2 is at l_1 + l_2 cos(phi), at one height."""
    out = l_1 + l_2 * cos(phi)
    bodies = [
        PointMass(m_1, (l_1 * cos(theta), l_1 * sin(theta), 0)),
        PointMass(m_2, (out * cos(theta), out * sin(theta), l_2 * sin(phi))),
    ]
    link = Lagrangian.of_bodies([theta], bodies)
    assert str(link.M[0]) == "l_1**2*m_1 + m_2*(l_1 + l_2*cos(phi))**2"
    assert link.c == link.g == sp.zeros(1, 1)
    assert lines(link) == ["τ = (m₁ l₁² + m₂ (l₁ + l₂ cos(ϕ))²) θ̈"]


def test_example_3_the_planar_2r_arm_term_for_term():
    arm = arm_2r()
    assert str(arm.M.tolist()) == (
        "[[L_1**2*m_1 + m_2*(L_1**2 + 2*L_1*L_2*cos(theta_2) + L_2**2), m_2*(L_1*L_2*cos(theta_2) + L_2**2)],"
        " [m_2*(L_1*L_2*cos(theta_2) + L_2**2), L_2**2*m_2]]"
    )
    assert str(list(arm.c)) == (
        "[-L_1*L_2*m_2*(2*thetadot_1*thetadot_2 + thetadot_2**2)*sin(theta_2), L_1*L_2*m_2*thetadot_1**2*sin(theta_2)]"
    )
    assert str(list(arm.g)) == (
        "[L_1*g*(m_1 + m_2)*cos(theta_1) + L_2*g*m_2*cos(theta_1 + theta_2), L_2*g*m_2*cos(theta_1 + theta_2)]"
    )
    printed = (
        (m_1 * L_1**2 + m_2 * (L_1**2 + 2 * L_1 * L_2 * cos(theta_2) + L_2**2)) * thetaddot_1
        + m_2 * (L_1 * L_2 * cos(theta_2) + L_2**2) * thetaddot_2
        - m_2 * L_1 * L_2 * sin(theta_2) * (2 * thetadot_1 * thetadot_2 + thetadot_2**2)
        + (m_1 + m_2) * L_1 * g * cos(theta_1)
        + m_2 * g * L_2 * cos(theta_1 + theta_2)
    )
    assert arm.equations[0] == sp.Eq(tau_1, printed)
    first, second = lines(arm)
    assert first == (
        "τ₁ = (m₁ L₁² + m₂ (L₁² + L₂² + 2 L₁ L₂ cos(θ₂))) θ̈₁ + m₂ (L₂² + L₁ L₂ cos(θ₂)) θ̈₂"
        " - m₂ L₁ L₂ (2 θ̇₁ θ̇₂ + θ̇₂²) sin(θ₂) + (m₁ + m₂) L₁ g cos(θ₁) + m₂ L₂ g cos(θ₁ + θ₂)"
    )
    assert second == ("τ₂ = m₂ (L₂² + L₁ L₂ cos(θ₂)) θ̈₁ + m₂ L₂² θ̈₂ + m₂ L₁ L₂ θ̇₁² sin(θ₂) + m₂ L₂ g cos(θ₁ + θ₂)")


def test_example_4_the_planar_rp_arm():
    arm = arm_rp()
    assert str(arm.M.tolist()) == "[[L_1**2*m_1 + m_2*theta_2**2, 0], [0, m_2]]"
    assert str(list(arm.c)) == "[2*m_2*theta_2*thetadot_1*thetadot_2, -m_2*theta_2*thetadot_1**2]"
    assert str(list(arm.g)) == "[g*(L_1*m_1 + m_2*theta_2)*cos(theta_1), g*m_2*sin(theta_1)]"
    assert lines(arm) == [
        "τ₁ = (m₁ L₁² + m₂ θ₂²) θ̈₁ + 2 m₂ θ₂ θ̇₁ θ̇₂ + (m₁ L₁ + m₂ θ₂) g cos(θ₁)",
        "τ₂ = m₂ θ̈₂ - m₂ θ₂ θ̇₁² + m₂ g sin(θ₁)",
    ]


def test_example_5_the_cartesian_robot():
    assert lines(gantry()) == [
        "τ₁ = (m₁ + m₂ + m₃) q̈₁ + (m₁ + m₂ + m₃) g",
        "τ₂ = (m₂ + m₃) q̈₂",
        "τ₃ = m₃ q̈₃",
    ]
    assert sp.diag(m_1 + m_2 + m_3, m_2 + m_3, m_3) == gantry().M
    assert gantry().g == sp.Matrix([g * (m_1 + m_2 + m_3), 0, 0])


# --- the same systems as bundled robots ---

SAME = {
    "planar_2r": (arm_2r, {"m_1": 1, "m_2": 1, "L_1": 1, "L_2": 1, "g": 9.81}),
    "planar_rp": (arm_rp_with_inertia, {"m_1": 1, "m_2": 1, "L_1": 1, "I_1": 0.02, "I_2": 0.02, "g": 9.81}),
    "cartesian_3p": (gantry, {"m_1": 3, "m_2": 2, "m_3": 1, "g": 9.81}),
    "double_pendulum": (double_pendulum, {"m_1": 1, "m_2": 1, "l_1": 1, "l_2": 1, "g": 9.81}),
    "pendulum": (pendulum, {"m": 1, "l": 1, "g": 9.81}),
}


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "numpy"])
@pytest.mark.parametrize("name", SAME)
def test_every_function_gives_the_robots_numbers(name, compiled):
    make, parameters = SAME[name]
    system, robot = make(), cr.load(name)
    rng = np.random.default_rng(3)
    q = robot.random_state(rng, (4, 5))
    qd, last = rng.normal(size=(2, 4, 5, robot.nv))
    state = {"q": q, "qd": qd, "qdd": last, "inputs": last}
    arguments = {
        "inverse_dynamics": ("q", "qd", "qdd"),
        "forward_dynamics": ("q", "qd", "inputs"),
        "mass_matrix": ("q",),
        "coriolis_matrix": ("q", "qd"),
        "bias": ("q", "qd"),
        "gravity_torque": ("q",),
        "kinetic_energy": ("q", "qd"),
    }
    for function, names in arguments.items():
        ours = system.function(function, parameters, compiled=compiled)(*(state[key] for key in names))
        theirs = getattr(robot, function)(*(state[key] for key in names))
        assert ours.shape == theirs.shape, function
        assert_allclose(ours, theirs, atol=1e-10, err_msg=function)
    height = system.function("potential_energy", parameters, compiled=compiled)
    rest = robot.neutral()
    drop = robot.potential_energy(q) - robot.potential_energy(rest)
    assert_allclose(height(q) - height(rest), drop, atol=1e-10)


@given(SEEDS)
@few
def test_compiled_and_numpy_agree_with_parameters_as_arguments(seed):
    system, rng = arm_rp_with_inertia(), np.random.default_rng(seed)
    q, qd, u = rng.normal(size=(3, 3, 2))
    values = rng.uniform(0.5, 2, (3, len(system.parameters)))
    for name in ("forward_dynamics", "inverse_dynamics"):
        both = [system.function(name, compiled=compiled)(q, qd, u, values) for compiled in (True, False)]
        assert_allclose(*both, rtol=1e-10, atol=1e-10)
    assert_allclose(system.function("inverse_dynamics")(q, qd, both[0] * 0 + 1, values).shape, (3, 2))


def test_closed_form_of_a_robot_and_energies_give_the_same_equations():
    theirs = equations(cr.load("planar_2r"))
    renamed = {s: sp.Symbol(s.name.replace("q", "theta")) if s.name[0] == "q" else sp.Symbol(s.name) for s in theirs.M.free_symbols | theirs.c.free_symbols | theirs.g.free_symbols}  # fmt: skip
    ours = arm_2r()
    for own, other in ((ours.M, theirs.M), (ours.C, theirs.C), (ours.c, theirs.c), (ours.g, theirs.g)):
        assert equal(own, other.subs(renamed))


# --- identities ---


@pytest.mark.parametrize("make", [arm_2r, arm_rp_with_inertia, double_pendulum, spinning_top, gantry])
def test_equations_are_those_of_euler_and_lagrange(make):
    system = make()
    rate = system.coordinates.rate
    L = system.lagrangian
    for q, v, left in zip(system.q, system.qd, system.tau, strict=True):
        assert canonical(rate(L.diff(v)) - L.diff(q) - left, system.angles) == 0


@pytest.mark.parametrize("make", [arm_2r, arm_rp_with_inertia, spinning_top])
def test_the_rate_of_m_less_2c_is_skew(make):
    system = make()
    skew = sp.Matrix(system.coordinates.rate(system.M) - 2 * system.C)
    assert all(canonical(entry, system.angles) == 0 for entry in skew + skew.T)
    assert all(canonical(entry, system.angles) == 0 for entry in system.C * sp.Matrix(system.qd) - system.c)


def test_conserved_quantities_have_no_rate_along_the_motion():
    for system in (spinning_top(), pendulum(forces=0), _springs()):
        accelerations = sp.Matrix(system.M).LUsolve(-(system.c + system.g))
        along = dict(zip(system.qdd, accelerations, strict=True))
        found = system.conserved_quantities()
        assert found[0].name == "energy"
        for _, expression, _ in found:
            rate = system.coordinates.rate(expression).subs(along)
            assert canonical(sp.numer(sp.together(rate)), system.angles) == 0
    names = [quantity.name for quantity in spinning_top().conserved_quantities()]
    assert names == ["energy", "momentum of alpha", "momentum of gamma"]


def _springs():
    bodies = [PointMass(m_1, (x, 0)), PointMass(m_2, (y, 0)), Spring(k, y - x)]
    return Lagrangian.of_bodies([x, y], bodies, gravity=(0, 0), forces=0)


def test_momentum_is_conserved_along_combinations_of_coordinates():
    momentum = _springs().conserved_quantities()[1]
    assert momentum.expression == m_1 * xdot + m_2 * ydot
    assert momentum.reason == "nothing changes on moving x by 1, y by 1"


def test_nothing_is_conserved_where_friction_or_time_take_part():
    assert pendulum(friction={theta: Friction(b)}).conserved_quantities() == []
    assert Lagrangian([x], m * xdot**2 / 2, m * g * x * cos(t)).conserved_quantities() == []
    assert pendulum().conserved_quantities()[0].name == "energy"  # with its input at zero


def test_a_bead_on_a_turning_hoop_has_jacobis_integral():
    R, w = sp.symbols("R Omega", positive=True)
    place = (R * sin(theta) * cos(w * t), R * sin(theta) * sin(w * t), -R * cos(theta))
    bead = Lagrangian.of_bodies([theta], [PointMass(m, place)], forces=0)
    assert equal(bead.g[0], m * g * R * sin(theta) - m * R**2 * w**2 * sin(theta) * cos(theta))
    assert bead.conserved_quantities()[0].name == "Jacobi's integral"
    assert {theta: sp.acos(g / (R * w**2))} in bead.equilibria()


def test_a_prescribed_motion_drives_as_an_acceleration_does():
    A, w = sp.symbols("A omega")
    hung = Lagrangian.of_bodies(
        [theta], [PointMass(m, (l * sin(theta) + A * cos(w * t), -l * cos(theta)))], gravity=(0, -g), forces=0
    )
    expected = m * l**2 * thetaddot + m * g * l * sin(theta) - m * A * w**2 * l * cos(theta) * cos(w * t)
    assert equal(hung.tau[0], expected)
    torque = hung.function("inverse_dynamics", {"m": 1, "l": 1, "g": 9.81, "A": 0.1, "omega": 2})
    assert_allclose(torque([0.0], [0.0], [0.0], [0.0]), [-0.4])


# --- other energies, forces, friction ---


def test_functions_of_time_are_taken_and_printed_with_dots():
    q1, q2 = dynamicsymbols("q_1 q_2")
    K = m * (q1.diff() ** 2 + sp.Derivative(q1 + q2, "t") ** 2) / 2
    system = Lagrangian([q1, q2], K, k * q2**2 / 2)
    assert lines(system) == ["τ₁ = 2 m q̈₁ + m q̈₂", "τ₂ = m q̈₁ + m q̈₂ + k q₂"]


@pytest.mark.parametrize("given", ["theta", [theta], [dynamicsymbols("theta")], sp.Symbol("theta", real=True)])
def test_coordinates_are_names_symbols_or_functions(given):
    system = Lagrangian(given, m * thetadot**2 / 2, -m * g * cos(theta))
    assert lines(system) == ["τ = m θ̈ + m g sin(θ)"]


def test_symbols_of_other_assumptions_are_the_coordinates_by_name():
    real = sp.Symbol("theta", real=True)
    assert str(Lagrangian(real, m * thetadot**2 / 2, m * g * real).tau[0]) == "g*m + m*thetaddot"


def test_friction_is_viscous_and_dry_and_opposes():
    system = pendulum(friction={"theta": Friction(viscous=b, coulomb=f_c)})
    assert system.friction[0] == b * thetadot + f_c * sp.sign(thetadot)
    for compiled in (True, False):
        function = system.function("friction_torque", {"m": 1, "l": 1, "g": 1, "b": 2, "f_c": 3}, compiled=compiled)
        assert_allclose(function([[0.0], [0.0], [0.0]], [[-1.0], [0.0], [0.5]])[:, 0], [-5, 0, 4])
    assert pendulum(friction=[b * thetadot**3]).friction[0] == b * thetadot**3


def test_a_force_at_a_point_becomes_generalized_forces():
    F = sp.Symbol("F")
    own = coordinates([theta])
    push = generalized_force((F, 0), (l * sin(theta), -l * cos(theta)), own)
    system = pendulum(forces=push)
    assert system.inputs == (F,)
    assert equal(system.f[0], F * l * cos(theta))


def test_fractions_stay_exact_and_simple_decimals_become_fractions():
    rod = Lagrangian(theta, m * l**2 / 3 * thetadot**2 / 2, 0.5 * m * g * l * sin(theta))
    assert str(rod.tau[0]) == "g*l*m*cos(theta)/2 + l**2*m*thetaddot/3"


def test_constant_angles_and_roots_stay_as_they_are():
    leaning = (l * cos(theta + phi) + l * cos(theta), l * sin(theta + phi) + l * sin(theta))
    system = Lagrangian.of_bodies([theta], [PointMass(m, leaning)], gravity=(0, -sp.sqrt(2) * g))
    assert str(system.M[0]) == "m*(2*l**2*cos(phi) + 2*l**2)"
    assert str(system.g[0]) == "sqrt(2)*g*l*m*cos(theta) + sqrt(2)*g*l*m*cos(phi + theta)"


def test_forces_may_be_functions_of_time():
    F = dynamicsymbols("F")
    assert pendulum(forces=[F]).inputs == (sp.Symbol("F"),)


def test_energies_that_are_not_trigonometric_polynomials_work():
    stretched = Spring.between(k, (x, 0), (0, l), l)
    system = Lagrangian.of_bodies([x], [PointMass(m, (x, 0)), stretched], gravity=(0, 0), forces=0)
    force = system.function("gravity_torque", {"m": 1, "k": 3, "l": 2})
    assert_allclose(force([1.5]), [3 * (2.5 - 2) * 1.5 / 2.5])
    curved = Lagrangian.of_bodies([x], [PointMass(m, (x, sp.exp(x)))], gravity=(0, -g), forces=0)
    expected = m * (1 + sp.exp(2 * x)) * xddot + m * sp.exp(2 * x) * xdot**2 + m * g * sp.exp(x)
    assert equal(curved.tau[0], expected)
    values = {"m": 1.3, "g": 9.81}
    both = [curved.function("inverse_dynamics", values, compiled=c)([0.3], [0.4], [0.5]) for c in (True, False)]
    assert_allclose(*both)


# --- constraints ---


def test_a_constrained_bob_moves_as_the_pendulum():
    parameters = {"m": 1.5, "l": 0.8, "g": 9.81}
    angle, speed = 0.7, 1.3
    place = 0.8 * np.array([np.sin(angle), -np.cos(angle)])
    along = 0.8 * np.array([np.cos(angle), np.sin(angle)])
    turning = pendulum().function("forward_dynamics", parameters)([angle], [speed], [0.0])
    for compiled in (True, False):
        bob = held_bob()
        qdd = bob.function("forward_dynamics", parameters, compiled=compiled)(place, speed * along, np.zeros(0))
        assert_allclose(qdd, turning * along - place * speed**2, atol=1e-10)
        pull = bob.function("multipliers", parameters, compiled=compiled)(place, speed * along, np.zeros(0))
        tension = 1.5 * (9.81 * np.cos(angle) + 0.8 * speed**2)
        assert_allclose(-2 * 0.8 * pull, [tension], atol=1e-10)
        assert_allclose(bob.function("constraint", parameters, compiled=compiled)(place), [0], atol=1e-14)


def test_constrained_equations_show_their_multipliers():
    bob = held_bob()
    assert lines(bob) == ["2 λ x = m ẍ", "2 λ y = m ÿ + m g", "- l² + x² + y² = 0"]
    assert sp.Matrix([[2 * x, 2 * y]]) == bob.J
    assert equal(bob.gamma[0], 2 * xdot**2 + 2 * ydot**2)
    assert {s: solution[s] for solution in bob.equilibria() for s in (x, y) if solution[y] == -l} == {x: 0, y: -l}
    assert bob.linearize({x: 0, y: -l}).A[2, 0] == -g / l
    aside = bob.linearize([0.0, -1.0 * l])
    assert_allclose(aside.numbers({"g": 9.81, "l": 2})[0][2, 0], -9.81 / 2)


def test_two_rods_in_cartesian_coordinates_move_as_the_double_pendulum():
    places = sp.symbols("x_1 y_1 x_2 y_2")
    x1, y1, x2, y2 = places
    rods = Lagrangian.of_bodies(
        places, [PointMass(m_1, (x1, y1)), PointMass(m_2, (x2, y2))], gravity=(0, -g), forces=0,
        constraints=[x1**2 + y1**2 - l_1**2, (x2 - x1) ** 2 + (y2 - y1) ** 2 - l_2**2],
    )  # fmt: skip
    make, parameters = SAME["double_pendulum"]
    q, qd = np.array([0.4, -0.9]), np.array([0.8, 1.7])
    qdd = make().function("forward_dynamics", parameters)(q, qd, np.zeros(2))
    angles, rates, accelerations = q.cumsum(), qd.cumsum(), qdd.cumsum()
    radial = np.stack([np.sin(angles), -np.cos(angles)], axis=-1)
    across = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    position = radial.cumsum(axis=0).ravel()
    velocity = (across * rates[:, None]).cumsum(axis=0).ravel()
    expected = (across * accelerations[:, None] - radial * rates[:, None] ** 2).cumsum(axis=0).ravel()
    found = rods.function("forward_dynamics", parameters)(position, velocity, np.zeros(0))
    assert_allclose(found, expected, atol=1e-10)


# --- equilibria and linear systems ---


def test_equilibria_of_the_arm_are_its_four_upright_and_hanging_ones():
    found = {(s[theta_1], s[theta_2]) for s in arm_2r().equilibria()}
    half = sp.pi / 2
    assert found == {(half, 0), (half, sp.pi), (-half, 0), (-half, sp.pi)}
    assert pendulum().equilibria({"tau": m * g * l / 2}) == [{theta: sp.pi / 6}, {theta: 5 * sp.pi / 6}]


def test_a_free_particle_rests_anywhere_and_a_falling_one_nowhere():
    assert Lagrangian(x, m * xdot**2 / 2).equilibria() == [{}]
    with pytest.raises(ModelError, match="rests nowhere"):
        Lagrangian(x, m * xdot**2 / 2, m * g * x).equilibria()


@pytest.mark.slow
@given(SEEDS)
@few
def test_the_linear_system_is_the_derivative_of_the_equations(seed):
    rng = np.random.default_rng(seed)
    system = arm_2r(friction=[Friction(b), Friction(2 * b)])
    parameters = dict(zip(("m_1", "m_2", "L_1", "L_2", "g", "b"), rng.uniform(0.5, 2, 6), strict=True))
    at = rng.normal(size=2)
    linear = system.linearize(at.tolist())
    A, B = linear.numbers(parameters)
    held = np.array([float(linear.inputs[s].subs(parameters)) for s in system.inputs])
    acceleration = system.function("forward_dynamics", parameters, compiled=False)

    def rates(state):
        return acceleration(state[..., :2], state[..., 2:4], state[..., 4:])

    point, h = np.concatenate([at, [0, 0], held]), 1e-6
    slopes = (rates(point + h * np.eye(6)) - rates(point - h * np.eye(6))).T / (2 * h)
    assert_allclose(rates(point), 0, atol=1e-9)
    assert_allclose(np.hstack([A[2:], B[2:]]), slopes, atol=1e-6 * max(1, np.abs(slopes).max()))
    assert_allclose(A[:2], np.hstack([np.zeros((2, 2)), np.eye(2)]))


def test_text_comes_in_three_forms():
    arm = arm_2r()
    assert r"\ddot{\theta}_{1}" in arm.latex()
    assert arm.latex("g").startswith(r"\left[\begin{matrix}")
    assert arm.mathml().startswith("<math")
    assert "<mover" in arm.mathml()
    assert "θ̇₁" in arm.pretty("c")
    with pytest.raises(UnknownNameError, match="did you mean"):
        arm.latex("equation")
