/* Written by chainrule. */
#ifndef PENDULUM_H
#define PENDULUM_H

#ifdef __cplusplus
extern "C" {
#endif

/* x0[1], x1[1], x2[1] in, out[1]; 22 flops */
void pendulum_inverse_dynamics(const double *x0, const double *x1, const double *x2, double *out);

/* x0[1] in, out[16]; 42 flops */
void pendulum_pose(const double *x0, double *out);

#ifdef __cplusplus
}
#endif

#endif
