"""Quantities of pint: converted to SI or refused by dimension, and nowhere taken as plain numbers."""

from __future__ import annotations

import warnings
from inspect import isgenerator
from typing import Any

import numpy as np
import pytest

import chainrule as cr
from core.test_garbage import Target, targets

pint = pytest.importorskip("pint")
UNITS = pint.get_application_registry()
Q_ = UNITS.Quantity
ARM, MIXED = cr.load("panda"), cr.load("scara")
Q = np.linspace(-0.4, 0.5, ARM.nq)


def test_degrees_become_radians() -> None:
    expected = ARM.gravity_torque(Q)
    assert np.allclose(ARM.gravity_torque(Q_(np.rad2deg(Q), "degree")), expected, rtol=1e-13)
    assert np.allclose(ARM.gravity_torque([Q_(x, "degree") for x in np.rad2deg(Q)]), expected, rtol=1e-13)
    table = dict(zip(ARM.joint_names, [Q_(x, "degree") for x in np.rad2deg(Q)], strict=True))
    assert np.allclose(ARM.gravity_torque(table), expected, rtol=1e-13)
    objects = np.array([Q_(x, "degree") for x in np.rad2deg(Q)], dtype=object)
    assert np.allclose(ARM.gravity_torque(objects), expected, rtol=1e-13)
    batch = Q_(np.rad2deg(np.stack([Q, 2 * Q])), "degree")
    assert np.allclose(ARM.gravity_torque(batch)[0], expected, rtol=1e-13)
    rows = [Q_(np.rad2deg(Q), "degree"), Q_(2 * Q, "radian")]
    assert np.allclose(ARM.gravity_torque(rows), ARM.gravity_torque([Q, 2 * Q]), rtol=1e-13)


def test_every_joint_has_its_own_dimension() -> None:
    q = [Q_(30, "degree"), 0.2, Q_(-50, "millimeter"), Q_(0.1, "radian")]
    assert np.allclose(MIXED.pose(q), MIXED.pose([np.pi / 6, 0.2, -0.05, 0.1]))
    qd = [Q_(60, "rpm"), Q_(1, "degree/s"), Q_(3, "cm/s"), 0.0]
    tau = [Q_(1500, "N*mm"), Q_(1, "N*m"), Q_(1, "kN"), 0.0]
    plain = [2 * np.pi, np.pi / 180, 0.03, 0.0], [1.5, 1.0, 1000.0, 0.0]
    assert np.allclose(MIXED.forward_dynamics(q, qd, tau), MIXED.forward_dynamics(MIXED.q(q), *plain))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ARM.gravity_torque([Q_(3, "meter")] * 7), r"joint 'panda_joint1' takes an angle \(rad\), got 3 meter"),
        (lambda: MIXED.gravity_torque(Q_([1, 2, 3, 4], "degree")), r"'joint3' takes a length \(m\), got 3 degree"),
        (lambda: MIXED.gravity_torque({"joint1": Q_(3, "kg"), "joint2": 0, "joint3": 0, "joint4": 0}), r"got 3 kilogram"),
        (lambda: ARM.bias(Q, Q_(np.ones(7), "degree")), r"takes an angular velocity \(rad/s\), got 1.0 degree"),
        (lambda: ARM.bias(Q, Q_(np.ones(7), "hertz")), "may mean turns or radians per second"),
        (lambda: ARM.gravity_torque(Q_(0.3, "degree")), "q must have 7 numbers"),
        (lambda: ARM.gravity_torque([Q_(0.3, "degree")] * 3), "q must have 7 numbers, got 3"),
        (lambda: ARM.with_payload(Q_(3, "meter")), r"mass takes a mass \(kg\), got 3 meter"),
        (lambda: ARM.edit(gravity=Q_([0, 0, -9.81], "m/s")), r"gravity takes an acceleration \(m/s\^2\)"),
        (lambda: ARM.simulate(Q, None, Q_(3, "meter"), limits=False), r"duration takes a time \(s\), got 3 meter"),
        (lambda: ARM.scale_masses(Q_(3, "kg")), "takes plain numbers, in the units that its documentation says"),
        (lambda: cr.PD(ARM, Q, Q_(3, "N*m/rad"), 1.0), "PD: kp takes plain numbers"),
        (lambda: ARM.compiled.kernel("gravity_torque")([Q_(0.3, "degree")] * 7), "kernel 'gravity_torque': an argument takes plain"),
        (lambda: ARM.compiled.kernel("gravity_torque")(Q_(Q, "degree")), "kernel 'gravity_torque': an argument takes plain"),
    ],
)  # fmt: skip
def test_a_wrong_dimension_is_refused(call: Any, text: str) -> None:
    with pytest.raises(cr.ShapeError, match=text):
        call()


