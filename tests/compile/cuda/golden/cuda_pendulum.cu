/* Written by chainrule. */
#ifndef __CUDACC_RTC__
#include "pendulum.h"
#endif

namespace chainrule_f32 {
#define INLINE static __device__ __forceinline__ __attribute__((unused))
#define APART static __device__ __noinline__ __attribute__((unused))
#define KEEP(slot) keep[32 * (slot)]
#ifndef NAN
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#endif
typedef float real;

INLINE void near_sine_and_cosine(real x, real *sine, real *cosine)
{
  const real shifted = fmaf(x, 0.3183098861837907f, 12582912.0f); /* whole in its last bits */
  const real k = shifted - 12582912.0f;
  real r = x;
  r = fmaf(k, (-3.1415927410125732f), r);
  r = fmaf(k, 8.742278000372482e-08f, r);
  r = fmaf(k, 3.4302490200117637e-15f, r);
  const real z = r * r;
  const real s = fmaf(r * z, fmaf(fmaf(fmaf(2.600024345156271e-06f, z, (-0.00019806601630989462f)), z, 0.008333017118275166f), z, (-0.16666656732559204f)), r);
  const real c = fmaf(z, fmaf(fmaf(fmaf(fmaf((-2.607681608424173e-07f), z, 2.476187000866048e-05f), z, (-0.00138884037733078f)), z, 0.04166664183139801f), z, (-0.5f)), 1.0f);
  const int sign = __float_as_int(shifted) << 31;
  *sine = __int_as_float(__float_as_int(s) ^ sign);
  *cosine = __int_as_float(__float_as_int(c) ^ sign);
}

INLINE int is_near(real x)
{
  return fabsf(x) <= 1000.0f;
}

/* The angle within half a turn; not a number where it is not finite. */
APART real near_angle(real x)
{
  real s, c;
  sincosf(x, &s, &c);
  return is_near(x) ? x : atan2f(s, c);
}

INLINE void sine_and_cosine(real x, real *sine, real *cosine)
{
  near_sine_and_cosine(is_near(x) ? x : near_angle(x), sine, cosine);
}

/* The device's estimate, and a step of Newton's method, which fails where the estimate is exact: at 0 and infinity. */
INLINE real reciprocal(real x)
{
#ifdef __CUDA_ARCH__
  real estimate;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(estimate) : "f"(x));
#else
  const real estimate = 1.0f / x;
#endif
  const real y = fmaf(fmaf(-x, estimate, 1.0f), estimate, estimate);
  return y == y ? y : estimate;
}

/* A place in shared memory that counts the bytes of copies under way; `turn` is 0 or 1, for every second use. */
struct Arrival {
  unsigned long long count;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define COPIES_ALONE 1 /* the device copies whole pieces of memory by itself */
#endif

INLINE void prepare(Arrival *arrival)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
#endif
}

/* One thread: so many bytes will come. */
INLINE void expect(Arrival *arrival, int bytes)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
#endif
}

INLINE void wait_for(Arrival *arrival, int turn)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }"
               ::"r"(at), "r"(turn) : "memory");
#endif
}

/* Adjacent bytes into shared memory, a multiple of 16: by one thread, or by all of a warp where the device cannot. */
INLINE void copy_in(void *tile, const void *from, int bytes, int lane, Arrival *arrival)
{
#ifdef COPIES_ALONE
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile), at = (unsigned)__cvta_generic_to_shared(arrival);
  if (lane == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(at)
                 : "memory");
#else
  for (int i = lane; i < bytes / 16; i += 32) ((float4 *)tile)[i] = ((const float4 *)from)[i];
#endif
}

/* The same out of shared memory; `finish_copies_out` before the tile is written again. */
INLINE void copy_out(void *to, const void *tile, int bytes, int lane)
{
#ifdef COPIES_ALONE
  const unsigned from = (unsigned)__cvta_generic_to_shared(tile);
  if (lane == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(from), "r"(bytes)
                 : "memory");
#else
  for (int i = lane; i < bytes / 16; i += 32) ((float4 *)to)[i] = ((const float4 *)tile)[i];
#endif
}

