"""A block on a slope: dry friction holds it exactly, lets it go, and stops it again."""

import numpy as np

import chainrule as cr
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Vector

mass, coefficient = 2.0, 0.4


def slope(degrees):
    """A block that slides along x; the slope is tilted by turning gravity."""
    angle = np.radians(degrees)
    gravity = Vector(-9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle))
    slide = Joint("slide", "ground", "block", Screw.prismatic(Vector(1, 0, 0)))
    block = cr.Robot(Model.build("slope", [Link("ground"), Link("block", mass)], [slide], gravity=gravity))
    return block.edit(joints={"*": {"coulomb": coefficient * mass * 9.81 * np.cos(angle)}})


print(f"friction coefficient {coefficient}: holds up to {np.degrees(np.arctan(coefficient)):.2f} degrees")
for degrees in (10.0, 21.8, 21.81, 30.0):
    motion = slope(degrees).simulate([0.0], None, 10.0, dt=1e-2)
    print(f"{degrees:6.2f} degrees: after 10 s at {motion.q[-1, 0]:10.6f} m, friction {motion.friction[-1, 0]:7.3f} N")
    assert (motion.q == 0.0).all() == (np.tan(np.radians(degrees)) <= coefficient)  # no creep, not by a bit

# on the flat, given a push: it slides v^2 / (2 mu g) far, stops, and stays
sliding = slope(0.0).simulate([0.0], [1.0], 1.0)
expected = 1 / (2 * coefficient * 9.81)
rest = sliding.t[np.argmax(sliding.qd[:, 0] == 0.0)]
print(f"pushed at 1 m/s on the flat: at rest after {rest:.3f} s and {sliding.q[-1, 0]:.6f} m, {expected:.6f} by hand")
assert abs(sliding.q[-1, 0] - expected) < 1e-5

# pulled up by a force that grows: it breaks away when the force beats friction and weight together
growing = cr.Samples([0.0, 10.0], [[0.0], [30.0]])
robot = slope(10.0)
pulled = robot.simulate([0.0], None, 10.0, growing)
away = pulled.t[np.argmax(pulled.qd[:, 0] > 0)]
needed = mass * 9.81 * (np.sin(np.radians(10)) + coefficient * np.cos(np.radians(10)))
print(f"pulled up a slope of 10 degrees: breaks away at {growing(away)[0]:.3f} N, {needed:.3f} N by hand")
assert abs(growing(away)[0] - needed) < 0.01
