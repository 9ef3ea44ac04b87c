"""Arrays of other libraries in; tables of pandas and xarray out, with names and units, and in again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainrule as cr

ARM = cr.load("scara")
MOTION = ARM.simulate([0.1, 0.2, -0.1, 0.3], [1.0, 0.0, 0.0, 0.5], 0.01, dt=1e-3)
Q = np.array([0.1, 0.2, -0.1, 0.3])


class Foreign:
    """An array of another library that NumPy reads by a protocol."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values


class WithArray(Foreign):
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._values


class WithDLPack(Foreign):
    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()


class Tensor(Foreign):
    """As a tensor of Torch that requires gradients."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


@pytest.mark.parametrize("kind", [WithArray, WithDLPack])
def test_foreign_arrays_go_in(kind: type[Foreign]) -> None:
    states = np.stack([Q, 2 * Q])
    assert np.array_equal(ARM.gravity_torque(kind(states)), ARM.gravity_torque(states))
    assert np.array_equal(ARM.gravity_torque(kind(Q.astype(np.float32))), ARM.gravity_torque(Q.astype(np.float32)))


def test_a_tensor_with_gradients_is_refused_with_what_to_do() -> None:
    with pytest.raises(cr.ShapeError, match=r"got Tensor: Can't call numpy\(\).*detach\(\)"):
        ARM.gravity_torque(Tensor(Q))


def test_a_trajectory_as_a_data_frame() -> None:
    pytest.importorskip("pandas")
    frame = MOTION.to_pandas()
    assert frame.index.name == "t"
    assert np.array_equal(frame.index, MOTION.t)
    assert np.array_equal(frame["tau.joint3"], MOTION.tau[:, 2])
    units = frame.attrs["units"]
    assert set(units) == set(frame.columns)
    assert [units[f"{kind}.joint3"] for kind in ("q", "qd", "qdd", "tau")] == ["m", "m/s", "m/s^2", "N"]
    assert units["qd.joint1"] == "rad/s"
    q = MOTION.to_pandas("q")[["joint4", "joint1", "joint3", "joint2"]]
    assert np.array_equal(ARM.gravity_torque(q), ARM.gravity_torque(MOTION.q))
    with pytest.raises(cr.UnknownNameError, match="to_pandas has no array named 'x'"):
        MOTION.to_pandas("x")
    many = ARM.simulate(np.stack([Q, Q]), None, 0.002)
    with pytest.raises(cr.ShapeError, match=r"a batch of shape \(2,\) is no table; take one motion"):
        many.to_pandas()


def test_a_trajectory_as_a_dataset() -> None:
    pytest.importorskip("xarray")
    data = MOTION.to_xarray()
    assert data.q.dims == ("time", "coordinate")
    assert data.coordinate_unit.values.tolist() == ["rad", "rad", "m", "rad"]
    assert np.array_equal(ARM.bias(data.q, data.qd), ARM.bias(MOTION.q, MOTION.qd))
    assert data.sel(joint="joint3").tau.shape == (len(MOTION),)
    many = ARM.simulate(np.stack([Q, Q]), None, 0.002).to_xarray()
    assert many.qd.dims == ("batch", "time", "joint")


def test_a_floating_robot_has_coordinates_and_joints() -> None:
    pytest.importorskip("xarray")
    robot = cr.load("ur5").floating()
    motion = robot.simulate(robot.home(), np.ones(robot.nv), 0.002)
    data = motion.to_xarray()
    assert data.coordinate.values.tolist() == list(robot.coordinate_names)
    assert np.array_equal(robot.bias(data.q, data.qd), robot.bias(motion.q, motion.qd))


def test_vectors_of_joints_as_tables() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    series = ARM.states.to_pandas(Q)
    assert isinstance(series, pandas.Series)
    assert np.array_equal(ARM.gravity_torque(series[::-1]), ARM.gravity_torque(Q))
    assert ARM.states.to_pandas(np.stack([Q, Q])).shape == (2, 4)
    terms = ARM.states.to_pandas(ARM.torque_terms(Q, Q, Q))
    assert terms.loc["joint3", "gravity"] == pytest.approx(ARM.gravity_torque(Q)[2])
    assert ARM.states.to_xarray(np.stack([Q, Q])).dims == ("batch", "joint")
    assert np.array_equal(ARM.gravity_torque(ARM.states.to_xarray(Q)[::-1]), ARM.gravity_torque(Q))
    with pytest.raises(cr.ShapeError, match=r"to_pandas: robot 'scara' has 4 coordinates .* the last dimension is 3"):
        ARM.states.to_pandas([1.0, 2.0, 3.0])
    with pytest.raises(cr.ShapeError, match="takes a dictionary of arrays"):
        ARM.states.to_pandas({"a": np.zeros((2, 4))})


def test_tables_of_results() -> None:
    pytest.importorskip("pandas")
    limits = ARM.limits.to_pandas()
    assert limits.loc["joint3", "upper"] == ARM.limits.upper[2]
    assert limits.attrs["units"]["effort"] == "N m or N"
    table = ARM.textbook.newton_euler_table(Q, Q, Q)
    frame = table.to_pandas()
    assert np.array_equal(frame["omega.z"], table.omega[:, 2])
    assert frame.attrs["units"]["F.x"] == table.units["F"]
    with pytest.raises(cr.ShapeError, match=r"a batch of shape \(2,\) is no table; take one state"):
        ARM.textbook.newton_euler_table(np.stack([Q, Q]), Q, Q).to_pandas()
    cloud = ARM.workspace(10)
    assert cloud.to_pandas()["position.x"].tolist() == cloud.position[:, 0].tolist()
    assert cloud.to_pandas().attrs["units"]["q.joint3"] == "m"
