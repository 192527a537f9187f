// A stencil of five points over the inner elements of a matrix. A block keeps its part of x, with a border of one
// element, in shared memory, whose size the launch states.
//
// ferry: stencil(in f32[h,w] x, out f32[h-2,w-2] y, i32 h, i32 w) grid=(ceildiv(w-2, 32), ceildiv(h-2, 8)), block=(32, 8), shared=(32+2) * (8+2) * 4
__constant__ float weights[2] = {0.5f, 0.125f};

__global__ void stencil(const float* x, float* y, int h, int w) {
  extern __shared__ float part[];
  const int width = blockDim.x + 2, height = blockDim.y + 2;
  const int first_row = blockIdx.y * blockDim.y, first_column = blockIdx.x * blockDim.x;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < width * height; i += blockDim.x * blockDim.y) {
    const int row = first_row + i / width, column = first_column + i % width;
    part[i] = row < h && column < w ? x[row * w + column] : 0;
  }
  __syncthreads();
  const int row = first_row + threadIdx.y, column = first_column + threadIdx.x;
  if (row >= h - 2 || column >= w - 2) return;
  const float* middle = part + (threadIdx.y + 1) * width + threadIdx.x + 1;
  y[row * (w - 2) + column] =
      weights[0] * middle[0] + weights[1] * (middle[-width] + middle[width] + middle[-1] + middle[1]);
}
