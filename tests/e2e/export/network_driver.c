// network_driver X Y: computes an exported network of two images of 3x20x20, of which X has the elements, on one thread
// and on two, and writes the 2x10 results to Y.
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* allocate(int64_t bytes) { return aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64); }

static void expect(int32_t code) {
  if (code == net_ok) return;
  fprintf(stderr, "%s\n", net_message(code));
  exit(1);
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const size_t elements = 2 * 3 * 20 * 20;
  float *x = allocate((int64_t)elements * 4), *y = allocate(20 * 4), *again = allocate(20 * 4);
  FILE* file = fopen(words[1], "rb");
  if (file == NULL || fread(x, 4, elements, file) != elements) return 3;
  fclose(file);
  net_threads* threads = allocate(net_threads_bytes(2));
  expect(net_threads_start(threads, net_threads_bytes(2), 2));
  for (int32_t number = 1; number <= 2; ++number) {
    const int64_t bytes = net_arena_bytes(2, number);
    net_instance* instance = NULL;
    expect(net_init(allocate(bytes), bytes, number == 1 ? NULL : threads, &instance));
    expect(net_run(instance, x, number == 1 ? y : again, 2));
  }
  net_threads_stop(threads);
  if (memcmp(y, again, 20 * 4) != 0) return 4;
  file = fopen(words[2], "wb");
  if (file == NULL || fwrite(y, 4, 20, file) != 20) return 5;
  return fclose(file);
}
