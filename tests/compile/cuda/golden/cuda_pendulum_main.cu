/* Written by chainrule. */
#include "pendulum.h"
#include <stdio.h>

static double *on_device(const double *x, int n)
{
  double *y;
  const size_t size = (n > 0 ? n : 1) * sizeof(double);
  if (cudaMalloc(&y, size) != cudaSuccess) return NULL;
  return cudaMemcpy(y, x, n * sizeof(double), cudaMemcpyHostToDevice) == cudaSuccess ? y : NULL;
}

static int read_all(double *x, int n)
{
  for (int i = 0; i < n; ++i)
    if (scanf("%lf", &x[i]) != 1) return 0;
  return 1;
}

int main(void)
{
  {
    static double x0[1];
    static double x1[1];
    static double x2[1];
    static double x3[1];
    if (!read_all(x0, 1)) return 1;
    if (!read_all(x1, 1)) return 1;
    if (!read_all(x2, 1)) return 1;
    double *y0 = on_device(x0, 1);
    double *y1 = on_device(x1, 1);
    double *y2 = on_device(x2, 1);
    double *y3 = on_device(x3, 1);
    if (!y0 || !y1 || !y2 || !y3) return 1;
    if (pendulum_inverse_dynamics_f64(1, y0, y1, y2, y3, 0) != cudaSuccess) return 1;
    if (cudaMemcpy(x3, y3, sizeof x3, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    for (int i = 0; i < 1; ++i) printf("%.17g ", x3[i]);
    printf("\n");
    cudaFree(y0);
    cudaFree(y1);
    cudaFree(y2);
    cudaFree(y3);
  }
  return 0;
}
