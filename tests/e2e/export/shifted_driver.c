// Calls the exported kernel slide with tensors that begin at every element behind a multiple of 64 bytes, and expects
// the same results; with -DFIXED, of a kernel whose sizes are fixed. Prints "fine", or what is wrong.
#include "slide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
#define SIZES
#define ARENA_SIZES
#else
#define SIZES , kSize, kTaps
#define ARENA_SIZES kSize, kTaps,
#endif

enum { kSize = 203, kTaps = 7, kOutputs = kSize - kTaps + 1, kMost = 17 };

static void* allocate(int64_t bytes) {
  void* memory = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
  if (memory == NULL) exit(2);
  memset(memory, 85, (size_t)bytes);
  return memory;
}

// A tensor that begins at the element `shift` of its memory.
#define TENSOR(type, name, count) type* name = (type*)allocate(((count) + 2 * kMost) * (int64_t)sizeof(type)) + shift

static float expected_y[kOutputs];
static int32_t expected_z[kOutputs];
static int16_t expected_s[kSize];
static double expected_d[kSize];
static uint8_t expected_b[kSize];

static void compare(const char* name, const void* got, void* expected, size_t bytes, int shift) {
  if (shift == 0) memcpy(expected, got, bytes);
  if (memcmp(got, expected, bytes) == 0) return;
  printf("%s differs where tensors begin at element %d\n", name, shift);
  exit(1);
}

static void check(slide_instance* instance, int shift) {
  TENSOR(float, X, kSize);
  TENSOR(float, H, kTaps);
  TENSOR(uint8_t, B, kSize);
  TENSOR(int8_t, G, kTaps);
  TENSOR(int16_t, P, kSize);
  TENSOR(double, Q, kSize);
  TENSOR(float, Y, kOutputs);
  TENSOR(int32_t, Z, kOutputs);
  TENSOR(int16_t, S, kSize);
  TENSOR(double, D, kSize);
  TENSOR(uint8_t, C, kSize);
  for (int i = 0; i < kSize; ++i) {
    X[i] = (float)(i % 13) - 6;
    B[i] = (uint8_t)(i * 37);
    P[i] = (int16_t)(i * 1009);
    Q[i] = i * 0.5 - 20;
  }
  for (int k = 0; k < kTaps; ++k) {
    H[k] = (float)(k - 2);
    G[k] = (int8_t)(k * 31 - 100);
  }
  const int32_t code = slide_run(instance, X, H, B, G, P, Q, Y, Z, S, D, C SIZES);
  if (code != slide_ok) {
    printf("%s where tensors begin at element %d\n", slide_message(code), shift);
    exit(1);
  }
  compare("Y", Y, expected_y, sizeof(expected_y), shift);
  compare("Z", Z, expected_z, sizeof(expected_z), shift);
  compare("S", S, expected_s, sizeof(expected_s), shift);
  compare("D", D, expected_d, sizeof(expected_d), shift);
  compare("C", C, expected_b, sizeof(expected_b), shift);
  if (C[kSize] != 85) {
    printf("an element behind C changed where tensors begin at element %d\n", shift);
    exit(1);
  }
}

int main(void) {
  const int64_t bytes = slide_arena_bytes(ARENA_SIZES 1);
  slide_instance* instance = NULL;
  if (bytes < 0 || slide_init(allocate(bytes), bytes, NULL, &instance) != slide_ok) return 3;
  for (int shift = 0; shift <= kMost; ++shift) check(instance, shift);
  // An address between two elements is none of a tensor.
  float *X = allocate(kSize * 4 + 64), *H = allocate(kTaps * 4), *Y = allocate(kOutputs * 4);
  void* other = allocate(kSize * 8);
  const int32_t code = slide_run(instance, (float*)((char*)X + 2), H, other, other, other, other, Y, other, other, other,
                                 other SIZES);
  if (code != slide_error_tensor_alignment) {
    printf("expected half of an element to be refused, got '%s'\n", slide_message(code));
    return 1;
  }
  printf("fine\n");
  return 0;
}
