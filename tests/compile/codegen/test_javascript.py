"""Exported JavaScript, run in Chromium: the numbers of the robot, and names that are never code."""

import json
from dataclasses import replace

import numpy as np
import pytest
from chromium import chromium
from tiers import with_slow

import chainrule as cr
from chainrule.compile.backend import INTERPRETED
from chainrule.compile.codegen import javascript
from chainrule.compile.tape import OPERATIONS
from chainrule.core.evaluation import call_of
from chainrule.functions.table import FUNCTIONS
from compile.support import arguments_of, close

CALL = """async ([text, calls]) => {
  const module = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const results = calls.map(([name, args]) => Array.from(module[name](...args), String));
  return [results, module.about];
}"""
"""The numbers come back as texts, since JSON has no NaN."""

IN_EVERY_ROBOT = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", "jacobian", "torque_terms"]


@pytest.fixture(scope="module")
def page():
    with chromium() as browser:
        yield browser.new_page()


def numbers(page, path, calls):
    """The results of calls of a module, and its `about`."""
    lists = [(name, [np.asarray(a).tolist() for a in arguments]) for name, arguments in calls]
    results, about = page.evaluate(CALL, [path.read_text(), lists])
    return [np.array(result, dtype=float) for result in results], about


def compiled(robot, function, arguments):
    return robot.compiled.kernel(function)(*arguments)


def interpreted(robot, function, arguments):
    """The numbers of the reference path, for functions that LLVM would take minutes to compile."""
    return INTERPRETED.evaluate(call_of(robot, function, {}), [np.asarray(a, dtype=float) for a in arguments])


def compare(page, robot, functions, path, evaluate=compiled):
    robot.compiled.export("javascript", functions=functions, path=path)
    calls = [(f.replace(".", "_"), arguments_of(robot, f, seed)) for seed, f in enumerate(functions)]
    results, about = numbers(page, path, calls)
    for function, (name, arguments), result in zip(functions, calls, results, strict=True):
        expected = np.asarray(evaluate(robot, function, arguments))
        facts = about["functions"][name]
        assert tuple(facts["shape"]) == expected.shape
        assert [(a["name"], a["length"]) for a in facts["arguments"]] == list(
            zip(FUNCTIONS[function].arguments, map(len, arguments), strict=True)
        )
        close(result.reshape(expected.shape), expected)


def load(name):
    """A bundled robot, with its first tip as the end-effector where it has several."""
    robot = cr.load(name)
    return robot if robot.model.end_effector else robot.with_end_effector(robot.model.tips[0])


def functions_of(robot):
    """The functions that take no wrench; those of loops where there are some."""
    loops = bool(robot.model.constraints)
    return [
        name
        for name, entry in FUNCTIONS.items()
        if not entry.acts and (loops or not name.startswith("loops.")) and not (loops and "derivatives" in name)
    ]


@pytest.mark.parametrize("name", with_slow(cr.robots(), *(set(cr.robots()) - {"planar_rp", "four_bar"})))
def test_every_function_gives_the_numbers_of_the_library(page, name, tmp_path):
    robot = load(name)
    possible = []
    for function in functions_of(robot):
        try:
            robot.compiled.export("javascript", functions=[function], path=tmp_path / "robot.mjs")
        except cr.ChainruleError:  # springs, say, of a robot that has none
            continue
        possible.append(function)
    assert set(IN_EVERY_ROBOT) <= set(possible)
    compare(page, robot, possible, tmp_path / "robot.mjs", interpreted)


@pytest.mark.parametrize("name", with_slow(cr.robots(), *(set(cr.robots()) - {"panda"})))
def test_every_bundled_robot_has_the_numbers_of_its_kernels(page, name, tmp_path):
    compare(page, load(name), IN_EVERY_ROBOT, tmp_path / "robot.mjs")


def test_long_functions_are_several_shorter_ones(page, tmp_path, monkeypatch):
    monkeypatch.setattr(javascript, "MAX_OPERATIONS", 50)
    compare(page, cr.load("ur5"), ["forward_dynamics", "mass_matrix", "integrate"], tmp_path / "robot.mjs")
    assert "function forward_dynamics_piece3(q, qd, tau)" in (tmp_path / "robot.mjs").read_text()


