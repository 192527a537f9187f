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

/* mm(in f32[M, K] A, in f32[K, N] B, out f32[M, N] C)
   args: A, B, C, M, K, N */
/* ((N + 7) / 8, (M + 7) / 8, 1) blocks of (4, 4, 1) threads */
extern "C" __global__ void __launch_bounds__(16) ferry_fn_mm(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ C,
    const int64_t K,
    const int64_t M,
    const int64_t N) {
  const int64_t blockIdx_x = blockIdx.x;
  const int64_t threadIdx_x = threadIdx.x;
  const int64_t blockIdx_y = blockIdx.y;
  const int64_t threadIdx_y = threadIdx.y;
  __shared__ __align__(16) float AA[32];  /* [8, 4] */
  __shared__ __align__(16) float BB[32];  /* [4, 8] */
  float CL[4];  /* [2, 2] */
  {
    float CL_acc[4];  /* [2, 2] */
    #pragma unroll
    for (int64_t m = 0; m < 2; ++m) {
      #pragma unroll
      for (int64_t n = 0; n < 2; ++n) {
        CL_acc[m * 2 + n] = 0.0f;
      }
    }
    for (int64_t ko = 0; ko < (K + 3) / 4; ++ko) {
      __syncthreads();
      if (M >= blockIdx_y * 8 + threadIdx_y * 2 + 2 && K > threadIdx_x + ko * 4) {
        for (int64_t ai = 0; ai < 2; ++ai) {
          AA[(threadIdx_y * 2 + ai) * 4 + threadIdx_x] = A[(blockIdx_y * 8 + threadIdx_y * 2 + ai) * K + ko * 4 + threadIdx_x];
        }
      } else {
        for (int64_t ai = 0; ai < 2; ++ai) {
          if (blockIdx_y * 8 + threadIdx_y * 2 + ai < M && ko * 4 + threadIdx_x < K) {
            AA[(threadIdx_y * 2 + ai) * 4 + threadIdx_x] = A[(blockIdx_y * 8 + threadIdx_y * 2 + ai) * K + ko * 4 + threadIdx_x];
          }
        }
      }
      if (K > threadIdx_y + ko * 4 && N >= blockIdx_x * 8 + threadIdx_x * 2 + 2) {
        for (int64_t bj = 0; bj < 2; ++bj) {
          BB[threadIdx_y * 8 + threadIdx_x * 2 + bj] = B[(ko * 4 + threadIdx_y) * N + blockIdx_x * 8 + threadIdx_x * 2 + bj];
        }
      } else {
        for (int64_t bj = 0; bj < 2; ++bj) {
          if (ko * 4 + threadIdx_y < K && blockIdx_x * 8 + threadIdx_x * 2 + bj < N) {
            BB[threadIdx_y * 8 + threadIdx_x * 2 + bj] = B[(ko * 4 + threadIdx_y) * N + blockIdx_x * 8 + threadIdx_x * 2 + bj];
          }
        }
      }
      __syncthreads();
      if (K >= ko * 4 + 4 && M >= blockIdx_y * 8 + threadIdx_y * 2 + 2 && N >= blockIdx_x * 8 + threadIdx_x * 2 + 2) {
        #pragma unroll
        for (int64_t ki = 0; ki < 4; ++ki) {
          #pragma unroll
          for (int64_t m = 0; m < 2; ++m) {
            #pragma unroll
            for (int64_t n = 0; n < 2; ++n) {
              CL_acc[m * 2 + n] += AA[(threadIdx_y * 2 + m) * 4 + ki] * BB[ki * 8 + threadIdx_x * 2 + n];
            }
          }
        }
      } else {
        for (int64_t ki = 0; ki < 4; ++ki) {
          #pragma unroll
          for (int64_t m = 0; m < 2; ++m) {
            #pragma unroll
            for (int64_t n = 0; n < 2; ++n) {
              if (ko * 4 + ki < K && blockIdx_y * 8 + threadIdx_y * 2 + m < M && blockIdx_x * 8 + threadIdx_x * 2 + n < N) {
                CL_acc[m * 2 + n] += AA[(threadIdx_y * 2 + m) * 4 + ki] * BB[ki * 8 + threadIdx_x * 2 + n];
              }
            }
          }
        }
      }
    }
    if (M >= blockIdx_y * 8 + threadIdx_y * 2 + 2 && N >= blockIdx_x * 8 + threadIdx_x * 2 + 2) {
      #pragma unroll
      for (int64_t m = 0; m < 2; ++m) {
        #pragma unroll
        for (int64_t n = 0; n < 2; ++n) {
          CL[m * 2 + n] = CL_acc[m * 2 + n];
        }
      }
    } else {
      #pragma unroll
      for (int64_t m = 0; m < 2; ++m) {
        #pragma unroll
        for (int64_t n = 0; n < 2; ++n) {
          if (blockIdx_y * 8 + threadIdx_y * 2 + m < M && blockIdx_x * 8 + threadIdx_x * 2 + n < N) {
            CL[m * 2 + n] = CL_acc[m * 2 + n];
          }
        }
      }
    }
  }
  if (M >= blockIdx_y * 8 + threadIdx_y * 2 + 2 && N >= blockIdx_x * 8 + threadIdx_x * 2 + 2) {
    #pragma unroll
    for (int64_t yi = 0; yi < 2; ++yi) {
      #pragma unroll
      for (int64_t xi = 0; xi < 2; ++xi) {
        C[(blockIdx_y * 8 + threadIdx_y * 2 + yi) * N + blockIdx_x * 8 + threadIdx_x * 2 + xi] = CL[yi * 2 + xi];
      }
    }
  } else {
    #pragma unroll
    for (int64_t yi = 0; yi < 2; ++yi) {
      #pragma unroll
      for (int64_t xi = 0; xi < 2; ++xi) {
        if (blockIdx_y * 8 + (threadIdx_y * 2 + yi) < M && blockIdx_x * 8 + (threadIdx_x * 2 + xi) < N) {
          C[(blockIdx_y * 8 + threadIdx_y * 2 + yi) * N + blockIdx_x * 8 + threadIdx_x * 2 + xi] = CL[yi * 2 + xi];
        }
      }
    }
  }
}
