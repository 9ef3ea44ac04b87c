"""Recordings of ROS: bags of both versions, and MCAP files, read by the package rosbags."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from chainrule.errors import FormatError, ShapeError, UnknownNameError, import_optional, quoted
from chainrule.motion.tables import RecordedTable, table_of
from chainrule.simulation.assumptions import Assumption

SUFFIXES = (".mcap", ".bag", ".db3")
"""Endings of bags; a bag of ROS 2 may be a folder with a metadata.yaml too."""

JOINT_STATES = ("sensor_msgs/msg/JointState",)
PLANS = ("trajectory_msgs/msg/JointTrajectory",)
"""Types of messages that hold positions of joints, in the words of ROS 2."""


def is_bag(path: Path) -> bool:
    """Whether a path is that of a bag."""
    return path.suffix.lower() in SUFFIXES or (path / "metadata.yaml").is_file()


def read_bag(path: Path, topic: str | None) -> RecordedTable:
    """The positions of joints on a topic: all messages of joint states, or the one plan."""
    reader = import_optional("rosbags.highlevel", "a bag of ROS").AnyReader
    typesys = import_optional("rosbags.typesys", "a bag of ROS")
    try:
        with reader([path], default_typestore=typesys.get_typestore(typesys.Stores.LATEST)) as bag:
            chosen = _choose_topic(path, topic, bag.connections)
            own = [c for c in bag.connections if c.topic == chosen]
            messages, logged = [], []
            for connection, stamp, raw in bag.messages(connections=own):
                messages.append(bag.deserialize(raw, connection.msgtype))
                logged.append(stamp)
            kind = own[0].msgtype
    except (ShapeError, UnknownNameError):
        raise
    except Exception as error:  # rosbags has errors of its own for each format, and those of what it reads with
        raise FormatError(f"{path.name!r} cannot be read as a bag: {type(error).__name__}: {error}") from error
    facts: tuple[Assumption, ...] = (
        Assumption("topic", f"{chosen!r}, {len(messages)} messages of {kind}", "" if topic else "the only one"),
    )
    if kind in PLANS:
        if len(messages) != 1:
            raise ShapeError(
                f"topic {chosen!r} of {path.name!r} has {len(messages)} plans, and a motion is one; pass the message "
                "itself to Trajectory.load"
            )
        return _with_facts(table_of(messages[0]), facts)
    if not any(message.header.stamp.sec or message.header.stamp.nanosec for message in messages):
        for message, stamp in zip(messages, logged, strict=True):
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        facts += (Assumption("times", "those of recording", "the headers have none"),)
    return _with_facts(table_of(messages), facts)


def _choose_topic(path: Path, topic: str | None, connections: Iterable[Any]) -> str:
    """The topic that is meant, or the only one with positions of joints."""
    kinds = {c.topic: c.msgtype for c in connections}
    known = [name for name, kind in kinds.items() if kind in (*JOINT_STATES, *PLANS)]
    if topic is None:
        if len(known) != 1:
            there = f"it has {quoted(known)}; say which, with topic=..." if known else f"its topics are {quoted(kinds)}"
            raise ShapeError(f"{path.name!r} has no single topic of joint states or joint trajectories: {there}")
        return known[0]
    if topic not in kinds:
        raise UnknownNameError.of("topic", topic, list(kinds), path.name)
    if topic not in known:
        raise ShapeError(
            f"topic {topic!r} of {path.name!r} has messages of {kinds[topic]}; positions of joints are in "
            f"{quoted((*JOINT_STATES, *PLANS))}" + (f", here on {quoted(known)}" if known else "")
        )
    return topic


def _with_facts(table: RecordedTable, facts: tuple[Assumption, ...]) -> RecordedTable:
    return RecordedTable(table.columns, table.units, assumptions=facts)
