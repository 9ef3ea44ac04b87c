"""Motions as messages of ROS 2, and as an MCAP file of them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import one_of
from chainrule.errors import ShapeError, import_optional
from chainrule.formats.arrays import write_whole

if TYPE_CHECKING:
    from chainrule.arguments import Array
    from chainrule.simulation.columns import MotionArrays

KINDS = ("JointState", "JointTrajectory")

TOPIC = "/joint_states"

Fields = dict[str, Any]
"""The fields of a message."""


def to_messages(motion: MotionArrays[Array], kind: str) -> list[Fields] | Fields:
    """The fields of sensor_msgs/JointState, one for each sample, or of one trajectory_msgs/JointTrajectory.

    As `rosidl_runtime_py.set_message_fields` takes them, and `ros2 topic pub` as YAML.
    """
    one_of(KINDS, kind, "kind", "to_messages")
    return _states(motion) if kind == "JointState" else _plan(motion)


def _states(motion: MotionArrays[Array]) -> list[Fields]:
    names, t, q, qd, _, effort = _samples(motion)
    return [
        {
            "header": {"stamp": _duration(t[k]), "frame_id": ""},
            "name": names, "position": q[k], "velocity": qd[k], "effort": effort[k],
        }
        for k in range(len(t))
    ]  # fmt: skip


def _plan(motion: MotionArrays[Array]) -> Fields:
    names, t, q, qd, qdd, effort = _samples(motion)
    points = [
        {
            "positions": q[k], "velocities": qd[k], "accelerations": qdd[k], "effort": effort[k],
            "time_from_start": _duration(t[k] - t[0]),
        }
        for k in range(len(t))
    ]  # fmt: skip
    return {"header": {"stamp": _duration(0), "frame_id": ""}, "joint_names": names, "points": points}


def _samples(motion: MotionArrays[Array]) -> tuple[Any, ...]:
    """Names of joints, times in ns, and lists of q, qd, qdd and torques, empty ones where these are not known."""
    layout = motion.robot.model.layout
    if layout.nq != layout.nv:
        raise ShapeError(
            f"to_messages: robot {motion.robot.name!r} has quaternions, which messages of joints do not hold; take the "
            "motion of the robot without its floating base"
        )
    if motion.batch:
        raise ShapeError(f"to_messages takes one motion, got a batch {motion.batch}; motion.row(0) is its first")
    effort = motion.tau if np.isfinite(motion.tau).all() else np.empty((len(motion), 0))
    columns = (x.tolist() for x in (motion.q, motion.qd, motion.qdd, effort))
    return list(layout.coordinate_names), [round(float(t) * 1e9) for t in motion.t], *columns


def _duration(nanoseconds: int) -> dict[str, int]:
    seconds, rest = divmod(nanoseconds, 10**9)
    return {"sec": seconds, "nanosec": rest}


def write_mcap(motion: MotionArrays[Array], path: str | PathLike[str]) -> None:
    """Write joint states on /joint_states."""
    bags = import_optional("rosbags.rosbag2", "an MCAP file")
    typesys = import_optional("rosbags.typesys", "an MCAP file")
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    names = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    state, header, time = (store.types[name] for name in names)
    messages = _states(motion)

    def write_to(path: Path) -> None:
        with TemporaryDirectory(dir=path.parent) as folder:
            bag = Path(folder) / "bag"
            with bags.Writer(bag, version=9, storage_plugin=bags.StoragePlugin.MCAP) as writer:
                connection = writer.add_connection(TOPIC, state.__msgtype__, typestore=store)
                for fields in messages:
                    stamp = time(**fields["header"]["stamp"])
                    numbers = (np.array(fields[name]) for name in ("position", "velocity", "effort"))
                    message = state(header(stamp, ""), fields["name"], *numbers)
                    raw = store.serialize_cdr(message, state.__msgtype__)
                    writer.write(connection, stamp.sec * 10**9 + stamp.nanosec, raw)
            next(bag.glob("*.mcap")).replace(path)

    write_whole(path, write_to)