INLINE void finish_copies_out(int lane)
{
#ifdef COPIES_ALONE
  if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* All threads of a warp see what each has written to shared memory, and so do copies. */
INLINE void meet()
{
#ifdef COPIES_ALONE
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncwarp();
}

/* Rows of N numbers that lie anyhow, for the states of a warp, into a tile in which they lie PITCH numbers apart. */
template <int N, int PITCH>
INLINE void take(const real *rows, long long stride, int states, int lane, real *tile)
{
#pragma unroll 4
  for (int i = lane; i < states * N; i += 32) tile[i / N * PITCH + i % N] = rows[i / N * stride + i % N];
}

/* The same back into rows that lie `stride` numbers apart. */
template <int N, int PITCH>
INLINE void give(const real *tile, int states, int lane, long long stride, real *rows)
{
#pragma unroll 4
  for (int i = lane; i < states * N; i += 32) rows[i / N * stride + i % N] = tile[i / N * PITCH + i % N];
}

INLINE void pendulum_inverse_dynamics_kernel_f32_part0(const real *__restrict__ x0, const real *__restrict__ x1, const real *__restrict__ x2, real *__restrict__ out)
{
  (void)x1;
  const float v2 = sinf(x0[0]);
  const float v4 = 9.81f * v2;
  const float v5 = x2[0] + v4;
  out[0] = v5;
}

extern "C" __global__ void __launch_bounds__(128) pendulum_inverse_dynamics_kernel_f32(long long count, const real *x0, long long stride0, const real *x1, long long stride1, const real *x2, long long stride2, real *out)
{
  __shared__ __align__(16) real tiles[4][224];
  __shared__ Arrival arrivals[4][2];
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const long long step = (long long)gridDim.x * 128;
  long long first = ((long long)blockIdx.x * 4 + warp) * 32;
  if (first >= count) return;
  real *const tile = tiles[warp], *const result = tile + 192;
  Arrival *const arrival = arrivals[warp];
  const bool is_whole = true & (stride0 == 1) & ((unsigned long long)x0 % 16 == 0) & (stride1 == 1) & ((unsigned long long)x1 % 16 == 0) & (stride2 == 1) & ((unsigned long long)x2 % 16 == 0);
  const bool is_aligned = (unsigned long long)out % 16 == 0;
  if (lane == 0) {
    prepare(arrival);
    prepare(arrival + 1);
  }
  meet();
  const auto fetch = [&](long long first, int buffer) {
    if (is_whole & (count - first >= 32)) {
      if (lane == 0) expect(arrival + buffer, 384);
      copy_in(tile + 0 + buffer * 32, x0 + first * stride0, 128, lane, arrival + buffer);
      copy_in(tile + 64 + buffer * 32, x1 + first * stride1, 128, lane, arrival + buffer);
      copy_in(tile + 128 + buffer * 32, x2 + first * stride2, 128, lane, arrival + buffer);
    } else {
      const int states = count - first < 32 ? (int)(count - first) : 32;
      (void)states;
      take<1, 1>(x0 + first * stride0, stride0, states, lane, tile + 0 + buffer * 32);
      take<1, 1>(x1 + first * stride1, stride1, states, lane, tile + 64 + buffer * 32);
      take<1, 1>(x2 + first * stride2, stride2, states, lane, tile + 128 + buffer * 32);
      meet();
      if (lane == 0) expect(arrival + buffer, 0);
    }
  };
  fetch(first, 0);
  for (int k = 0; first < count; first += step, ++k) {
    const int buffer = k & 1, states = count - first < 32 ? (int)(count - first) : 32;
    if (first + step < count) fetch(first + step, buffer ^ 1);
    wait_for(arrival + buffer, k >> 1 & 1);
    finish_copies_out(lane);
    __syncwarp();
    const real *const row0 = tile + 0 + buffer * 32 + lane * 1;
    const real *const row1 = tile + 64 + buffer * 32 + lane * 1;
    const real *const row2 = tile + 128 + buffer * 32 + lane * 1;
    pendulum_inverse_dynamics_kernel_f32_part0(row0, row1, row2, result + lane * 1);
    meet();
    if (is_aligned & (states == 32))
      copy_out(out + first * 1, result, 128, lane);
    else
      give<1, 1>(result, states, lane, 1, out + first * 1);
    __syncwarp();
  }
  finish_copies_out(lane);
}

}

