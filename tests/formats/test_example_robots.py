"""Every URDF of example-robot-data that Pinocchio, Drake or MuJoCo loads is loaded, and agrees with Pinocchio."""

import warnings

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from peers import Pinocchio, pin, robots_folder, stripped

import chainrule as cr

FILES = {str(path.relative_to(robots_folder())): path for path in sorted(robots_folder().rglob("*.urdf"))}


def load(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", cr.ModelWarning)
        robot = cr.load(path, **options)
    told = [str(warning.message) for warning in caught if issubclass(warning.category, cr.ModelWarning)]
    return robot, told


def loads_in_pinocchio(path):
    try:
        pin.buildModelFromUrdf(str(path))
    except ValueError:
        return False
    return True


def loads_in_mujoco(path):
    """Whether MuJoCo finds a robot there; it takes a file without links for an empty world."""
    try:
        return mujoco.MjModel.from_xml_string(stripped(path, for_mujoco=True)).nbody > 1
    except ValueError:
        return False


def loads_in_drake(path):
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    try:
        parsing.Parser(plant).AddModelsFromString(stripped(path), "urdf")
        plant.Finalize()
    except RuntimeError:
        return False
    return True


def refused_here(floating):
    refused = {}
    for name, path in FILES.items():
        try:
            load(path, floating_base=floating)
        except cr.ChainruleError as error:
            refused[name] = str(error)
    return refused


def test_there_are_enough_files():
    assert len(FILES) >= 77


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("loads", [loads_in_pinocchio, loads_in_mujoco, loads_in_drake])
def test_no_file_that_a_peer_loads_is_refused(loads, floating, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log behind
    refused = refused_here(floating)
    assert {name: why for name, why in refused.items() if loads(FILES[name])} == {}
    assert len(refused) <= 2


def test_all_problems_of_a_file_are_in_one_warning():
    told = {name: load(path)[1] for name, path in FILES.items() if loads_in_pinocchio(path)}
    assert max(len(warning) for warning in told.values()) == 1
    assert sum(1 for warning in told.values() if warning) >= 13


SOUND = [name for name, path in FILES.items() if loads_in_pinocchio(path)]


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", SOUND)
def test_it_agrees_with_pinocchio(name, floating):
    robot, _ = load(FILES[name], floating_base=floating)
    robot = robot.without_friction().reference
    peer = Pinocchio(robot, FILES[name].read_text(), floating=floating)
    rng = np.random.default_rng(len(name))
    q, qd, qdd = robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    close(robot.inverse_dynamics(q, qd, qdd), peer.inverse_dynamics(q, qd, qdd))
    close(robot.mass_matrix(q), peer.mass_matrix(q))
    poses, theirs = robot.poses(q), peer.poses(q)
    assert theirs
    for link, T in theirs.items():
        close(poses[robot.link_names.index(link)], T)


def close(ours, theirs):
    """Equal to rounding."""
    assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10 * max(1e-6, np.abs(theirs).max(initial=0)))
