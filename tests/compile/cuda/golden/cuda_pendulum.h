/* Written by chainrule.

   SI units. Arrays of several dimensions are stored row by row. Twists, wrenches and momenta have their angular part
   first. Quaternions are (x, y, z, w). The velocity of a free joint is the twist (angular, linear) of its body, in the
   axes of the body.
   Each function queues a kernel on a stream, for `count` states whose rows lie one after the other in device memory.
   The kernels themselves take (count, x0, stride0, x1, stride1, .., out): rows that lie stride numbers apart, 0 for one
   row that all states share. */
#ifndef PENDULUM_H
#define PENDULUM_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
   x0[1]   q: positions of hinge (rad)
   x1[1]   qd: velocities of hinge (rad/s)
   x2[1]   qdd: accelerations of hinge (rad/s^2)
   out[1]  torques or forces of hinge (N m)
   22 flops */
cudaError_t pendulum_inverse_dynamics_f32(long long count, const float *x0, const float *x1, const float *x2, float *out, cudaStream_t stream);
cudaError_t pendulum_inverse_dynamics_f64(long long count, const double *x0, const double *x1, const double *x2, double *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
