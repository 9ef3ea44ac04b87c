"""Robots of every shape that figures are drawn of, on the reference path, and a state of each."""

from __future__ import annotations

import numpy as np

import chainrule as cr

NAMES = ("planar_2r", "planar_rp", "scara", "puma560", "stanford", "panda", "ur5", "quadruped", "human_arm")
CHAINS = tuple(name for name in NAMES if name not in ("quadruped", "human_arm"))


def named(name):
    return (cr.human_arm(75.0, 1.78) if name == "human_arm" else cr.load(name)).reference


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
