"""A bad DH table or list of screws is refused by name."""

import math

import numpy as np
import pytest
from refusals import refused

from chainrule import FormatError, ModelError, Robot, Screw, ShapeError, UnknownNameError

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

NAN, INF = math.nan, math.inf


def dh(rows=((1, 0, 0, 0), (1, 0, 0, 0)), **options):
    return Robot.from_dh(rows, **{"convention": "standard", "masses": [1, 1], "inertias": [[1, 1, 1]] * 2, **options})


TABLES = [
    ("no rows", lambda: Robot.from_dh([], convention="standard"), FormatError, r"the DH table has no rows"),
    ("rows none", lambda: dh(None), ShapeError, r"rows must be a list, got NoneType"),
    ("row scalar", lambda: dh([1, 2]), ShapeError, r"DH row 1 must be a list, got int"),
    ("row of three", lambda: dh([(1, 0, 0), (1, 0, 0)]), ShapeError, r"row 1 must have 4 numbers \(a, alpha, d, theta\), got 3"),
    ("row word", lambda: dh([(1, 0, 0, 0), (1, "0", 0, 0)]), ShapeError, r"DH row 2: alpha must be real numbers, got str"),
    ("row nan", lambda: dh([(1, 0, NAN, 0)] * 2), ShapeError, r"DH row 1: d must be finite"),
    ("row key", lambda: dh([{"alpah": 0}] * 2), UnknownNameError, r"no column named 'alpah'; did you mean 'alpha'"),
    ("row keys missing", lambda: dh([{"a": 1, "alpha": 0}] * 2), ShapeError, r"DH row 1 has no d, theta; give it all"),
    ("convention", lambda: dh(convention="std"), FormatError, r"'standard' or 'modified' .Craig., got 'std'"),
    ("types short", lambda: dh(types="R"), ShapeError, r"types must have a letter for each of the 2 rows, got 1"),
    ("types unknown", lambda: dh(types="RX"), FormatError, r"'R' \(revolute\) or 'P' \(prismatic\), got 'RX'"),
    ("types empty", lambda: dh(types=["", ""]), FormatError, r"'R' \(revolute\) or 'P'"),
    ("types words", lambda: dh(types=["Rubbish", "P"]), FormatError, r"got \['Rubbish', 'P'\]"),
    ("columns", lambda: dh(columns="a"), FormatError, r"columns must be a, alpha, d and theta in some order"),
    ("masses short", lambda: dh(masses=[1]), ShapeError, r"masses must have 2 numbers, one for each joint"),
    ("rotors long", lambda: dh(rotors=[1] * 3), ShapeError, r"rotors must have 2 numbers, one for each joint"),
    ("inertias alone", lambda: dh(masses=None), ShapeError, r"coms and inertias need masses too; give masses="),
    ("inertias scalar", lambda: dh(inertias=5), ShapeError, r"inertias must be a list, got int"),
    ("mass negative", lambda: dh(masses=[1, -1]), ModelError, r"link 'link2' has a negative mass, -1 kg"),
    ("rotor nan", lambda: dh(rotors=[NAN, 1]), ModelError, r"joint 'joint1': rotor must be finite numbers, got nan"),
    ("rotor without gear", lambda: dh(rotors=[1, 1], gears=[0, 1]), ModelError, r"rotor behind a gear of ratio 0.*1 for a"),
    ("limit nan", lambda: dh(lower=[NAN, 0]), ModelError, r"joint 'joint1': lower must be a number, got nan; leave it out"),
    ("limit infinite", lambda: dh(lower=[INF, 0]), ModelError, r"limits inf and inf leave no position"),
    ("limits crossed", lambda: dh(lower=[1, 1], upper=[0, 2]), ModelError, r"lower limit 1.0 is above .* 0.0; swap them"),
    ("friction negative", lambda: dh(viscous=[-1, 1]), ModelError, r"joint 'joint1': viscous must not be negative, got -1"),
    ("tool", lambda: dh(tool=np.eye(3)), ShapeError, r"tool must be a 4-by-4"),
    ("name", lambda: dh(name=5), ModelError, r"a robot has no name but 5"),
    ("too large", lambda: dh(masses=[1e308] * 2, coms=[[1e10, 0, 0]] * 2), ModelError, r"link 'link1'.*must be finite"),
    ("too large together", lambda: dh([(1e160, 0, 0, 0)] * 2, inertias=None), ModelError, r"far too large"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), [c[1:] for c in TABLES], ids=[c[0] for c in TABLES])
def test_a_bad_dh_table_is_refused_by_name(call, error, pattern):
    refused(call, error, pattern)


HOME = np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
SCREWS = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0.0]]).T
G = np.eye(6)


def changed(matrix, *entries):
    matrix = np.array(matrix, dtype=float)
    for i, j, value in entries:
        matrix[i, j] = value
    return matrix


SIX = np.array(
    [
        [0, 0, 1, 0, 0, 0],
        [0, 1, 0, -1, 0, 0],
        [0, 1, 0, -1, 0, 1],
        [0, 1, 0, -1, 0, 2],
        [0, 0, 1, 0, -1, 0],
        [0, 1, 0, 1, 0, 2.0],
    ]
).T


def screws(**options):
    return Robot.from_screws(**{"home": HOME, "screws": SCREWS, "inertias": [G, G], **options})


