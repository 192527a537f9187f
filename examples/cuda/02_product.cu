// A product of matrices. A block computes a tile of c; its threads fetch the tiles of a and b that it takes together.
// Along the edges, tiles are filled up with zeros.
//
// ferry: product(in f32[m,k] a, in f32[k,n] b, out f32[m,n] c) grid=(ceildiv(n, 16), ceildiv(m, 16)), block=(16, 16)
constexpr int kTile = 16;

__global__ void product(const float* a, const float* b, float* c, long long m, long long k, long long n) {
  __shared__ float tile_of_a[kTile][kTile], tile_of_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const long long row = blockIdx.y * (long long)kTile + y, column = blockIdx.x * (long long)kTile + x;
  float sum = 0;
  for (long long first = 0; first < k; first += kTile) {
    tile_of_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
    tile_of_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_of_a[y][i] * tile_of_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
