/* Written by chainrule. */
#include "pendulum.h"
#include <stdio.h>

static int read_all(double *x, int n)
{
  int i;
  for (i = 0; i < n; ++i)
    if (scanf("%lf", &x[i]) != 1) return 0;
  return 1;
}

int main(void)
{
  {
    int i;
    double x0[1];
    double x1[1];
    double x2[1];
    double x3[1];
    if (!read_all(x0, 1)) return 1;
    if (!read_all(x1, 1)) return 1;
    if (!read_all(x2, 1)) return 1;
    pendulum_inverse_dynamics(x0, x1, x2, x3);
    for (i = 0; i < 1; ++i) printf("%.17g ", x3[i]);
    printf("\n");
  }
  {
    int i;
    double x0[1];
    double x1[16];
    if (!read_all(x0, 1)) return 1;
    pendulum_pose(x0, x1);
    for (i = 0; i < 16; ++i) printf("%.17g ", x1[i]);
    printf("\n");
  }
  return 0;
}
