/* Written by chainrule. */
#include "pendulum.h"
#include <math.h>

void pendulum_inverse_dynamics(const double *x0, const double *x1, const double *x2, double *out)
{
  (void)x1;
  const double v2 = sin(x0[0]);
  const double v4 = 9.81 * v2;
  const double v5 = x2[0] + v4;
  out[0] = v5;
}

void pendulum_pose(const double *x0, double *out)
{
  const double v2 = sin(x0[0]);
  const double v3 = cos(x0[0]);
  const double v5 = -v2;
  const double v6 = -v3;
  out[0] = v3;
  out[1] = v5;
  out[2] = 0.0;
  out[3] = v2;
  out[4] = v2;
  out[5] = v3;
  out[6] = 0.0;
  out[7] = v6;
  out[8] = 0.0;
  out[9] = 0.0;
  out[10] = 1.0;
  out[11] = 0.0;
  out[12] = 0.0;
  out[13] = 0.0;
  out[14] = 0.0;
  out[15] = 1.0;
}
