// network_driver BATCH INPUTS OUTPUTS X Y: computes an exported network of BATCH inputs with INPUTS elements in total,
// which X has, and writes the OUTPUTS elements of the results to Y. One thread, a pool of two, and two instances that run
// at once must compute the same bytes, and none of the calls may allocate memory.
#define _GNU_SOURCE
#include "net.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kInstances = 2, kRounds = 2 };

// The allocations of the whole program, which these functions count in place of the C library's.
static atomic_long allocations;
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}

static int64_t batch;
static size_t outputs;
static const float* x;
static pthread_barrier_t barrier;

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void expect(int32_t code) {
  if (code != net_ok) fail(net_message(code));
}

static void* allocate(int64_t bytes) { return aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64); }

static net_instance* make(net_threads* threads, int32_t number) {
  const int64_t bytes = net_arena_bytes(batch, number);
  if (bytes < 0) expect((int32_t)bytes);
  char* arena = allocate(bytes + 64);
  net_instance* instance = NULL;
  if (net_init(arena + 4, bytes, threads, &instance) != net_error_arena_alignment) fail("a misaligned arena is accepted");
  expect(net_init(arena, bytes, threads, &instance));
  return instance;
}

static void run(net_instance* instance, float* y) {
  const long before = allocations;
  for (int round = 0; round < kRounds; ++round) expect(net_run(instance, x, y, batch));
  if (allocations != before) fail("a call allocates memory");
}

static void* run_at_once(void* y) {
  net_instance* instance = make(NULL, 1);
  pthread_barrier_wait(&barrier);
  run(instance, y);
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(int count, char** words) {
  if (count != 6) return 2;
  batch = atoi(words[1]);
  const size_t inputs = (size_t)atoi(words[2]);
  outputs = (size_t)atoi(words[3]);
  const size_t bytes = outputs * sizeof(float);
  float *given = allocate((int64_t)(inputs * sizeof(float))), *y = allocate((int64_t)bytes);
  FILE* file = fopen(words[4], "rb");
  if (file == NULL || fread(given, sizeof(float), inputs, file) != inputs) fail("no input");
  fclose(file);
  x = given;
  run(make(NULL, 1), y);

  float* shifted = (float*)allocate((int64_t)((inputs + 1) * sizeof(float))) + 1;
  float* result = (float*)allocate((int64_t)(bytes + sizeof(float))) + 1;
  memcpy(shifted, given, inputs * sizeof(float));
  x = shifted;
  run(make(NULL, 1), result);
  x = given;
  if (memcmp(y, result, bytes) != 0) fail("tensors that begin at the second element of their memory give other results");

  float* again = allocate((int64_t)bytes);
  net_threads* threads = allocate(net_threads_bytes(2));
  expect(net_threads_start(threads, net_threads_bytes(2), 2));
  run(make(threads, 2), again);
  net_threads_stop(threads);
  if (memcmp(y, again, bytes) != 0) fail("two threads compute something else");

  pthread_t users[kInstances];
  float* results[kInstances];
  pthread_barrier_init(&barrier, NULL, kInstances);
  for (int i = 0; i < kInstances; ++i) {
    results[i] = allocate((int64_t)bytes);
    pthread_create(&users[i], NULL, run_at_once, results[i]);
  }
  for (int i = 0; i < kInstances; ++i) {
    pthread_join(users[i], NULL);
    if (memcmp(y, results[i], bytes) != 0) fail("instances at once compute something else");
  }
  file = fopen(words[5], "wb");
  if (file == NULL || fwrite(y, sizeof(float), outputs, file) != outputs) fail("no output");
  return fclose(file);
}
