"""The product of exponentials as a table: screws, exponentials, products and columns of the Jacobian."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chainrule.arguments import Array
from chainrule.display.text import Shown, Table


@dataclass(frozen=True, repr=False)
class ExponentialTable(Shown):
    """H_i(q) = e^([S_1] q_1) .. e^([S_i] q_i) H_i(0), with all that it is made of.

    Rows of the first arrays are those of `joints`, one for each degree of freedom; rows of the others are those of
    `links`: the links but the base, and the end-effector where it is a frame.
    """

    joints: tuple[str, ...]
    links: tuple[str, ...]
    S: Array
    """The screw of each joint at home, in the base frame: (joints, 6)."""
    theta: Array
    """Coordinates in rad or m: (..., joints)."""
    exponentials: Array
    """e^([S_i] theta_i): (..., joints, 4, 4)."""
    products: Array
    """The product of the exponentials up to and with joint i: (..., joints, 4, 4)."""
    columns: Array
    """Ad S_i, by the product of the exponentials before it, for the rate of theta_i: (..., joints, 6)."""
    home: Array
    """H_i(0), poses at home: (links, 4, 4)."""
    poses: Array
    """H_i(q): (..., links, 4, 4)."""
    J: Array
    """Jacobian of each link in the frame "space", from the columns: (..., links, 6, n)."""
    J_body: Array
    """Jacobian of each link in its own frame, Ad of H_i(q)^-1 times J: (..., links, 6, n)."""

    def _view(self) -> Iterator[str | Table]:
        batch = self.theta.shape[:-1]
        if batch:
            yield f"Product of exponentials of {len(self.joints)} joints for a batch of shape {batch}"
            return
        yield f"theta, rad or m: {' '.join(f'{x + 0.0:.6g}' for x in self.theta)}"
        screws = [
            (joint if name == "S" else "", name, *(float(x) for x in rows[i]))
            for i, joint in enumerate(self.joints)
            for name, rows in (("S", self.S), ("Ad S", self.columns))
        ]
        yield Table(("joint", "", "wx", "wy", "wz", "vx", "vy", "vz"), screws, "Screws", names=2)
        for caption, matrices in (
            ("Exponentials e^([S] theta)", self.exponentials),
            ("Products of the exponentials up to each joint", self.products),
        ):
            rows = [
                (joint if k == 0 else "", *(float(x) for x in matrices[i, k]))
                for i, joint in enumerate(self.joints)
                for k in range(4)
            ]
            yield Table(("joint", "", "", "", ""), rows, caption)
