#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#else
#include <cmath>
#include <cstdint>
#endif

/* f(in f32[32, 64] A, out f32[32, 64] C)
   args: A, C */
/* (4, 4, 1) blocks of (4, 8, 1) threads */
extern "C" __global__ void __launch_bounds__(32) ferry_fn_f(
    const float* __restrict__ A,
    float* __restrict__ C) {
  const int64_t blockIdx_x = blockIdx.x;
  const int64_t threadIdx_x = threadIdx.x;
  const int64_t blockIdx_y = blockIdx.y;
  const int64_t threadIdx_y = threadIdx.y;
  __shared__ __align__(16) float AA[128];  /* [8, 16] */
  *(float4*)&AA[threadIdx_y * 16 + threadIdx_x * 4] = *(const float4*)&A[blockIdx_y * 512 + threadIdx_y * 64 + blockIdx_x * 16 + threadIdx_x * 4];
  __syncthreads();
  *(float4*)&C[blockIdx_y * 512 + threadIdx_y * 64 + blockIdx_x * 16 + threadIdx_x * 4] = make_float4(AA[threadIdx_y * 16 + threadIdx_x * 4] * 2.0f + 1.0f, AA[threadIdx_y * 16 + threadIdx_x * 4 + 1] * 2.0f + 1.0f, AA[threadIdx_y * 16 + threadIdx_x * 4 + 2] * 2.0f + 1.0f, AA[threadIdx_y * 16 + threadIdx_x * 4 + 3] * 2.0f + 1.0f);
}