MOMENT_ONLY = changed(np.diag([1, 1, 1, 0, 0, 0]), (2, 4, 1), (4, 2, 1), (1, 5, -1), (5, 1, -1))

SCREW_TABLES = [
    ("transposed", lambda: screws(screws=SCREWS.T), ShapeError, r"shape \(6, n\), .*got \(2, 6\); it looks transposed"),
    ("flat", lambda: screws(screws=SCREWS[:, 0]), ShapeError, r"screws must have shape \(6, n\)"),
    ("zero", lambda: screws(screws=SCREWS * [0, 1]), ModelError, r"screws: column 0 is zero; a joint needs an axis"),
    ("tiny", lambda: screws(screws=SCREWS * 1e-200, normalize=True), ModelError, r"screws: column 0 is zero"),
    ("long axis", lambda: screws(screws=SCREWS * [1, 2]), ModelError, r"part of column 1 has length 2, and not 1; pass normalize=True"),
    ("six lists", lambda: Robot.from_screws(home=HOME, screws=SIX.T.tolist()), ShapeError, r"a list of six lists, each of which could be a screw"),
    ("nan", lambda: screws(screws=SCREWS * NAN), ShapeError, r"screws must be finite"),
    ("home scaled", lambda: screws(home=2 * HOME), ShapeError, r"home is not a rigid transform.*orthonormal"),
    ("home mirrored", lambda: screws(home=np.diag([1, 1, -1, 1])), ShapeError, r"home is not .*mirrors"),
    ("home none", lambda: screws(home=None), ShapeError, r"home must be real numbers, got NoneType"),
    ("frames short", lambda: screws(frames=[HOME]), ShapeError, r"frames must have 3 transforms, M01 to M2,3.*got 1"),
    ("frames scalar", lambda: screws(frames=5), ShapeError, r"frames must be a list, got int"),
    ("frames none", lambda: screws(frames=[HOME, None]), ShapeError, r"frames\[1\] must be real numbers, got NoneType"),
    ("frames astray", lambda: screws(frames=[np.eye(4)] * 3), ModelError, r"home and the product of the frames differ by 2"),
    ("G short", lambda: screws(inertias=[G]), ShapeError, r"6-by-6 matrix for each of the 2 screws, got 1"),
    ("G 3 by 3", lambda: screws(inertias=[np.eye(3), G]), ShapeError, r"inertias\[0\] must be a 6-by-6"),
    ("G two masses", lambda: screws(inertias=[changed(G, (3, 3, 5)), G]), ModelError, r"inertias\[0\] is not a spatial inertia"),
    ("G asymmetric", lambda: screws(inertias=[G, changed(G, (0, 1, 0.5))]), ModelError, r"inertias\[1\] is not a spatial"),
    ("G negative", lambda: screws(inertias=[-G, G]), ModelError, r"link 'link1' has a negative mass"),
    ("G moment without mass", lambda: screws(inertias=[MOMENT_ONLY, G]), ModelError, r"inertias\[0\] has a first moment .*no mass"),
    ("axes", lambda: screws(axes="tool"), FormatError, r"axes must be 'space' or 'body', got 'tool'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "pattern"), [c[1:] for c in SCREW_TABLES], ids=[c[0] for c in SCREW_TABLES])
def test_a_bad_list_of_screws_is_refused_by_name(call, error, pattern):
    refused(call, error, pattern)


def test_six_screws_as_an_array_are_columns():
    six = Robot.from_screws(home=np.eye(4), screws=SIX, check=False)
    assert six.nv == 6
    assert six == Robot.from_screws(home=np.eye(4), screws=SIX.tolist(), check=False)  # whose rows could be no screws


def test_a_screw_of_any_length_is_scaled_or_taken_as_given_on_request():
    long = SIX[:, :1] * 2
    scaled, given = (Robot.from_screws(home=np.eye(4), screws=long, normalize=n, check=False) for n in (True, False))
    np.testing.assert_allclose(given.pose([0.25]), scaled.pose([0.5]), atol=1e-15)
    rounded = Robot.from_screws(home=np.eye(4), screws=[[0.7071], [0.7071], [0], [0], [0], [0]], check=False)
    np.testing.assert_allclose(rounded.pose([np.pi])[:3, :3] @ [1, 1, 0], [1, 1, 0], atol=1e-15)


@pytest.mark.parametrize("make", [Screw.revolute, Screw.prismatic, lambda axis: Screw.helical(axis, None, 0.1)])
def test_axes_of_screws_have_length_one(make):
    refused(lambda: make((0, 0, 2.0)), ModelError, "must have length 1, got 2")
    refused(lambda: make((0, 0, 0)), ModelError, "must have length 1, got 0")
    assert make((0.6, 0, 0.8)).motion == make((0.6, 0, 0.8)).motion


def test_a_last_row_off_by_rounding_is_a_homogeneous_matrix():
    home = np.eye(4)
    home[3, 0] = 1e-16
    assert Robot.from_screws(home=home, screws=SIX, check=False) == Robot.from_screws(
        home=np.eye(4), screws=SIX, check=False
    )
    home[3, 0] = 1e-9
    refused(lambda: Robot.from_screws(home=home, screws=SIX), ShapeError, "last")
