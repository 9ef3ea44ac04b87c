"""What a robot weighs, from its torques: data of an arm, the regressor, least squares on base parameters."""

import numpy as np

import chainrule as cr

rng = np.random.default_rng(0)
arm = cr.load("puma560")

# the real arm: heavier than its data sheet says, with a tool in its hand and friction in its joints
real = (
    arm.scale_masses(1.2).with_payload(1.5, com=(0.02, 0.0, 0.08)).edit(joints={"*": {"viscous": 2.0, "coulomb": 1.5}})
)


def recorded(seconds, rate=100.0):
    """A rich motion of the real arm, sums of a few sines, with the noise of its sensors."""
    t = np.arange(0.0, seconds, 1 / rate)[:, None]
    amplitude, phase = rng.uniform(0.1, 0.5, (2, 5, arm.nv))
    w = 2 * np.pi * np.arange(1, 6)[:, None] / 5
    q, qd, qdd = (
        sum(amplitude[k] * w[k] ** order * np.sin(w[k] * t + phase[k] + order * np.pi / 2) for k in range(5))
        for order in range(3)
    )
    tau = real.inverse_dynamics(q, qd, qdd)
    return q, qd + rng.normal(0, 1e-3, q.shape), qdd + rng.normal(0, 2e-2, q.shape), tau + rng.normal(0, 0.2, q.shape)


# 1. the combinations of parameters that torques depend on
base = arm.parameters.base()
columns = list(base.columns)
print(f"{len(arm.parameters.values)} parameters, {len(columns)} base parameters; those of the forearm:")
for name, value in zip(base.names, base.values, strict=True):
    if name.startswith("link3"):
        print(f"  {name} = {value:.4f}")

# 2. least squares, each joint weighed by the noise that was left in its torques
q, qd, qdd, tau = recorded(20.0)
Y = arm.parameters.regressor(q, qd, qdd)[..., columns]
weight = np.ones(arm.nv)
for _ in range(2):
    A, b = (Y * weight[:, None]).reshape(-1, len(columns)), (tau * weight).ravel()
    found, *_ = np.linalg.lstsq(A, b, rcond=None)
    weight = 1 / (tau - Y @ found).std(axis=0)
print(f"condition number of the motion: {np.linalg.cond(A / np.linalg.norm(A, axis=0)):.0f}")

# 3. another motion: torques of the data sheet and of the fit, beside those that were measured
q, qd, qdd, tau = recorded(5.0)
fitted = arm.parameters.regressor(q, qd, qdd)[..., columns] @ found
errors = {"data sheet": arm.inverse_dynamics(q, qd, qdd) - tau, "identified": fitted - tau}
print("error of predicted torques, rms in N m:")
for label, error in errors.items():
    print(f"  {label:11}" + "".join(f"{x:8.3f}" for x in np.sqrt((error**2).mean(axis=0))))

# 4. a robot that has the identified parameters, as near to the data sheet as they allow
identified = arm.parameters.with_values(base.parameters(found), check=False)
assert np.allclose(identified.inverse_dynamics(q, qd, qdd), fitted, atol=1e-6)
assert np.sqrt((errors["identified"] ** 2).mean()) < 0.4
