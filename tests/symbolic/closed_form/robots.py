"""Robots with a closed form, and the symbols of their equations."""

import json

import numpy as np
import sympy as sp

import chainrule as cr

ARMS = (
    "pendulum",
    "double_pendulum",
    "planar_2r",
    "planar_3r",
    "planar_rp",
    "cartesian_3p",
    "scara",
    "stanford",
    "puma560",
)


def names(text):
    """Parameters by name, and the symbols q, qd and qdd of two joints."""
    return sp.symbols(text, positive=True), *(sp.symbols(f"{base}_1:3", real=True) for base in ("q", "qdot", "qddot"))


def random_tree(seed):
    """A robot of one to three joints: chains and branches, turned origins, equal and unequal numbers, frames."""
    rng = np.random.default_rng(seed)

    def turn():
        kind = rng.integers(5)
        if kind < 2:
            return (rng.integers(-2, 3, 3) * np.pi / 2 * kind).tolist()
        if kind == 4:
            return rng.uniform(-2, 2, 3).round(2).tolist()
        about = np.zeros(3)
        about[rng.integers(3)] = rng.choice([0.3, 1.1]) if kind == 3 else np.round(rng.uniform(-2, 2), 2)
        return about.tolist()

    def place():
        kind = rng.integers(4)
        if kind == 3:
            return rng.uniform(-0.5, 0.5, 3).round(3).tolist()
        return (rng.choice([0.0, 0.1, 0.2, -0.3], 3) * (kind > 0) * (rng.random(3) < 0.4 * kind)).tolist()

    n = int(rng.integers(1, 4))
    links, joints = [{"name": "l0"}], []
    for i in range(1, n + 1):
        products = rng.uniform(-0.01, 0.01, 3) * (rng.random() < 0.5)
        links.append({
            "name": f"l{i}", "mass": float(rng.uniform(0.1, 3)), "com": place(),
            "inertia": [0.06, 0.07, 0.08, *products.tolist()],
        })  # fmt: skip
        axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.8 else rng.normal(size=3)
        joints.append({
            "name": f"j{i}", "type": str(rng.choice(["revolute", "revolute", "prismatic"])), "axis": axis.tolist(),
            "parent": f"l{i - 1 if rng.random() < 0.6 else rng.integers(0, i)}", "child": f"l{i}",
            "origin": {"xyz": place(), "rpy": turn()},
        })  # fmt: skip
    frames = [
        {"name": f"f{k}", "link": f"l{rng.integers(1, n + 1)}", "origin": {"xyz": place(), "rpy": turn()}}
        for k in range(rng.integers(1, 4))
    ]
    table = {"format": "chainrule 1", "name": "tree", "link": links, "joint": joints, "frame": frames}
    return cr.load(json.dumps(table))