def test_a_wrench_is_an_argument(page, tmp_path):
    robot = cr.load("planar_2r")
    robot.compiled.export("javascript", functions=["static_torque"], path=tmp_path / "arm.mjs")
    q, wrench = [0.3, 0.4], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    (result,), about = numbers(page, tmp_path / "arm.mjs", [("static_torque", [q, wrench])])
    close(result, robot.static_torque(q, wrench))
    assert [a["name"] for a in about["functions"]["static_torque"]["arguments"]] == ["q", "wrench"]


def test_the_module_tells_names_units_and_order(page, tmp_path):
    robot = cr.load("planar_rp")
    robot.compiled.export("javascript", path=tmp_path / "arm.mjs")
    _, about = numbers(page, tmp_path / "arm.mjs", [])
    assert about["robot"] == "planar_rp"
    assert about["joints"] == list(robot.joint_names)
    assert [(c["name"], c["unit"]) for c in about["coordinates"]] == list(
        zip(robot.coordinate_names, ("rad", "m"), strict=True)
    )
    assert [e["unit"] for e in about["efforts"]] == ["N m", "N"]
    assert about["functions"]["inverse_dynamics"]["arguments"][1]["meaning"].startswith("qd: velocities of")


def test_results_go_into_an_array_that_is_passed_in(page, tmp_path):
    cr.load("pendulum").compiled.export("javascript", path=tmp_path / "arm.mjs")
    script = """async text => {
      const { inverse_dynamics } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      const out = new Float64Array(1);
      const same = inverse_dynamics([0.3], [0], [0], out) === out;
      let refusal = "";
      try { inverse_dynamics([0.3, 0.4], [0], [0]); } catch (error) { refusal = String(error); }
      return [same, out[0], refusal];
    }"""
    same, torque, refusal = page.evaluate(script, (tmp_path / "arm.mjs").read_text())
    assert same
    assert torque == pytest.approx(cr.load("pendulum").gravity_torque([0.3])[0], rel=1e-14)
    assert refusal == "RangeError: inverse_dynamics: q must have 1 numbers, got 2"


def test_names_are_texts_and_never_code(page, tmp_path):
    model = cr.load("planar_2r").model
    hostile = '"; globalThis.broken = 1; */ </script><!-- ${alert(1)} \\ \u2028 é'
    links = tuple(replace(link, name=link.name + hostile) for link in model.links)
    joints = tuple(
        replace(j, name=j.name + hostile, parent=j.parent + hostile, child=j.child + hostile) for j in model.joints
    )
    frames = tuple(replace(f, link=f.link + hostile) for f in model.frames)
    robot = cr.Robot(replace(model, name=hostile, links=links, joints=joints, frames=frames))
    robot.compiled.export("javascript", functions=["mass_matrix", "pose"], path=tmp_path / "arm.mjs")
    text = (tmp_path / "arm.mjs").read_text()
    code, about = text.split("export const about = ")
    assert "broken" not in code
    assert "<" not in about
    _, told = numbers(page, tmp_path / "arm.mjs", [])
    assert told["robot"] == hostile
    assert told["joints"] == list(robot.joint_names)
    assert page.evaluate("() => globalThis.broken === undefined")


def test_the_emitter_knows_every_operation():
    assert set(javascript.EXPRESSIONS) == set(OPERATIONS)


@pytest.mark.parametrize("x", [0.1, -0.0, -2.5, 1e300, 5e-324, np.inf, -np.inf, np.nan])
def test_numbers_are_exact(page, x):
    text = javascript.number(float(x))
    assert page.evaluate(
        f"() => {{ const y = {text}; return Object.is(y, Number({json.dumps(repr(float(x)).replace('inf', 'Infinity'))})); }}"
    )


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(cr.ShapeError, match=r"path must end in \.mjs"):
        cr.load("pendulum").compiled.export("javascript", path=tmp_path / "arm.js")