def test_numbers_have_units_too() -> None:
    loaded = ARM.with_payload(Q_(500, "gram"), Q_([0, 0, 10], "centimeter"))
    assert np.allclose(loaded.gravity_torque(Q), ARM.with_payload(0.5, (0, 0, 0.1)).gravity_torque(Q))
    assert np.allclose(ARM.edit(gravity=Q_([0, 0, -1], "standard_gravity")).gravity, [0, 0, -9.80665])
    motion = ARM.simulate(Q, None, Q_(5, "ms"), dt=Q_(1, "ms"), limits=False)
    assert np.allclose(motion.t, np.arange(6) * 1e-3)
    assert cr.human_arm(Q_(80, "kg"), Q_(180, "cm")).mass == pytest.approx(cr.human_arm(80.0, 1.8).mass)
    assert ARM.lock({"panda_joint7": Q_(90, "degree")}) == ARM.lock({"panda_joint7": np.pi / 2})
    slow = MIXED.edit(joints={"*": {"effort": [1, 1, Q_(2, "kN"), 1]}, "joint1": {"velocity": Q_(60, "rpm")}})
    assert slow.limits.velocity[0] == pytest.approx(2 * np.pi)
    assert slow.limits.effort[2] == 2000.0
    wrench = [0, 0, Q_(1, "N*cm"), Q_(1, "kN"), 0, 0]
    assert np.allclose(
        ARM.static_torque(Q, wrench, frame="body"), ARM.static_torque(Q, [0, 0, 0.01, 1000.0, 0, 0], frame="body")
    )


def test_times_and_bodies_have_units() -> None:
    t, q = np.arange(50), np.sin(np.arange(50) / 30)[:, None] * np.ones(4) * 0.1 - 0.1
    plain = cr.Trajectory.from_samples(MIXED, t * 0.01, q)
    assert np.allclose(cr.Trajectory.from_samples(MIXED, Q_(10 * t, "ms"), q).t, plain.t)
    heavy = cr.rigid_body(Q_(500, "g"), shape="box", size=Q_([10, 20, 30], "cm"))
    other = cr.rigid_body(0.5, shape="box", size=Q_([100, 200, 300], "mm"))
    assert np.allclose(np.array(list(heavy.inertia), dtype=float), np.array(list(other.inertia), dtype=float))
    link = ARM.link_names[-2]
    mass = ARM.edit(links={link: {"mass": Q_(500, "g")}}).mass
    assert mass == pytest.approx(ARM.edit(links={link: {"mass": 0.5}}).mass)


def test_angles_of_dh_tables_are_converted_once() -> None:
    rows = [(Q_(40, "cm"), Q_(90, "degree"), 0, 0), (0.3, 0, 0, Q_(0.5, "radian"))]
    plain = cr.Robot.from_dh([(0.4, np.pi / 2, 0, 0), (0.3, 0, 0, 0.5)], convention="standard", check=False)
    assert np.allclose(cr.Robot.from_dh(rows, convention="standard", check=False).pose([0, 0]), plain.pose([0, 0]))
    degrees = cr.Robot.from_dh(rows, convention="standard", check=False, degrees=True)
    assert np.allclose(degrees.pose([0, 0]), plain.pose([0, 0]))


def test_series_of_quantities() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([Q_(x, "degree") for x in np.rad2deg(Q)], index=list(ARM.joint_names))
    assert np.allclose(ARM.gravity_torque(series[::-1]), ARM.gravity_torque(Q))


def test_data_arrays_of_quantities() -> None:
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(Q_(np.rad2deg(Q), "degree"), dims="joint", coords={"joint": list(ARM.joint_names)})
    assert np.allclose(ARM.gravity_torque(array[::-1]), ARM.gravity_torque(Q))


class Astropy(np.ndarray):
    """An array with a unit of another package."""


Astropy.__module__ = "astropy.units.quantity"


