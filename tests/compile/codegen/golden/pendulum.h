/* Written by chainrule.

   SI units. Arrays of several dimensions are stored row by row. Twists, wrenches and momenta have their angular part
   first. Quaternions are (x, y, z, w). The velocity of a free joint is the twist (angular, linear) of its body, in the
   axes of the body. */
#ifndef PENDULUM_H
#define PENDULUM_H

#ifdef __cplusplus
extern "C" {
#endif

/*
   x0[1]   q: positions of hinge (rad)
   x1[1]   qd: velocities of hinge (rad/s)
   x2[1]   qdd: accelerations of hinge (rad/s^2)
   out[1]  torques or forces of hinge (N m)
   22 flops */
void pendulum_inverse_dynamics(const double *x0, const double *x1, const double *x2, double *out);

/*
   x0[1]   q: positions of hinge (rad)
   out[16] pose of tip in the base: a homogeneous matrix, its translation in m; (4, 4), row by row
   42 flops */
void pendulum_pose(const double *x0, double *out);

#ifdef __cplusplus
}
#endif

#endif
