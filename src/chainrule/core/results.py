"""What a robot's functions return, where an array would not say enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from chainrule.arguments import Array


class Limits(NamedTuple):
    """Limits of each degree of freedom, infinite where there are none: rad or m, rad/s or m/s, N m or N."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class NewtonEulerTable:
    """The vector form of the Newton-Euler equations: an array (..., links, 3) for each column, in link frames."""

    links: tuple[str, ...]
    units: Mapping[str, str]
    omega: Array
    omega_dot: Array
    v_dot: Array
    v_dot_com: Array
    F: Array
    N: Array
    f: Array
    n: Array
    tau: Array

    def __str__(self) -> str:
        if self.omega.ndim > 2:
            return f"Newton-Euler table of {len(self.links)} links for a batch of shape {self.omega.shape[:-2]}"
        lines = []
        for i, link in enumerate(self.links):
            lines.append(link)
            for column, unit in self.units.items():
                x, y, z = getattr(self, column)[i]
                lines.append(f"  {column:<10} {x: 12.6f} {y: 12.6f} {z: 12.6f}  {unit}")
        return "\n".join([*lines, "tau  " + " ".join(f"{t: .6f}" for t in self.tau)])


@dataclass(frozen=True)
class MatrixForm:
    """The closed matrix form: stacked matrices with six rows for each moving link, and M, C, g made of them."""

    links: tuple[str, ...]
    S: Array
    A: Array
    A_dot: Array
    L: Array
    J: Array
    inertia: Array
    ad_V: Array
    rotors: Array
    M: Array
    C: Array
    g: Array
