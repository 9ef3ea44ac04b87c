"""The WidowX 250 of Trossen Robotics: its numbers against those that its maker prints elsewhere, and by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import chainrule as cr

pytestmark = pytest.mark.interpreted


ARM = cr.load("wx250s").reference

HOME = [[1, 0, 0, 0.458325], [0, 1, 0, 0], [0, 0, 1, 0.36065], [0, 0, 0, 1]]
SCREWS = [
    [0, 0, 1, 0, 0, 0],
    [0, 1, 0, -0.11065, 0, 0],
    [0, 1, 0, -0.36065, 0, 0.04975],
    [1, 0, 0, 0, 0.36065, 0],
    [0, 1, 0, -0.36065, 0, 0.29975],
    [1, 0, 0, 0, 0.36065, 0],
]
"""Product of exponentials of the gripper in the maker's Python interface (interbotix_xs_modules, mr_descriptions)."""


def exponential(screw, angle):
    wx, wy, wz, *v = screw
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = [[0, -wz, wy], [wz, 0, -wx], [-wy, wx, 0]]
    matrix[:3, 3] = v
    return expm(matrix * angle)


def test_the_gripper_is_where_the_maker_s_product_of_exponentials_has_it():
    for q in np.random.default_rng(0).uniform(-1.5, 1.5, (5, 6)):
        T = np.linalg.multi_dot([*(exponential(s, a) for s, a in zip(SCREWS, q, strict=True)), np.array(HOME)])
        assert_allclose(ARM.pose(q), T, atol=1e-12)


def test_limits_are_the_maker_s():
    degrees = np.degrees([ARM.limits.lower, ARM.limits.upper]).T
    assert_allclose(degrees[[1, 2, 4]], [(-108, 114), (-123, 92), (-100, 123)], atol=1e-9)
    assert_allclose(degrees[[0, 3, 5]], [(-180, 180)] * 3, atol=1e-3)
    assert ARM.limits.effort.tolist() == [10, 20, 15, 2, 5, 1]
    assert_allclose(ARM.limits.velocity, np.pi)
    assert_allclose(ARM.friction_torque(np.ones(6)), 0.1)


GRIPPER = [  # mass and x of the center of mass from the axis of the wrist, 0.065 m beyond it, and of the parts on it
    (0.072885, 0.065 + 0.021631), (0.00434, 0.065 + 0.0485 + 0.000846), (0.034199, 0.065 + 0.043 + 0.009687),
    (0.016246, 0.065 + 0.066 + 0.013816), (0.016246, 0.065 + 0.066 + 0.013816),
]  # fmt: skip


def test_gravity_by_hand_with_the_forearm_level():
    """At zero the upper arm is upright and all after it lies along x: moments are sums of weights times distances."""
    wrist = -9.81 * (0.084957 * 0.04236 + sum(m * x for m, x in GRIPPER))
    forearm = -9.81 * (0.234589 * 0.107963 + 0.220991 * (0.175 + 0.0374395)) + wrist
    forearm += -9.81 * 0.25 * (0.084957 + sum(m for m, _ in GRIPPER))
    beyond = 0.234589 + 0.220991 + 0.084957 + sum(m for m, _ in GRIPPER)
    shoulder = forearm - 9.81 * (0.04975 * beyond + 0.430811 * 0.0171605)
    assert_allclose(ARM.gravity_torque(np.zeros(6))[[1, 2, 4]], [shoulder, forearm, wrist], rtol=1e-9)
    assert ARM.mass == pytest.approx(1.596143)


def test_inertia_about_the_last_axis_by_hand():
    """Moments of inertia about x, and masses times squared distances from it; the fingers are 19.5 mm apart from it."""
    links = [  # mass, moment about the link's x, y and z of the center of mass; parts turned by 90 degrees about z
        (0.072885, 0.00001836, 0.0000002516, 0.01141), (0.00434, 0.0000011156, -0.0000016817, 0.000042),
        (0.034199, 0.00002843, 0.0000008177, 0.004962), (0.016246, 0.0000015506, 0.0195, 0.0),
        (0.016246, 0.0000015506, -0.0195, 0.0),
    ]  # fmt: skip
    expected = sum(moment + m * (y * y + z * z) for m, moment, y, z in links)
    assert_allclose(ARM.mass_matrix(np.array([0.3, -0.4, 0.5, 0.2, 0.8, 0.1]))[5, 5], expected, rtol=1e-9)


def test_it_sleeps_and_stands_where_its_maker_has_it():
    assert ARM.configurations["sleep"].tolist() == [0, -1.8, 1.55, 0, 0.8, 0]
    assert_allclose(ARM.pose(ARM.configurations["upright"])[:3, 3], [-0.04975 + 2 * 0.04975, 0, 0.36065 + 0.408575])
    assert ARM.is_singular(ARM.configurations["zero"])  # the two axes along the forearm line up
    assert not ARM.is_singular(ARM.home())
