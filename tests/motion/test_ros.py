"""Recordings of ROS: bags and MCAP files written by rosbags itself, and messages in and out."""

import numpy as np
import pytest

import chainrule as cr

pytest.importorskip("rosbags")
from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_typestore

ARM = cr.load("planar_2r")
T = np.arange(0.0, 0.5, 0.01)
Q = np.stack([np.sin(T), np.cos(2 * T)], axis=-1)


def messages(store, names=("joint1", "joint2"), stamped=True):
    state, header, time = (
        store.types[name]
        for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    for t, q in zip(T, Q, strict=True):
        nanoseconds = round(t * 1e9) + 5 * 10**9
        stamp = time(*divmod(nanoseconds, 10**9)) if stamped else time(0, 0)
        head = header(stamp=stamp, frame_id="", **({"seq": 0} if "seq" in header.__annotations__ else {}))
        yield nanoseconds, state(head, list(names), q, np.zeros(0), np.zeros(0))


def fill(writer, store, topics, encode, **options):
    for topic in topics:
        connection = writer.add_connection(topic, "sensor_msgs/msg/JointState", typestore=store)
        for nanoseconds, message in messages(store, **options):
            writer.write(connection, nanoseconds, encode(message, "sensor_msgs/msg/JointState"))


def write_ros2(path, plugin, topics=("/joint_states",), **options):
    store = get_typestore(Stores.ROS2_JAZZY)
    with rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        fill(writer, store, topics, store.serialize_cdr, **options)
    return path


def read(path, **options):
    return cr.Trajectory.load(path, ARM, smoothing=None, **options)


@pytest.mark.parametrize("plugin", list(rosbag2.StoragePlugin))
def test_a_bag_of_ros2_is_read_as_a_folder_and_as_its_file(tmp_path, plugin):
    folder = write_ros2(tmp_path / "bag", plugin)
    (file,) = (path for path in folder.iterdir() if path.suffix in (".mcap", ".db3"))
    for path in (folder, file) if file.suffix == ".mcap" else (folder,):
        motion = read(path)
        np.testing.assert_allclose(motion.q, Q, atol=1e-12)
        np.testing.assert_allclose(motion.t, T, atol=1e-9)
        assert motion.assumptions[0].value == "'/joint_states', 50 messages of sensor_msgs/msg/JointState"


def test_a_bag_of_ros1_is_read(tmp_path):
    store = get_typestore(Stores.ROS1_NOETIC)
    with rosbag1.Writer(tmp_path / "run.bag") as writer:
        fill(writer, store, ["/joint_states"], store.serialize_ros1)
    np.testing.assert_allclose(read(tmp_path / "run.bag").q, Q, atol=1e-12)


def test_messages_without_times_have_those_of_their_recording(tmp_path):
    motion = read(write_ros2(tmp_path / "bag", rosbag2.StoragePlugin.MCAP, stamped=False))
    np.testing.assert_allclose(motion.t, T, atol=1e-9)
    assert "the headers have none" in motion.notes[1]


def test_a_topic_is_chosen_or_asked_for(tmp_path):
    path = write_ros2(tmp_path / "bag", rosbag2.StoragePlugin.MCAP, ["/left", "/right"])
    assert len(read(path, topic="/left")) == 50
    with pytest.raises(cr.ShapeError, match="it has '/left', '/right'; say which"):
        read(path)
    with pytest.raises(cr.UnknownNameError, match="/lift"):
        read(path, topic="/lift")


def test_a_motion_comes_back_from_the_mcap_file_that_it_was_saved_to(tmp_path):
    motion = ARM.simulate([0.1, 0.2], None, 0.2)
    motion.save(tmp_path / "run.mcap")
    assert [path.name for path in tmp_path.iterdir()] == ["run.mcap"]
    back = read(tmp_path / "run.mcap", topic="/joint_states")
    np.testing.assert_allclose(back.q, motion.q, atol=1e-12)


def test_a_damaged_bag_and_a_wrong_topic_are_refused(tmp_path):
    (tmp_path / "run.mcap").write_bytes(b"no bag at all")
    with pytest.raises(cr.FormatError, match="cannot be read as a bag"):
        read(tmp_path / "run.mcap")
    (tmp_path / "run.csv").write_text("t,joint1,joint2\n0,1,2\n")
    with pytest.raises(cr.ShapeError, match="topic is of a bag"):
        read(tmp_path / "run.csv", topic="/joint_states")
    with pytest.raises(cr.FormatError, match="there is no file"):
        read(tmp_path / "none.mcap")
