"""Derivatives of motions on a graphics processor: the motion by one kernel, its adjoint by another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.cuda import device_arrays
from chainrule.compile.cuda.scan import CudaAdjoint, DeviceRows, pointer_of
from chainrule.compile.runtime import memory_cache
from chainrule.errors import ShapeError
from chainrule.lazy import cached_property
from chainrule.simulation.device import DeviceRun, DeviceStart, refuse_on_device
from chainrule.simulation.device_checks import Severity
from chainrule.simulation.integrators import FixedStep
from chainrule.simulation.motion_derivatives import Sensitivities
from chainrule.simulation.request import SimulationRequest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class DeviceSensitivities(Sensitivities):
    """A motion on a device, and its adjoint there.

    With starts on the device, states and gradients are arrays there; else they come back as arrays of NumPy.
    """

    def __init__(self, request: SimulationRequest, integrator: FixedStep, start: DeviceStart, device: int) -> None:
        super().__init__(request, integrator)
        refuse_on_device(request, integrator)
        if start.is_users and (self.robot.model.quaternions or self._is_sampled):
            what = "quaternions" if self.robot.model.quaternions else "a torque given by samples"
            raise ShapeError(
                f"sensitivities: gradients with {what} are put together on the CPU; give q0 and qd0 as arrays of "
                "NumPy, which are sent to the device"
            )
        self._start, self._device, self._library, self._bits = start, device, start.library, start.bits
        self._run = DeviceRun(request, integrator, start, device, states_only=True)

    @cached_property
    def _on_device(self) -> Any:
        """All states (..., T, size), on the device."""
        records, worst = self._run.run(1)
        if worst is not None and worst.severity >= Severity.DIVERGED:
            raise ShapeError("sensitivities: the motion diverges, or its start is not finite; take smaller steps (dt)")
        return records

    @property
    def q(self) -> Any:
        """Configurations (..., T, nq)."""
        return self._as_given(self._on_device)[..., : self.robot.nq]

    @property
    def qd(self) -> Any:
        """Velocities (..., T, n)."""
        return self._as_given(self._on_device)[..., self.robot.nq : self.robot.nq + self.robot.nv]

    def _as_given(self, array: Any) -> Any:
        """An array on the device as the user gets it: there, or here in float64."""
        if self._start.is_users:
            return self._library.result(array)
        return self._library.fetch(array).astype(float)

    def forward(self, wrt: Sequence[str] = ("q0", "qd0")) -> dict[str, tuple[Array, Array]]:
        """Refused: on a device there is the adjoint."""
        raise ShapeError("sensitivities: forward runs on the CPU; leave device out, or use adjoint")

    def adjoint(self, dq: ArrayLike | None = None, dqd: ArrayLike | None = None) -> dict[str, Any]:
        """The gradient of a number L, a function of the states, by name, as of the CPU.

        dq, dqd
            Derivatives of L with respect to coordinates (..., T, nq) and velocities (..., T, n): arrays of NumPy, or on
            the device.
        """
        rows, steps = len(self.request.start.q), len(self.t) - 1
        count, size, signals, _ = self._backward_lengths
        states = self._on_device
        self._run.keep.clear()  # what earlier calls have sent
        weights = [self._weights(dq, self.robot.nq, "dq"), self._weights(dqd, self.robot.nv, "dqd")]
        shapes = [(rows, size), (rows, count), (rows, steps, signals)]
        results = [
            device_arrays.empty(self._library, shape, self._bits, self._device, "sensitivities: the gradient")
            for shape in (shapes if self._is_sampled else shapes[:2])
        ]
        ahead = self._run.send_signals([self._signals]) if signals else DeviceRows(0, 0)
        pointers = [pointer_of(self._library, x) for x in (states, *results)] + [0] * (3 - len(results))
        arguments = [
            steps, pointers[0], *(pointer for pointer, _ in weights), *ahead, *pointers[1:],
            *self._run.parameters(self.h),
        ]  # fmt: skip
        self._kernel()(rows, arguments, self._device, self._library.stream(self._device))
        if self._start.is_users:
            return self._slices(results)
        start, numbers, *stages = (self._library.fetch(x).astype(float) for x in results)
        return self._gradients(start, numbers, stages[0] if stages else np.zeros((rows, steps, 0)))

    def _kernel(self) -> CudaAdjoint:
        run = self._run
        key = (*self._key("device adjoint"), self._bits, run.is_shared)

        def build() -> CudaAdjoint:
            places = (self.robot.nq, self.robot.nv)
            name = self.robot.name
            return CudaAdjoint(self._gradient_body, self._backward_lengths, places, self._bits, run.is_shared, name)

        return memory_cache.get_or_build(key, build)

    def _slices(self, results: Sequence[Any]) -> dict[str, Any]:
        """Gradients by name, as parts of the arrays on the device."""
        nq, n = self.robot.nq, self.robot.nv
        start, numbers = (self._library.result(x.reshape((*self.batch, x.shape[-1]))) for x in results)
        found = {"q0": start[..., :nq], "qd0": start[..., nq : nq + n]}
        return found | {name: numbers[..., places] for name, places in self._parts.items()}

    def _weights(self, value: Any, length: int, name: str) -> tuple[int, Any]:
        """The address of weights of all states, 0 where there are none, and the array that keeps them."""
        if value is None:
            return 0, None
        shape = (*self.batch, len(self.t), length)
        if not device_arrays.is_on_device(value):
            weights = self._read_weights(value, length, name)
            return self._run.send(weights, 0).pointer, None
        array = device_arrays.read(value, f"adjoint: {name}")
        if array.shape != shape or not array.is_contiguous:
            raise ShapeError(
                f"adjoint: {name} must be contiguous and have the shape {shape} of the motion, got {array.shape}"
            )
        if array.bits != self._bits or array.device != self._device:
            raise ShapeError(
                f"adjoint: {name} must be of type float{self._bits} on CUDA device {self._device}, got "
                f"float{array.bits} on device {array.device}"
            )
        return array.pointer, value