def test_units_of_other_packages_are_refused() -> None:
    with pytest.raises(cr.ShapeError, match="units of the package 'astropy' are not known here"):
        ARM.gravity_torque(Q.view(Astropy))


# --- nowhere stripped ---

NO_NUMBERS = {"search_paths", "hold", "ignore", "ellipsoids", "simplify"}
"""Arguments that are no numbers, and look only at whether something is in them."""
CHECKED_LATER = {"Impacts", "Stops", "Builder", "RigidBody", "animate"}
"""Settings of a simulation, which checks them, a film, which is drawn later, and values that `cr.build` and `cr.rigid_body` make of checked numbers."""


def _targets() -> list[Target]:
    return [
        target for target in targets() if target.name.startswith(("planar_2r.reference", "chainrule", "Traj", "Ref"))
    ]


def _kelvins(right: Any) -> Any:
    try:
        array = np.asarray(right, dtype=float)
    except (TypeError, ValueError):
        array = np.array(1.0)
    yield Q_(array if array.ndim else 1.3, "kelvin")
    if array.ndim == 1 and array.size:
        yield [Q_(float(x), "kelvin") for x in array]


def test_no_argument_takes_kelvins_as_plain_numbers(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    taken = []
    for target in _targets():
        named = [p for p in target.parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        for parameter in named:
            right = target.right.get(
                parameter.name, None if parameter.default is parameter.empty else parameter.default
            )
            if parameter.name in NO_NUMBERS or target.name.rpartition(".")[2] in CHECKED_LATER:
                continue
            for wrong in _kelvins(right):
                given = {p.name: target.right[p.name] for p in named if p.name in target.right} | {
                    parameter.name: wrong
                }
                first = [given.pop(p.name) for p in named if p.kind is p.POSITIONAL_ONLY and p.name in given]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    warnings.simplefilter("error", pint.UnitStrippedWarning)
                    try:
                        found = target.get()(*first, **given)
                        if isgenerator(found):
                            next(found, None)
                    except (cr.ChainruleError, TypeError):
                        continue
                    taken.append(f"{target.name}({parameter.name})")
    assert not taken


# --- out ---


def test_results_with_units() -> None:
    torque = ARM.units.gravity_torque(Q_(np.rad2deg(Q), "degree"))
    assert torque.check("[force]*[length]")
    assert np.allclose(torque.to("N*mm").magnitude, 1000 * ARM.gravity_torque(Q))
    mixed = MIXED.units.gravity_torque(np.zeros(4))
    assert str(mixed["joint3"].units) == "newton"
    assert mixed["joint1"].check("[force]*[length]")
    assert ARM.units.mass.to("g").magnitude == pytest.approx(1000 * ARM.mass)
    assert ARM.units.kinetic_energy(Q, np.ones(7)).units == UNITS.joule
    assert ARM.units.velocity(Q, np.ones(7))["linear"].units == UNITS.meter / UNITS.second
    floating = cr.load("planar_2r").floating()
    assert floating.units.home()["floating_base.z"].units == UNITS.meter
    assert floating.units.bias(floating.home(), np.ones(8))["joint1"].check("[force]*[length]")
    assert ARM.units.jacobian(Q)["linear"].units == UNITS.meter / UNITS.radian
    with pytest.raises(AttributeError, match=r"robot\.units has the functions of states, and 'simulate' is none"):
        _ = ARM.units.simulate
    with pytest.raises(AttributeError, match=r"robot\.units has no function named 'mass_matricx'; did you mean"):
        _ = ARM.units.mass_matricx
    assert not ARM.units.is_singular(Q)  # a truth has no unit
    assert "gravity_torque" in dir(ARM.units)


def test_results_have_units_in_a_view_alone() -> None:
    torque = ARM.units.gravity_torque(Q)
    assert torque.units == UNITS.newton * UNITS.meter
    assert np.array_equal(torque.magnitude, ARM.gravity_torque(Q))
    assert ARM.units.inverse_dynamics(Q, Q, Q).check("[force]*[length]")
    assert ARM.units.forward_dynamics(Q, Q, Q).units == UNITS.radian / UNITS.second**2
    assert MIXED.units.gravity_torque(np.zeros(4))["joint3"].units == UNITS.newton
    assert ARM.units.velocity(Q, np.ones(7))["linear"].units == UNITS.meter / UNITS.second
    assert isinstance(ARM.gravity_torque(Q), np.ndarray)
