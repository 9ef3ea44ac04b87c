"""The formulas of the lecture notes in NumPy alone, as the notes write them: what rows of notes.md are compared with.

Nothing of chainrule stands behind a number of this file; a test holds that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.linalg import inv
from scipy.linalg import block_diag, expm

Z = np.array([0.0, 0.0, 1.0])


def skew(v: Any) -> np.ndarray:
    """[v], the matrix of v ×."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def bracket(S: Any) -> np.ndarray:
    """[S] of a screw (ω, v), 4 by 4."""
    return np.block([[skew(S), np.reshape(S[3:], (3, 1))], [np.zeros((1, 4))]])


def exp(S: Any, x: Any) -> np.ndarray:
    """e^([S] x) of a screw whose axis has unit length, or turns nothing: Rodrigues' formula."""
    W, v, T = skew(S), np.asarray(S[3:]), np.eye(4, dtype=np.result_type(x, float))
    if np.any(S[:3]):
        T[:3, :3] += np.sin(x) * W + (1 - np.cos(x)) * W @ W
        T[:3, 3] = x * v + (1 - np.cos(x)) * W @ v + (x - np.sin(x)) * W @ W @ v
    else:
        T[:3, 3] = x * v
    return T


def Ad(T: Any) -> np.ndarray:
    """[Ad_T] = [R, 0; [p] R, R]."""
    R, adjoint = T[:3, :3], np.zeros((6, 6), dtype=T.dtype)
    adjoint[:3, :3] = adjoint[3:, 3:] = R
    adjoint[3:, :3] = skew(T[:3, 3]) @ R
    return adjoint


def ad(V: Any) -> np.ndarray:
    """[ad_V] = [[ω], 0; [v], [ω]]."""
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def pose(p: Any, R: Any = None) -> np.ndarray:
    """The 4 by 4 matrix of a rotation and a place."""
    T = np.eye(4)
    T[:3, :3] = np.eye(3) if R is None else R
    T[:3, 3] = p
    return T


def rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """The rotation about z by yaw, then about the new y by pitch, then about the new x by roll."""
    about = np.eye(3)
    return expm(skew(about[2] * yaw)) @ expm(skew(about[1] * pitch)) @ expm(skew(about[0] * roll))


def planar_2r(q: Any, qd: Any = (0, 0), L_1: float = 1, L_2: float = 1, g: float = 9.81) -> SimpleNamespace:
    """The planar 2R arm of documents 1 and 5, with 1 kg at the end of each link: M, c, g, J, T."""
    (a, b), (u, v) = q, qd
    x, y = np.cos([a, a + b]), np.sin([a, a + b])
    coupling, inner = L_1 * L_2 * np.cos(b), L_1 * L_2 * np.sin(b)
    return SimpleNamespace(
        M=np.array([[L_1**2 + L_1**2 + 2 * coupling + L_2**2, coupling + L_2**2], [coupling + L_2**2, L_2**2]]),
        c=np.array([-inner * (2 * u * v + v**2), inner * u**2]),
        g=g * np.array([2 * L_1 * x[0] + L_2 * x[1], L_2 * x[1]]),
        J=np.array([[-L_1 * y[0] - L_2 * y[1], -L_2 * y[1]], [L_1 * x[0] + L_2 * x[1], L_2 * x[1]]]),
        T=pose([L_1 * x[0] + L_2 * x[1], L_1 * y[0] + L_2 * y[1], 0], [[x[1], -y[1], 0], [y[1], x[1], 0], [0, 0, 1]]),
    )


