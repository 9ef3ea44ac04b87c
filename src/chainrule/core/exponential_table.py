"""The product of exponentials as a table: screws, exponentials, products and columns of the Jacobian."""

from __future__ import annotations

from dataclasses import dataclass

from chainrule.arguments import Array
from chainrule.display import tables as display
from chainrule.errors import visible


@dataclass(frozen=True, repr=False)
class ExponentialTable:
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

    def __str__(self) -> str:
        batch = self.theta.shape[:-1]
        if batch:
            return f"Product of exponentials of {len(self.joints)} joints for a batch of shape {batch}"
        lines = []
        for i, joint in enumerate(self.joints):
            lines.append(f"{visible(joint)}, theta = {self.theta[i]:.6g}")
            lines += [f"  {name:<8}{_numbers(row[i])}" for name, row in (("S", self.S), ("Ad S", self.columns))]
            lines.append(f"  {'e^([S] theta)':<42}product of the exponentials to here")
            pairs = zip(self.exponentials[i], self.products[i], strict=True)
            lines += [f"  {_numbers(own)}  {_numbers(whole)}" for own, whole in pairs]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.theta.ndim > 1:
            return display.heading(str(self))
        screws = [
            (joint, name, *(float(x) for x in rows[i]))
            for i, joint in enumerate(self.joints)
            for name, rows in (("S", self.S), ("Ad S", self.columns))
        ]
        matrices = [
            (joint, *(float(x) for x in (*self.exponentials[i, k], *self.products[i, k])))
            for i, joint in enumerate(self.joints)
            for k in range(4)
        ]
        return display.table(("joint", "", "wx", "wy", "wz", "vx", "vy", "vz"), screws, "Screws") + display.table(
            ("joint", "e^([S] theta)", "", "", "", "product to here", "", "", ""), matrices, "Exponentials"
        )


def _numbers(row: Array) -> str:
    return "".join(f"{x + 0.0:10.4f}" for x in row)
