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
    from chainrule.simulation.trajectory import Trajectory

KINDS = ("JointState", "JointTrajectory")

TOPIC = "/joint_states"

Messages = list[dict[str, Any]] | dict[str, Any]


def to_messages(motion: Trajectory, kind: str) -> Messages:
    """The fields of sensor_msgs/JointState, one for each sample, or of one trajectory_msgs/JointTrajectory.

    As `rosidl_runtime_py.set_message_fields` takes them, and `ros2 topic pub` as YAML.
    """
    one_of(KINDS, kind, "kind", "to_messages")
    layout = motion.robot.model.layout
    if layout.nq != layout.nv:
        raise ShapeError(
            f"to_messages: robot {motion.robot.name!r} has quaternions, which messages of joints do not hold; take the "
            "motion of the robot without its floating base"
        )
    if motion.batch:
        raise ShapeError(f"to_messages takes one motion, got a batch {motion.batch}; motion.row(0) is its first")
    names = list(layout.joint_names)
    q, qd, qdd, tau = (np.nan_to_num(x).tolist() for x in (motion.q, motion.qd, motion.qdd, motion.tau))
    known = bool(np.isfinite(motion.tau).all())
    effort = tau if known else [[] for _ in tau]
    nanoseconds = [round(float(t) * 1e9) for t in motion.t]
    if kind == "JointState":
        return [
            {
                "header": {"stamp": _duration(t), "frame_id": ""},
                "name": names, "position": q[k], "velocity": qd[k], "effort": effort[k],
            }
            for k, t in enumerate(nanoseconds)
        ]  # fmt: skip
    points = [
        {
            "positions": q[k], "velocities": qd[k], "accelerations": qdd[k], "effort": effort[k],
            "time_from_start": _duration(t - nanoseconds[0]),
        }
        for k, t in enumerate(nanoseconds)
    ]  # fmt: skip
    return {"header": {"stamp": _duration(0), "frame_id": ""}, "joint_names": names, "points": points}


def _duration(nanoseconds: int) -> dict[str, int]:
    seconds, rest = divmod(nanoseconds, 10**9)
    return {"sec": seconds, "nanosec": rest}


def write_mcap(motion: Trajectory, path: str | PathLike[str]) -> None:
    """Write joint states on /joint_states."""
    bags = import_optional("rosbags.rosbag2", "an MCAP file")
    typesys = import_optional("rosbags.typesys", "an MCAP file")
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    names = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    state, header, time = (store.types[name] for name in names)
    messages = to_messages(motion, "JointState")

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
