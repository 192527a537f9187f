// The sum of two vectors, a thread for each element. The comment says how ferry calls and launches the kernel:
//
// ferry: vector_add(in f32[n] a, in f32[n] b, out f32[n] c, i32 n) grid=ceildiv(n, 256), block=256
__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