namespace chainrule_f64 {
#define INLINE static __device__ __forceinline__ __attribute__((unused))
#define APART static __device__ __noinline__ __attribute__((unused))
#define KEEP(slot) keep[32 * (slot)]
#ifndef NAN
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#endif
typedef double real;

INLINE void near_sine_and_cosine(real x, real *sine, real *cosine)
{
  const real shifted = fma(x, 0.6366197723675814, 6755399441055744.0); /* whole in its last bits */
  const real k = shifted - 6755399441055744.0;
  real r = x;
  r = fma(k, (-1.5707963267948966), r);
  r = fma(k, (-6.123233995736766e-17), r);
  r = fma(k, 1.4973849048591833e-33, r);
  const real z = r * r;
  const real a = fma(r * z, fma(fma(fma(fma(fma(1.58969099521155e-10, z, (-2.5050760253406863e-08)), z, 2.7557313707070068e-06), z, (-0.0001984126982985795)), z, 0.00833333333332249), z, (-0.16666666666666632)), r);
  const real b = fma(z * z, fma(fma(fma(fma(fma((-1.1359647557788195e-11), z, 2.087572321298175e-09), z, (-2.7557314351390663e-07)), z, 2.480158728947673e-05), z, (-0.001388888888887411)), z, 0.0416666666666666), fma(z, -0.5, 1.0));
  const int quadrant = __double2loint(shifted);
  const real s = quadrant & 1 ? b : a, c = quadrant & 1 ? a : b;
  *sine = quadrant & 2 ? -s : s;
  *cosine = (quadrant + 1) & 2 ? -c : c;
}

INLINE int is_near(real x)
{
  return fabs(x) <= 100000.0;
}

/* The angle within half a turn; not a number where it is not finite. */
APART real near_angle(real x)
{
  real s, c;
  sincos(x, &s, &c);
  return is_near(x) ? x : atan2(s, c);
}

INLINE void sine_and_cosine(real x, real *sine, real *cosine)
{
  near_sine_and_cosine(is_near(x) ? x : near_angle(x), sine, cosine);
}

/* A place in shared memory that counts the bytes of copies under way; `turn` is 0 or 1, for every second use. */
struct Arrival {
  unsigned long long count;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define COPIES_ALONE 1 /* the device copies whole pieces of memory by itself */
#endif

INLINE void prepare(Arrival *arrival)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
#endif
}

/* One thread: so many bytes will come. */
INLINE void expect(Arrival *arrival, int bytes)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
#endif
}

INLINE void wait_for(Arrival *arrival, int turn)
{
#ifdef COPIES_ALONE
  const unsigned at = (unsigned)__cvta_generic_to_shared(arrival);
  asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }"
               ::"r"(at), "r"(turn) : "memory");
#endif
}

/* Adjacent bytes into shared memory, a multiple of 16: by one thread, or by all of a warp where the device cannot. */
INLINE void copy_in(void *tile, const void *from, int bytes, int lane, Arrival *arrival)
{
#ifdef COPIES_ALONE
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile), at = (unsigned)__cvta_generic_to_shared(arrival);
  if (lane == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(at)
                 : "memory");
#else
  for (int i = lane; i < bytes / 16; i += 32) ((float4 *)tile)[i] = ((const float4 *)from)[i];
#endif
}

/* The same out of shared memory; `finish_copies_out` before the tile is written again. */
INLINE void copy_out(void *to, const void *tile, int bytes, int lane)
{
#ifdef COPIES_ALONE
  const unsigned from = (unsigned)__cvta_generic_to_shared(tile);
  if (lane == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(from), "r"(bytes)
                 : "memory");
#else
  for (int i = lane; i < bytes / 16; i += 32) ((float4 *)to)[i] = ((const float4 *)tile)[i];
#endif
}

