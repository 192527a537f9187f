// Two ways to sum up the rows of a matrix: `--fn row_sum` or `--fn row_sum_by_warps`. The lanes of a warp add their sums
// by shuffles, the warps of a block through shared memory.
//
// ferry: row_sum(in f32[m,n] x, out f32[m] y) grid=m, block=256
// ferry: row_sum_by_warps(in f32[m,n] x, out f32[m] y) grid=ceildiv(m, 8), block=(32, 8)
__device__ float sum_of_warp(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
  return value;  // in lane 0
}

// A block for each row.
__global__ void row_sum(const float* x, float* y, long long m, long long n) {
  __shared__ float sums[32];
  const float* row = x + blockIdx.x * n;
  float sum = 0;
  for (long long i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = sum_of_warp(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// A warp for each row, without shared memory.
__global__ void row_sum_by_warps(const float* x, float* y, long long m, long long n) {
  const long long r = blockIdx.x * (long long)blockDim.y + threadIdx.y;
  if (r >= m) return;
  float sum = 0;
  for (long long i = threadIdx.x; i < n; i += 32) sum += x[r * n + i];
  sum = sum_of_warp(sum);
  if (threadIdx.x == 0) y[r] = sum;
}
