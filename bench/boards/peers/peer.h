// The programs of peers share this: arguments with contents that do not matter, and a counted call.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/boards/count_call.h"

// Arguments come from pools, so that taking them costs a counted call next to nothing.
enum { kFloats = 6 << 20, kBytes = 2 << 20, kInts = 1 << 17, kSpace = 64 };
static float float_pool[kFloats];
static int8_t byte_pool[kBytes];
static int32_t int_pool[kInts];

static void fill_pools(void) {
  for (int i = 0; i < kFloats; ++i) float_pool[i] = (float)(i * 37 % 201) / 100 - 1;
  for (int i = 0; i < kBytes; ++i) byte_pool[i] = (int8_t)(i * 7 % 15 - 7);
  for (int i = 0; i < kInts; ++i) int_pool[i] = i * 37 % 1000;
}

#define POOL(function, type, pool, end)             \
  static type* function(size_t count) {             \
    static size_t taken = 0;                        \
    type* found = pool + taken;                     \
    taken = (taken + count + kSpace) & ~(size_t)15; \
    if (taken > (end)) abort();                     \
    return found;                                   \
  }
POOL(floats, float, float_pool, kFloats)
POOL(bytes, int8_t, byte_pool, kBytes)
POOL(ints, int32_t, int_pool, kInts)

static int size(int argc, char** argv, int at) { return at < argc ? atoi(argv[at]) : 0; }
