"""Robots with a closed form, and the symbols of their equations."""

import sympy as sp

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
