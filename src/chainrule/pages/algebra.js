// Vectors, poses and small matrices, as plain lists of numbers; matrices are lists row by row.

export const add = (a, b) => a.map((x, i) => x + b[i]);
export const subtract = (a, b) => a.map((x, i) => x - b[i]);
export const scale = (a, s) => a.map(x => x * s);
export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const norm = a => Math.hypot(...a);
export const unit = a => scale(a, 1 / (norm(a) || 1));
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

// A point, and a direction, of a frame whose pose T (4 x 4) is given.
export const place = (T, p) => [0, 4, 8].map(i => T[i] * p[0] + T[i + 1] * p[1] + T[i + 2] * p[2] + T[i + 3]);
export const turn = (T, d) => [0, 4, 8].map(i => T[i] * d[0] + T[i + 1] * d[1] + T[i + 2] * d[2]);
export const placeBack = (T, p) => turnBack(T, [p[0] - T[3], p[1] - T[7], p[2] - T[11]]);
export const turnBack = (T, d) => [0, 1, 2].map(i => T[i] * d[0] + T[i + 4] * d[1] + T[i + 8] * d[2]);

// The product of two 4 x 4 matrices.
export function compose(A, B) {
  const C = new Array(16);
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++)
      C[4 * i + j] = A[4 * i] * B[j] + A[4 * i + 1] * B[4 + j] + A[4 * i + 2] * B[8 + j] + A[4 * i + 3] * B[12 + j];
  return C;
}

// A pose at a point whose z axis has a direction; its axes are multiplied by the three lengths.
export function poseAlong(point, direction, lengths = [1, 1, 1]) {
  const z = unit(direction);
  const x = unit(cross(Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], z));
  return poseOf(point, [x, cross(z, x), z], lengths);
}

// A pose at a point with three axes, multiplied by three lengths.
export function poseOf(point, axes, lengths = [1, 1, 1]) {
  const row = i => [...axes.map((axis, k) => axis[i] * lengths[k]), point[i]];
  return [...row(0), ...row(1), ...row(2), 0, 0, 0, 1];
}

// The solution x of A x = b for a symmetric positive definite A (n x n), by Cholesky's factors.
export function solve(A, b) {
  const n = b.length, L = Array.from(A), x = Array.from(b);
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < j; k++)
      for (let i = j; i < n; i++) L[i * n + j] -= L[i * n + k] * L[j * n + k];
    const pivot = Math.sqrt(Math.max(L[j * n + j], 1e-300));
    for (let i = j; i < n; i++) L[i * n + j] /= pivot;
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
    x[i] /= L[i * n + i];
  }
  return x;
}

// Damped least squares: the x that makes |J x - e|^2 + damping^2 |x|^2 least, for J (m x n).
export function leastSquares(J, e, n, damping) {
  const m = e.length, A = new Array(m * m);
  for (let i = 0; i < m; i++)
    for (let j = 0; j <= i; j++) {
      let sum = i === j ? damping * damping : 0;
      for (let k = 0; k < n; k++) sum += J[i * n + k] * J[j * n + k];
      A[i * m + j] = A[j * m + i] = sum;
    }
  const y = solve(A, e);
  return Array.from({ length: n }, (_, k) => y.reduce((sum, yi, i) => sum + yi * J[i * n + k], 0));
}

// Eigenvalues and unit eigenvectors of a symmetric 3 x 3 matrix, the largest first, by Jacobi's rotations.
export function eigen(S) {
  const A = Array.from(S), V = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  for (let sweep = 0; sweep < 30; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      const off = A[3 * p + q];
      if (off === 0) continue;
      const theta = (A[3 * q + q] - A[3 * p + p]) / (2 * off);
      const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1)), c = 1 / Math.hypot(t, 1), s = t * c;
      for (let k = 0; k < 3; k++) {
        const [a, b] = [A[3 * k + p], A[3 * k + q]];
        A[3 * k + p] = c * a - s * b;
        A[3 * k + q] = s * a + c * b;
      }
      for (let k = 0; k < 3; k++) {
        const [a, b, v, w] = [A[3 * p + k], A[3 * q + k], V[3 * k + p], V[3 * k + q]];
        A[3 * p + k] = c * a - s * b;
        A[3 * q + k] = s * a + c * b;
        V[3 * k + p] = c * v - s * w;
        V[3 * k + q] = s * v + c * w;
      }
    }
  return [0, 1, 2]
    .map(k => ({ value: A[4 * k], axis: [V[k], V[3 + k], V[6 + k]] }))
    .sort((a, b) => b.value - a.value);
}

// The rotation vector of a unit quaternion (x, y, z, w), shorter than pi, and the other way.
export function rotationVector([x, y, z, w]) {
  const sine = Math.hypot(x, y, z), angle = 2 * Math.atan2(sine, Math.abs(w));
  const factor = (sine > 1e-12 ? angle / sine : 2) * (w < 0 ? -1 : 1);
  return [x * factor, y * factor, z * factor];
}

export function quaternion(vector) {
  const angle = norm(vector), factor = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
  return [...scale(vector, factor), Math.cos(angle / 2)];
}