INLINE void finish_copies_out(int lane)
{
#ifdef COPIES_ALONE
  if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* All threads of a warp see what each has written to shared memory, and so do copies. */
INLINE void meet()
{
#ifdef COPIES_ALONE
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncwarp();
}

/* Rows of N numbers that lie anyhow, for the states of a warp, into a tile in which they lie PITCH numbers apart. */
template <int N, int PITCH>
INLINE void take(const real *rows, long long stride, int states, int lane, real *tile)
{
#pragma unroll 4
  for (int i = lane; i < states * N; i += 32) tile[i / N * PITCH + i % N] = rows[i / N * stride + i % N];
}

/* The same back into rows that lie `stride` numbers apart. */
template <int N, int PITCH>
INLINE void give(const real *tile, int states, int lane, long long stride, real *rows)
{
#pragma unroll 4
  for (int i = lane; i < states * N; i += 32) rows[i / N * stride + i % N] = tile[i / N * PITCH + i % N];
}

INLINE void pendulum_inverse_dynamics_kernel_f64_part0(const real *__restrict__ x0, const real *__restrict__ x1, const real *__restrict__ x2, real *__restrict__ out)
{
  (void)x1;
  const double v2 = sin(x0[0]);
  const double v4 = 9.81 * v2;
  const double v5 = x2[0] + v4;
  out[0] = v5;
}

extern "C" __global__ void __launch_bounds__(128) pendulum_inverse_dynamics_kernel_f64(long long count, const real *x0, long long stride0, const real *x1, long long stride1, const real *x2, long long stride2, real *out)
{
  __shared__ __align__(16) real tiles[4][224];
  __shared__ Arrival arrivals[4][2];
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const long long step = (long long)gridDim.x * 128;
  long long first = ((long long)blockIdx.x * 4 + warp) * 32;
  if (first >= count) return;
  real *const tile = tiles[warp], *const result = tile + 192;
  Arrival *const arrival = arrivals[warp];
  const bool is_whole = true & (stride0 == 1) & ((unsigned long long)x0 % 16 == 0) & (stride1 == 1) & ((unsigned long long)x1 % 16 == 0) & (stride2 == 1) & ((unsigned long long)x2 % 16 == 0);
  const bool is_aligned = (unsigned long long)out % 16 == 0;
  if (lane == 0) {
    prepare(arrival);
    prepare(arrival + 1);
  }
  meet();
  const auto fetch = [&](long long first, int buffer) {
    if (is_whole & (count - first >= 32)) {
      if (lane == 0) expect(arrival + buffer, 768);
      copy_in(tile + 0 + buffer * 32, x0 + first * stride0, 256, lane, arrival + buffer);
      copy_in(tile + 64 + buffer * 32, x1 + first * stride1, 256, lane, arrival + buffer);
      copy_in(tile + 128 + buffer * 32, x2 + first * stride2, 256, lane, arrival + buffer);
    } else {
      const int states = count - first < 32 ? (int)(count - first) : 32;
      (void)states;
      take<1, 1>(x0 + first * stride0, stride0, states, lane, tile + 0 + buffer * 32);
      take<1, 1>(x1 + first * stride1, stride1, states, lane, tile + 64 + buffer * 32);
      take<1, 1>(x2 + first * stride2, stride2, states, lane, tile + 128 + buffer * 32);
      meet();
      if (lane == 0) expect(arrival + buffer, 0);
    }
  };
  fetch(first, 0);
  for (int k = 0; first < count; first += step, ++k) {
    const int buffer = k & 1, states = count - first < 32 ? (int)(count - first) : 32;
    if (first + step < count) fetch(first + step, buffer ^ 1);
    wait_for(arrival + buffer, k >> 1 & 1);
    finish_copies_out(lane);
    __syncwarp();
    const real *const row0 = tile + 0 + buffer * 32 + lane * 1;
    const real *const row1 = tile + 64 + buffer * 32 + lane * 1;
    const real *const row2 = tile + 128 + buffer * 32 + lane * 1;
    pendulum_inverse_dynamics_kernel_f64_part0(row0, row1, row2, result + lane * 1);
    meet();
    if (is_aligned & (states == 32))
      copy_out(out + first * 1, result, 256, lane);
    else
      give<1, 1>(result, states, lane, 1, out + first * 1);
    __syncwarp();
  }
  finish_copies_out(lane);
}

}

#ifndef __CUDACC_RTC__
extern "C" cudaError_t pendulum_inverse_dynamics_f32(long long count, const float *x0, const float *x1, const float *x2, float *out, cudaStream_t stream)
{
  if (count <= 0) return cudaSuccess;
  const long long needed = (count + 127) / 128;
  const dim3 blocks(needed < 16384 ? (unsigned)needed : 16384, 1);
  chainrule_f32::pendulum_inverse_dynamics_kernel_f32<<<blocks, 128, 0, stream>>>(count, x0, 1, x1, 1, x2, 1, out);
  return cudaGetLastError();
}

extern "C" cudaError_t pendulum_inverse_dynamics_f64(long long count, const double *x0, const double *x1, const double *x2, double *out, cudaStream_t stream)
{
  if (count <= 0) return cudaSuccess;
  const long long needed = (count + 127) / 128;
  const dim3 blocks(needed < 16384 ? (unsigned)needed : 16384, 1);
  chainrule_f64::pendulum_inverse_dynamics_kernel_f64<<<blocks, 128, 0, stream>>>(count, x0, 1, x1, 1, x2, 1, out);
  return cudaGetLastError();
}

#endif
