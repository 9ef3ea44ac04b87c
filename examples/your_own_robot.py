"""A robot from a Denavit-Hartenberg table, looked at in three ways: as DH, as screws, as a file."""

import tempfile
from pathlib import Path

import numpy as np

import chainrule as cr
from chainrule.spatial import Transform, shapes

# two uniform arms and a quill: masses and inertias from their shapes
arms = [shapes.box(m, length, 0.1, 0.08) for m, length in ((8.0, 0.4), (5.0, 0.3))]
quill = shapes.cylinder(1.0, radius=0.02, height=0.3)
scara = cr.Robot.from_dh(
    [(0.4, 0, 0.5, 0), (0.3, 0, 0, 0), (0, 0, 0, 0)],
    convention="standard",
    types="RRP",
    masses=[8.0, 5.0, 1.0],
    coms=[(-0.2, 0, 0), (-0.15, 0, 0), (0, 0, 0)],
    inertias=[[list(row) for row in body.inertia] for body in (*arms, quill)],
    name="my_scara",
)
q = np.array([0.3, 0.5, -0.1])
print("tip at", scara.pose(q)[:3, 3].round(4))
print("mass matrix\n", scara.mass_matrix(q).round(4))

table = scara.textbook.to_screws()
print("screws\n", table.screws.round(4))

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "my_scara.toml"
    scara.save(path)
    assert cr.load(path) == scara
    print(path.read_text()[:200], "...")

# a body of several shapes, as the lecture slides "Ch2: Robot Dynamics - Part 1" ask: where is its center of mass?
compound = shapes.cylinder(2.0, 0.1, 0.2) + Transform.from_xyz_rpy((0.3, 0, 0)) * shapes.box(1.0, 0.4, 0.1, 0.1)
print("compound body: mass", compound.mass, "kg, centre of mass at x =", round(compound.com.x, 3), "m")
