// Calls the exported product mm of small integers, whose result is exact, on one thread and on two, and in two
// instances at once. Prints "fine", or what is wrong.
#include "mm.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void* allocate(int64_t bytes) {
  void* memory = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
  if (memory == NULL) exit(2);
  return memory;
}

static void expect(int32_t code) {
  if (code == mm_ok) return;
  printf("%s\n", mm_message(code));
  exit(1);
}

static void check(mm_instance* instance, int64_t M, int64_t N, int64_t K) {
  float *A = allocate(M * K * 4), *B = allocate(K * N * 4), *C = allocate(M * N * 4);
  for (int64_t i = 0; i < M * K; ++i) A[i] = (float)(i % 11) - 5;
  for (int64_t i = 0; i < K * N; ++i) B[i] = (float)(i % 7) - 3;
  for (int round = 0; round < 20; ++round) {
    for (int64_t i = 0; i < M * N; ++i) C[i] = -1;
    expect(mm_run(instance, A, B, C, M, K, N));
    for (int64_t m = 0; m < M; ++m) {
      for (int64_t n = 0; n < N; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < K; ++k) sum += A[m * K + k] * B[k * N + n];
        if (C[m * N + n] == sum) continue;
        printf("C[%d,%d]: expected %g, got %g\n", (int)m, (int)n, sum, C[m * N + n]);
        exit(1);
      }
    }
  }
  free(A);
  free(B);
  free(C);
}

static void* work(void* unused) {
  (void)unused;
  const int64_t bytes = mm_arena_bytes(33, 40, 35, 1);
  mm_instance* instance = NULL;
  expect(mm_init(allocate(bytes), bytes, NULL, &instance));
  check(instance, 33, 35, 40);
  check(instance, 1, 1, 1);
  check(instance, 0, 5, 3);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (int32_t number = 1; number <= 3; ++number) {
    mm_threads* pool = allocate(mm_threads_bytes(number));
    expect(mm_threads_start(pool, mm_threads_bytes(number), number));
    const int64_t bytes = mm_arena_bytes(70, 64, 66, number);
    mm_instance* instance = NULL;
    expect(mm_init(allocate(bytes), bytes, pool, &instance));
    check(instance, 70, 66, 64);
    mm_threads_stop(pool);
  }
  printf("fine\n");
  return 0;
}
