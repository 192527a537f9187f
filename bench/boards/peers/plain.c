// The kernels of kernels.tc as loops, as a user of C writes them, for what a compiler makes of them.
//
//     plain FUNCTION SIZE...        (the sizes in the order of cases.py)
#include <math.h>
#include <stdio.h>

#include "bench/boards/peers/peer.h"

#define KERNEL static __attribute__((noinline)) int32_t
#define IF(name, kernel, ...) \
  if (strcmp(argv[1], name) == 0) return count_call(kernel(__VA_ARGS__));

KERNEL product(int M, int N, int K, const float* restrict A, const float* restrict B, float* restrict C) {
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) C[m * N + n] = 0;
    for (int k = 0; k < K; ++k)
      for (int n = 0; n < N; ++n) C[m * N + n] += A[m * K + k] * B[k * N + n];
  }
  return 0;
}

#define PRODUCT_OF_BYTES(name, first)                                                                        \
  KERNEL name(int M, int N, int K, const first* restrict A, const int8_t* restrict B, int32_t* restrict C) { \
    for (int m = 0; m < M; ++m) {                                                                            \
      for (int n = 0; n < N; ++n) C[m * N + n] = 0;                                                          \
      for (int k = 0; k < K; ++k)                                                                            \
        for (int n = 0; n < N; ++n) C[m * N + n] += (int32_t)A[m * K + k] * B[k * N + n];                    \
    }                                                                                                        \
    return 0;                                                                                                \
  }
PRODUCT_OF_BYTES(product_int8, int8_t)
PRODUCT_OF_BYTES(product_uint8, uint8_t)

KERNEL matrix_vector(int M, int K, const float* restrict A, const float* restrict x, float* restrict y) {
  for (int m = 0; m < M; ++m) {
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[m * K + k] * x[k];
    y[m] = sum;
  }
  return 0;
}

// I has a border of zeros.
KERNEL convolution(int C, int O, int S, const float* restrict I, const float* restrict K, float* restrict Y) {
  const int W = S + 2;
  for (int o = 0; o < O; ++o)
    for (int h = 0; h < S; ++h) {
      float* row = Y + (o * S + h) * S;
      for (int w = 0; w < S; ++w) row[w] = 0;
      for (int c = 0; c < C; ++c)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            for (int w = 0; w < S; ++w) row[w] += I[(c * W + h + i) * W + w + j] * K[((o * C + c) * 3 + i) * 3 + j];
    }
  return 0;
}

KERNEL pointwise(int C, int O, int P, const float* restrict I, const float* restrict K, const float* restrict bias,
                 float* restrict Y) {
  for (int o = 0; o < O; ++o) {
    float* row = Y + o * P;
    for (int p = 0; p < P; ++p) row[p] = bias[o];
    for (int c = 0; c < C; ++c)
      for (int p = 0; p < P; ++p) row[p] += K[o * C + c] * I[c * P + p];
    for (int p = 0; p < P; ++p) row[p] = fminf(fmaxf(row[p], 0), 6);
  }
  return 0;
}

// I has a border of zeros.
KERNEL depthwise(int C, int S, int step, const float* restrict I, const float* restrict K, float* restrict Y) {
  const int W = S + 2, R = S / step;
  for (int c = 0; c < C; ++c)
    for (int h = 0; h < R; ++h)
      for (int w = 0; w < R; ++w) {
        float sum = 0;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) sum += I[(c * W + step * h + i) * W + step * w + j] * K[(c * 3 + i) * 3 + j];
        Y[(c * R + h) * R + w] = sum;
      }
  return 0;
}

KERNEL stencil(int H, int W, const float* restrict I, const float* restrict K, float* restrict Y) {
  for (int y = 0; y < H - 4; ++y)
    for (int x = 0; x < W - 4; ++x) {
      float sum = 0;
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) sum += I[(y + i) * W + x + j] * K[i * 5 + j];
      Y[y * (W - 4) + x] = sum;
    }
  return 0;
}

KERNEL softmax(int M, int N, const float* restrict A, float* restrict Y) {
  for (int i = 0; i < M; ++i) {
    float top = A[i * N], total = 0;
    for (int j = 1; j < N; ++j) top = fmaxf(top, A[i * N + j]);
    for (int j = 0; j < N; ++j) total += Y[i * N + j] = expf(A[i * N + j] - top);
    for (int j = 0; j < N; ++j) Y[i * N + j] /= total;
  }
  return 0;
}

KERNEL layer_norm(int M, int N, const float* restrict X, const float* restrict gamma, const float* restrict beta,
                  float* restrict Y) {
  for (int i = 0; i < M; ++i) {
    float sum = 0, squares = 0;
    for (int j = 0; j < N; ++j) sum += X
    [i * N + j];
    const float mean = sum / N;
    for (int j = 0; j < N; ++j) squares += (X[i * N + j] - mean) * (X[i * N + j] - mean);
    const float factor = 1 / sqrtf(squares / N + 1e-5f);
    for (int j = 0; j < N; ++j) Y[i * N + j] = (X[i * N + j] - mean) * factor * gamma[j] + beta[j];
  }
  return 0;
}

KERNEL row_sums(int M, int N, const float* restrict A, float* restrict S) {
  for (int m = 0; m < M; ++m) {
    float sum = 0;
    for (int n = 0; n < N; ++n) sum += A[m * N + n];
    S[m] = sum;
  }
  return 0;
}

KERNEL transpose(int M, int N, const float* restrict A, float* restrict B) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j) B[i * M + j] = A[j * N + i];
  return 0;
}

