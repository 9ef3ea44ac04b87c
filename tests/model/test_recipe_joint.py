"""The recipe of `chainrule.model.joints`, followed from outside the package: a wheel that rolls along a line."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.formats import native
from chainrule.model import Joint, Link, Model, RealCoordinates, Screw
from chainrule.spatial import Rotation, Symmetric, Transform, Twist, Vector
from chainrule.spatial.scalar import cos, sin


@dataclass(frozen=True)  # step 1
class Rolling(RealCoordinates):
    """A wheel of some radius (m) that rolls along x while it turns about z by q."""

    radius: float

    name = "rolling"
    nv = 1
    units = ("rad",)

    def transform(self, q):  # step 2
        return Transform(Rotation.about(Vector(0, 0, 1), q[0]), Vector(self.radius * q[0], 0, 0))

    def columns(self, q):
        r = self.radius
        return [Twist(Vector(0, 0, 1), Vector(r * cos(q[0]), -r * sin(q[0]), 0))]

    def columns_rate(self, q, qd):
        r = self.radius
        return [Twist(Vector.zero(), Vector(-r * sin(q[0]) * qd[0], -r * cos(q[0]) * qd[0], 0))]

    def map(self, f):  # step 4; step 3 is for joints with several coordinates
        return Rolling(f(self.radius, "m"))


native.register_kind(  # step 5
    "rolling",
    ["radius"],
    lambda entries: Rolling(float(entries["radius"])),
    lambda kind: {"radius": float(kind.radius)},
)


def robot(radius=0.3):
    inertia = Symmetric(0.1, 0.1, 0.15, 0, 0, 0)
    links = [
        Link("ground"),
        Link("wheel", 2.0, Vector(0.05, 0.0, 0.0), inertia),
        Link("arm", 1.0, Vector(0.4, 0, 0), inertia),
    ]
    arm = Joint("arm", "wheel", "arm", Screw.revolute(Vector(0, 0, 1)), Transform.from_xyz_rpy((0.1, 0.2, 0.0)))
    model = Model.build(
        "roller", links, [Joint("wheel", "ground", "wheel", Rolling(radius)), arm], gravity=Vector(0, -9.81, 0)
    )
    return cr.Robot(model)


STATE = [0.7, -0.4], [1.3, 0.5], [0.2, -1.1]


def test_forward_dynamics_undoes_inverse_dynamics():  # step 6
    q, qd, qdd = STATE
    tau = robot().inverse_dynamics(q, qd, qdd)
    assert_allclose(robot().forward_dynamics(q, qd, tau), qdd, rtol=1e-12)


def test_compiled_functions_give_what_the_algorithms_give():
    for name in ("inverse_dynamics", "forward_dynamics"):
        compiled, plain = (getattr(r, name)(*STATE) for r in (robot(), robot().reference))
        assert_allclose(compiled, plain, rtol=1e-12)
    assert_allclose(robot().mass_matrix(STATE[0]), robot().reference.mass_matrix(STATE[0]), rtol=1e-12)


def test_the_screws_are_the_derivatives_of_the_poses():
    q, h = np.array(STATE[0]), 1e-6
    J = robot().jacobian(q, "arm", frame="world")
    for i, step in enumerate(np.eye(2) * h):
        slope = (robot().pose(q + step, "arm") - robot().pose(q - step, "arm"))[:3, 3] / (2 * h)
        assert_allclose(J[3:, i], slope, atol=1e-8)
    Jd = robot().jacobian_dot(q, STATE[1], "arm", frame="world")
    slope = (
        robot().jacobian(q + h * np.array(STATE[1]), "arm", frame="world")
        - robot().jacobian(q - h * np.array(STATE[1]), "arm", frame="world")
    ) / (2 * h)
    assert_allclose(Jd, slope, atol=1e-8)


def test_power_in_is_energy_gained():
    q, qd, qdd = (np.array(x) for x in STATE)
    h = 1e-6

    def energy(t):
        at, rate = q + t * qd + t * t / 2 * qdd, qd + t * qdd
        return robot().kinetic_energy(at, rate) + robot().potential_energy(at)

    tau = robot().inverse_dynamics(q, qd, qdd)
    assert (energy(h) - energy(-h)) / (2 * h) == pytest.approx(tau @ qd, rel=1e-6)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_robot_files_hold_it(tmp_path, suffix):
    robot().save(tmp_path / f"roller{suffix}")
    assert cr.load(tmp_path / f"roller{suffix}") == robot()


def test_a_file_without_its_numbers_is_refused_by_its_place():
    text = native.to_json(robot().model).replace('"radius": 0.3', '"radius": "x"')
    with pytest.raises(
        cr.FormatError, match=r"joint 'wheel': is no rolling joint, which takes radius: could not convert"
    ):
        cr.load(text)


def test_robots_that_differ_in_its_numbers_have_kernels_of_their_own():
    small, large = (robot(radius).mass_matrix(STATE[0])[0, 0] for radius in (0.3, 0.6))
    assert large > small + 0.5


def test_its_numbers_become_symbols_with_those_of_the_model():
    seen = []
    robot().model.map(lambda x, unit: seen.append((x, unit)) or x)
    assert (0.3, "m") in seen


def test_it_has_the_names_of_its_joint():
    assert robot().model.layout.coordinate_names == ("wheel", "arm")


@dataclass(frozen=True)
class Unlisted(Rolling):
    name = "unlisted"


def test_a_kind_that_files_do_not_know_says_what_to_do():
    joint = Joint("wheel", "ground", "wheel", Unlisted(0.3))
    model = Model.build("roller", [Link("ground"), Link("wheel", 2.0)], [joint])
    with pytest.raises(cr.FormatError, match=r"kind 'unlisted' cannot be written; .*register_kind"):
        native.to_toml(model)


def test_types_and_keys_of_the_format_are_taken():
    for type_, keys in (("revolute", []), ("sliding", ["axis"])):
        with pytest.raises(cr.FormatError, match="choose other names"):
            native.register_kind(type_, keys, lambda entries: None, lambda kind: {})
