typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

/* f(in f32[32, 64] A, out f32[32, 64] C)
   args: A, C */
/* (4, 4, 1) blocks of (4, 8, 1) threads */
__kernel __attribute__((reqd_work_group_size(4, 8, 1))) void ferry_fn_f(
    __global const float* restrict A,
    __global float* restrict C) {
  const int64_t blockIdx_x = get_group_id(0);
  const int64_t threadIdx_x = get_local_id(0);
  const int64_t blockIdx_y = get_group_id(1);
  const int64_t threadIdx_y = get_local_id(1);
  __local __attribute__((aligned(16))) float AA[128];  /* [8, 16] */
  *(__local float4*)&AA[threadIdx_y * 16 + threadIdx_x * 4] = *(const __global float4*)&A[blockIdx_y * 512 + threadIdx_y * 64 + blockIdx_x * 16 + threadIdx_x * 4];
  barrier(CLK_LOCAL_MEM_FENCE);
  *(__global float4*)&C[blockIdx_y * 512 + threadIdx_y * 64 + blockIdx_x * 16 + threadIdx_x * 4] = (float4)(AA[threadIdx_y * 16 + threadIdx_x * 4] * 2.0f + 1.0f, AA[threadIdx_y * 16 + threadIdx_x * 4 + 1] * 2.0f + 1.0f, AA[threadIdx_y * 16 + threadIdx_x * 4 + 2] * 2.0f + 1.0f, AA[threadIdx_y * 16 + threadIdx_x * 4 + 3] * 2.0f + 1.0f);
}
