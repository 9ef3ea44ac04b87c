"""Old module paths lead to the modules of today."""

from __future__ import annotations

from importlib import import_module

import pytest

from chainrule.moved import MOVED, SPLIT


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_path_imports_the_module_of_today_and_no_copy_of_it(old, new):
    assert import_module(f"chainrule.{old}") is import_module(f"chainrule.{new}")


@pytest.mark.parametrize("old", SPLIT)
def test_a_module_that_was_split_still_has_its_names(old):
    module = import_module(f"chainrule.{old}")
    name = {"algorithms.constraints": "constraint_jacobian", "algorithms.loop_torques": "loop_torques"}[old]
    assert callable(getattr(module, name))
    with pytest.raises(AttributeError, match="nothing_like_it"):
        module.nothing_like_it


def test_packages_that_users_import_are_there():
    for name in ("algorithms.rnea", "symbolic", "spatial", "control", "inverse", "inverse.analytic", "simulation"):
        assert import_module(f"chainrule.{name}")
    from chainrule.inverse.result import InverseKinematics

    from chainrule.robot import Robot
    from chainrule.symbolic.lagrange import Lagrangian

    assert InverseKinematics.__module__ == "chainrule.inverse_kinematics.result"
    assert Robot.__module__ == "chainrule.robot.robot"
    assert Lagrangian


@pytest.mark.parametrize("package", ["chainrule", "chainrule.symbolic"])
def test_no_old_path_takes_the_place_of_a_public_name(package):
    """The import of a module puts it into its package: a function of that name would be gone."""
    below = package.removeprefix("chainrule").removeprefix(".")
    old = {path.rpartition(".")[2] for path in (*MOVED, *SPLIT) if path.rpartition(".")[0] == below}
    assert not old & {*import_module(package).__all__}