def screws(
    M: Sequence[Any],
    S: Any,
    G: Sequence[Any],
    q: Any,
    qd: Any = None,
    qdd: Any = None,
    *,
    gravity: Any = (0, 0, 0),
    F_tip: Any = (0,) * 6,
) -> SimpleNamespace:
    """The recursion in twists and wrenches of documents 1, 2 and 4, for a chain at a state.

    Parameters
    ----------
    M
        Home poses in the base of the frames {1} .. {n}, and of the end-effector {n+1}.
    S
        Screw axes at home in the base, columns.
    G
        Spatial inertias of the links, each in its frame.

    Lists of the result are numbered as in the notes: V[0] is the base's twist, F[n+1] the wrench of the tip.
    """
    n = len(q)
    qd, qdd = (np.zeros(n) if x is None else x for x in (qd, qdd))
    M = [np.eye(4), *M]
    A = [np.zeros(6), *(Ad(inv(M[i])) @ S[:, i - 1] for i in range(1, n + 1))]
    T = [np.eye(4), *(exp(A[i], -q[i - 1]) @ inv(M[i]) @ M[i - 1] for i in range(1, n + 1))]
    T.append(inv(M[n + 1]) @ M[n])
    product, H, J_s = np.eye(4), [np.eye(4)], np.zeros((6, n), dtype=T[1].dtype)
    for i in range(1, n + 1):
        J_s[:, i - 1] = Ad(product) @ S[:, i - 1]
        product = product @ exp(S[:, i - 1], q[i - 1])
        H.append(product @ M[i])
    H.append(product @ M[n + 1])
    J = [Ad(inv(H[i])) @ (J_s * (np.arange(n) < i)) for i in range(n + 2)]
    V, Vdot = [np.zeros(6)], [np.array([0, 0, 0, *(-np.asarray(gravity))])]
    for i in range(1, n + 1):
        V.append(Ad(T[i]) @ V[i - 1] + A[i] * qd[i - 1])
        Vdot.append(Ad(T[i]) @ Vdot[i - 1] + ad(V[i]) @ A[i] * qd[i - 1] + A[i] * qdd[i - 1])
    F: list[Any] = [None] * (n + 1) + [np.asarray(F_tip)]
    for i in range(n, 0, -1):
        F[i] = Ad(T[i + 1]).T @ F[i + 1] + G[i - 1] @ Vdot[i] - ad(V[i]).T @ G[i - 1] @ V[i]
    tau = np.array([F[i] @ A[i] for i in range(1, n + 1)])
    mass = sum(J[i].T @ G[i - 1] @ J[i] for i in range(1, n + 1))
    h = tau - mass @ qdd - J[n + 1].T @ F_tip
    return SimpleNamespace(A=A, T=T, H=H, J_s=J_s, J=J, V=V, Vdot=Vdot, F=F, tau=tau, M=mass, h=h)


def stacked(chain: SimpleNamespace, G: Sequence[Any], qd: Any) -> SimpleNamespace:
    """The matrices of document 2, "Dynamic Equations in Closed Form", of a chain by `screws`."""
    n = len(qd)
    A, rate, S = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n)), np.zeros((6 * n, n))
    for i in range(n):
        here, before = slice(6 * i, 6 * i + 6), slice(6 * i - 6, 6 * i)
        S[here, i] = chain.A[i + 1]
        if i:
            A[here, before] = Ad(chain.T[i + 1])
            rate[here, before] = -ad(chain.A[i + 1] * qd[i]) @ Ad(chain.T[i + 1])
    inertia, ad_V = block_diag(*G), block_diag(*(ad(V) for V in chain.V[1:]))
    L = np.eye(6 * n)
    for i in range(1, n):  # Ad of H_j^i, below the diagonal
        L[6 * i : 6 * i + 6, : 6 * i] = A[6 * i : 6 * i + 6, 6 * i - 6 : 6 * i] @ L[6 * i - 6 : 6 * i, : 6 * i]
    J = L @ S
    M = J.T @ inertia @ J
    C = J.T @ inertia @ L @ rate @ J - J.T @ ad_V.T @ inertia @ J
    V, Vdot, W = (np.concatenate(x[1 : n + 1]) for x in (chain.V, chain.Vdot, chain.F))
    return SimpleNamespace(A=A, A_dot=rate, S=S, I=inertia, ad_V=ad_V, L=L, J=J, M=M, C=C, V=V, Vdot=Vdot, W=W)


def spatial_inertia(m: float, c: Any, inertia: Any) -> np.ndarray:
    """The inertia matrix 6 by 6 of a body in a frame in which its center of mass is c: Steiner's theorem."""
    C = skew(c)
    return np.block([[np.diag(inertia) - m * C @ C, m * C], [-m * C, m * np.eye(3)]])


def christoffel(mass: Any, q: Any, qd: Any) -> np.ndarray:
    """C_ij = Σ_k (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i) q̇_k / 2, the derivatives of mass(q) by complex steps."""
    step = 1e-30
    D = np.array([np.imag(mass(q + 1j * step * e)) / step for e in np.eye(len(q))])  # D[k, i, j] = ∂M_ij/∂q_k
    return np.einsum("kij,k", D, qd) / 2 + np.einsum("jik,k", D, qd) / 2 - np.einsum("ijk,k", D, qd) / 2


def rk4(rates: Callable[[np.ndarray], np.ndarray], x: np.ndarray, dt: float, steps: int) -> np.ndarray:
    """Where x is after some steps of the classical Runge-Kutta method."""
    for _ in range(steps):
        k_1 = rates(x)
        k_2 = rates(x + dt / 2 * k_1)
        k_3 = rates(x + dt / 2 * k_2)
        x = x + dt / 6 * (k_1 + 2 * k_2 + 2 * k_3 + rates(x + dt * k_3))
    return x


