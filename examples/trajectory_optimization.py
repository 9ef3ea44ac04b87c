"""Two motions found by optimization: the swing-up of a weak arm, and a reach in the least time.

IPOPT, which CasADi brings along, chooses torques at the ends of intervals; the exact equations of motion and their
derivatives come from `robot.casadi`. The result is checked by simulation.
"""

import casadi
import numpy as np

import chainrule as cr

QUIET = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}


def optimize(robot, start, goal, intervals, duration, torque_limit, swings=0):
    """Torques (intervals + 1, n) and states of a motion from rest to rest; the shortest if no duration is given."""
    n = robot.nv
    dynamics = robot.casadi.function("forward_dynamics")
    opti = casadi.Opti()
    q, qd, tau = (opti.variable(n, intervals + 1) for _ in range(3))
    T = opti.variable() if duration is None else duration
    h = T / intervals
    qdd = dynamics.map(intervals + 1)(q, qd, tau)
    opti.subject_to(q[:, 1:] == q[:, :-1] + h / 2 * (qd[:, 1:] + qd[:, :-1]))  # trapezoidal rule
    opti.subject_to(qd[:, 1:] == qd[:, :-1] + h / 2 * (qdd[:, 1:] + qdd[:, :-1]))
    opti.subject_to(opti.bounded(-torque_limit, casadi.vec(tau), torque_limit))
    for k, place in ((0, start), (intervals, goal)):
        opti.subject_to(q[:, k] == place)
        opti.subject_to(qd[:, k] == 0)
    if duration is None:
        opti.subject_to(opti.bounded(0.1, T, 10.0))
        opti.set_initial(T, 1.0)
        opti.minimize(T)
    else:
        opti.minimize(h * casadi.sumsqr(tau))
    x = np.linspace(0, 1, intervals + 1)[:, None]  # the first guess: straight, or in growing swings
    opti.set_initial(q, (start + (goal - start) * x ** (1 + bool(swings)) * np.cos(2 * np.pi * swings * (1 - x))).T)
    opti.solver("ipopt", QUIET)
    solution = opti.solve()
    value = lambda x: np.atleast_2d(solution.value(x)).reshape(n, -1).T  # noqa: E731
    return float(solution.value(T)) if duration is None else duration, value(tau), value(q)


def replay(robot, start, duration, tau):
    """The end of the simulated motion under these torques."""
    times = np.linspace(0, duration, len(tau))
    return robot.simulate(start, None, duration, (times, tau), dt=duration / 2000, torque_limits=False).q[-1]


# 1. A pendulum whose motor cannot lift it: it must swing.
pendulum = cr.load("pendulum")
angles = np.linspace(-np.pi, np.pi, 9)[:, None]
holds = abs(pendulum.gravity_torque(angles)).max()
hanging = float(angles[np.argmin(pendulum.potential_energy(angles)), 0])
down, up = np.array([hanging]), np.array([hanging + np.pi])
T, tau, q = optimize(pendulum, down, up, 100, 5.0, 0.4 * holds, swings=3)
end = replay(pendulum, down, T, tau)
print(f"swing-up with {0.4 * holds:.2f} N m, where lifting takes {holds:.2f} N m: {len(tau)} torques over {T:.1f} s")
print(
    f"  largest torque {abs(tau).max():.2f} N m; simulated, it ends {np.degrees(end - up)[0]:.1f} degrees off the top"
)
assert abs(end - up).max() < 0.1

# 2. A two-joint arm, from place to place in the least time that its motors allow.
arm = cr.load("planar_2r")
start, goal, limit = np.array([-np.pi / 2, 0.0]), np.array([0.3, 0.8]), 60.0
T, tau, q = optimize(arm, start, goal, 60, None, limit)
end = replay(arm, start, T, tau)
share = np.mean(abs(tau).max(axis=1) > 0.95 * limit)
print(f"time-optimal reach: {T:.3f} s; a motor is at its limit in {share:.0%} of the time")
print(f"  simulated, it ends {np.degrees(end - goal).round(2)} degrees from the goal")
assert abs(end - goal).max() < 0.1