KERNEL chain(int N, const float* restrict A, const float* restrict B, float alpha, float* restrict C) {
  for (int i = 0; i < N; ++i) {
    const float t = fmaxf(alpha * A[i] + B[i], 0);
    C[i] = t / (1 + t);
  }
  return 0;
}

KERNEL gathered_sums(int D, int B, int L, const float* restrict T, const int32_t* restrict I, float* restrict Y) {
  for (int b = 0; b < B; ++b) {
    for (int d = 0; d < D; ++d) Y[b * D + d] = 0;
    for (int l = 0; l < L; ++l)
      for (int d = 0; d < D; ++d) Y[b * D + d] += T[I[b * L + l] * D + d];
  }
  return 0;
}

KERNEL argmax(int M, int N, const float* restrict A, int64_t* restrict I) {
  for (int m = 0; m < M; ++m) {
    int at = 0;
    for (int n = 1; n < N; ++n)
      if (A[m * N + n] > A[m * N + at]) at = n;
    I[m] = at;
  }
  return 0;
}

KERNEL gray(int H, int W, const uint8_t* restrict I, uint8_t* restrict G) {
  for (int i = 0; i < H * W; ++i) G[i] = (77 * I[3 * i] + 150 * I[3 * i + 1] + 29 * I[3 * i + 2] + 128) / 256;
  return 0;
}

KERNEL sobel(int H, int W, const uint8_t* restrict I, uint8_t* restrict O) {
  for (int y = 0; y < H - 2; ++y)
    for (int x = 0; x < W - 2; ++x) {
      const uint8_t *a = I + y * W + x, *b = a + W, *c = b + W;
      const int across = a[2] - a[0] + 2 * (b[2] - b[0]) + c[2] - c[0];
      const int down = c[0] - a[0] + 2 * (c[1] - a[1]) + c[2] - a[2];
      const int sum = (across < 0 ? -across : across) + (down < 0 ? -down : down);
      O[y * (W - 2) + x] = sum < 255 ? sum : 255;
    }
  return 0;
}

KERNEL complex_product(int N, const float* restrict A, const float* restrict B, float* restrict C) {
  for (int i = 0; i < N; ++i) {
    C[2 * i] = A[2 * i] * B[2 * i] - A[2 * i + 1] * B[2 * i + 1];
    C[2 * i + 1] = A[2 * i] * B[2 * i + 1] + A[2 * i + 1] * B[2 * i];
  }
  return 0;
}

KERNEL recurrence(int C, int N, const float* restrict X, float a, float b, float* restrict Y) {
  for (int c = 0; c < C; ++c) {
    float y = 0;
    for (int i = 0; i < N; ++i) Y[c * N + i] = y = b * X
    [c * N + i] + a* y;
  }
  return 0;
}

KERNEL histogram(int N, const uint8_t* restrict I, int32_t* restrict H) {
  for (int i = 0; i < 256; ++i) H[i] = 0;
  for (int i = 0; i < N; ++i) ++H[I[i]];
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  fill_pools();
  const int s = size(argc, argv, 2), t = size(argc, argv, 3), u = size(argc, argv, 4), v = size(argc, argv, 5);
  const int window = (t + 2) * (t + 2);
  IF("product", product, s, t, u, floats(s * u), floats(u * t), floats(s * t))
  IF("product_int8", product_int8, s, t, u, bytes(s * u), bytes(u * t), ints(s * t))
  IF("product_uint8", product_uint8, s, t, u, (uint8_t*)bytes(s * u), bytes(u * t), ints(s * t))
  IF("matrix_vector", matrix_vector, s, t, floats(s * t), floats(t), floats(s))
  IF("convolution", convolution, s, t, u, floats(s * (u + 2) * (u + 2)), floats(t * s * 9), floats(t * u * u))
  IF("pointwise", pointwise, s, t, u, floats(s * u), floats(t * s), floats(t), floats(t * u))
  IF("depthwise", depthwise, s, t, 1, floats(s * window), floats(s * 9), floats(s * t * t))
  IF("depthwise_by_two", depthwise, s, t, 2, floats(s * window), floats(s * 9), floats(s * t * t / 4))
  IF("stencil", stencil, s, t, floats(s * t), floats(25), floats(s * t))
  IF("softmax", softmax, s, t, floats(s * t), floats(s * t))
  IF("layer_norm", layer_norm, s, t, floats(s * t), floats(t), floats(t), floats(s * t))
  IF("row_sums", row_sums, s, t, floats(s * t), floats(s))
  IF("transpose", transpose, s, t, floats(s * t), floats(s * t))
  IF("chain", chain, s, floats(s), floats(s), 0.5F, floats(s))
  IF("gathered_sums", gathered_sums, t, u, v, floats(s * t), ints(u * v), floats(u * t))
  IF("argmax", argmax, s, t, floats(s * t), (int64_t*)ints(2 * s))
  IF("gray", gray, s, t, (uint8_t*)bytes(s * t * 3), (uint8_t*)bytes(s * t))
  IF("sobel", sobel, s, t, (uint8_t*)bytes(s * t), (uint8_t*)bytes(s * t))
  IF("complex_product", complex_product, s, floats(2 * s), floats(2 * s), floats(2 * s))
  IF("recurrence", recurrence, s, t, floats(s * t), 0.5F, 0.5F, floats(s * t))
  IF("histogram", histogram, s, (uint8_t*)bytes(s), ints(256))
  fprintf(stderr, "no function %s\n", argv[1]);
  return 2;
}