def link_pose(row: Any, kind: str, x: Any) -> np.ndarray:
    """The pose of frame i in frame i-1 by Craig's parameters (a, α in degrees, d, θ) and the joint variable."""
    a, alpha, d, theta = row[0], np.radians(row[1]), row[2], np.radians(row[3])
    theta, d = (theta + x, d) if kind == "R" else (theta, d + x)
    (ct, st), (ca, sa) = (np.cos(theta), np.sin(theta)), (np.cos(alpha), np.sin(alpha))
    return np.array(
        [
            [ct, -st, 0, a],
            [st * ca, ct * ca, -sa, -sa * d],
            [st * sa, ct * sa, ca, ca * d],
            [0, 0, 0, 1],
        ]
    )


def craig(
    rows: Sequence[Any],
    q: Any,
    qd: Any,
    qdd: Any,
    *,
    masses: Any,
    coms: Any,
    inertias: Any,
    types: str = "RRRRRR",
    gravity: Any = (0, 0, -9.81),
    f_tip: Any = (0, 0, 0),
    n_tip: Any = (0, 0, 0),
) -> SimpleNamespace:
    """The outward and inward iterations of documents 3 and 5; of the lists, number 0 is the base.

    f_tip and n_tip are what the end-effector, at the last frame, applies to its surroundings, in the axes of that.
    """
    n = len(rows)
    T = [np.eye(4), *(link_pose(row, kind, x) for row, kind, x in zip(rows, types, q, strict=True))]
    R = [t[:3, :3].T for t in T]  # R[i] turns from the axes of i-1 into those of i
    P = [t[:3, 3] for t in T]  # P[i] is the origin of i in i-1
    zero = np.zeros(3)
    w, wd, v, vd, vc, F, N = [zero], [zero], [zero], [-np.asarray(gravity, dtype=float)], [zero], [zero], [zero]
    H = [np.eye(4)]
    for i in range(1, n + 1):
        turns = types[i - 1] == "R"
        u, a = (Z * qd[i - 1], Z * qdd[i - 1]) if turns else (zero, zero)
        slide, slide_rate = (zero, zero) if turns else (Z * qd[i - 1], Z * qdd[i - 1])
        w.append(R[i] @ w[i - 1] + u)
        wd.append(R[i] @ wd[i - 1] + np.cross(R[i] @ w[i - 1], u) + a)
        v.append(R[i] @ (v[i - 1] + np.cross(w[i - 1], P[i])) + slide)
        vd.append(
            R[i] @ (np.cross(wd[i - 1], P[i]) + np.cross(w[i - 1], np.cross(w[i - 1], P[i])) + vd[i - 1])
            + 2 * np.cross(w[i], slide)
            + slide_rate
        )
        c, inertia = np.asarray(coms[i - 1]), np.diag(inertias[i - 1])
        vc.append(np.cross(wd[i], c) + np.cross(w[i], np.cross(w[i], c)) + vd[i])
        F.append(masses[i - 1] * vc[i])
        N.append(inertia @ wd[i] + np.cross(w[i], inertia @ w[i]))
        H.append(H[i - 1] @ T[i])
    f, m = [zero] * (n + 1), [zero] * (n + 1)
    f_next, m_next, turn, reach = np.asarray(f_tip), np.asarray(n_tip), np.eye(3), zero
    for i in range(n, 0, -1):
        f[i] = turn @ f_next + F[i]
        m[i] = N[i] + turn @ m_next + np.cross(coms[i - 1], F[i]) + np.cross(reach, turn @ f_next)
        f_next, m_next, turn, reach = f[i], m[i], R[i].T, P[i]
    tau = np.array([m[i][2] if types[i - 1] == "R" else f[i][2] for i in range(1, n + 1)])

    def jacobian(place: Any, links: int = n) -> np.ndarray:
        """Columns (z, z × (p - p_i)), or (0, z) of a joint that slides, of a point p in base axes on a link."""
        columns = np.zeros((6, n))
        for i in range(1, links + 1):
            axis, origin = H[i][:3, 2], H[i][:3, 3]
            arm = np.cross(axis, place - origin)
            columns[:, i - 1] = [*axis, *arm] if types[i - 1] == "R" else [0, 0, 0, *axis]
        return columns

    mass = np.zeros((n, n))
    for i in range(1, n + 1):
        J = jacobian((H[i] @ [*coms[i - 1], 1])[:3], i)
        inertia = H[i][:3, :3] @ np.diag(inertias[i - 1]) @ H[i][:3, :3].T
        mass += J[:3].T @ inertia @ J[:3] + masses[i - 1] * J[3:].T @ J[3:]
    return SimpleNamespace(
        T=T, R=R, P=P, H=H, omega=w, omega_dot=wd, v=v, v_dot=vd, v_dot_com=vc, F=F, N=N, f=f, n=m, tau=tau,
        J=jacobian(H[n][:3, 3]), jacobian=jacobian, M=mass,
    )  # fmt: skip
