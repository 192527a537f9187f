// The bits come from Intel's Software Developer's Manual, volume 2, CPUID, and volume 1, section 14.3 (the state that
// the system must save).
#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "device-runtime/facts/features.h"

namespace ferry::device {
namespace {

enum Word : std::uint8_t { kLeaf1C, kLeaf7B, kLeaf7C, kLeaf7D, kLeaf71A, kExtended1C, kWords };
// Register state that the system must save for the feature to be usable.
enum Saved : std::uint8_t { kBase, kAvx, kAvx512, kAmx };

struct Feature {
  const char* name;
  Word word;
  std::uint8_t bit;
  Saved saved;
};

constexpr Feature kFeatures[] = {
    {"sse3", kLeaf1C, 0, kBase},
    {"ssse3", kLeaf1C, 9, kBase},
    {"sse4.1", kLeaf1C, 19, kBase},
    {"sse4.2", kLeaf1C, 20, kBase},
    {"popcnt", kLeaf1C, 23, kBase},
    {"lzcnt", kExtended1C, 5, kBase},
    {"bmi", kLeaf7B, 3, kBase},
    {"bmi2", kLeaf7B, 8, kBase},
    {"movbe", kLeaf1C, 22, kBase},
    {"avx", kLeaf1C, 28, kAvx},
    {"f16c", kLeaf1C, 29, kAvx},
    {"fma", kLeaf1C, 12, kAvx},
    {"avx2", kLeaf7B, 5, kAvx},
    {"avx512f", kLeaf7B, 16, kAvx512},
    {"avx512bw", kLeaf7B, 30, kAvx512},
    {"avx512cd", kLeaf7B, 28, kAvx512},
    {"avx512dq", kLeaf7B, 17, kAvx512},
    {"avx512vl", kLeaf7B, 31, kAvx512},
    {"avx512ifma", kLeaf7B, 21, kAvx512},
    {"avx512vbmi", kLeaf7C, 1, kAvx512},
    {"avx512vbmi2", kLeaf7C, 6, kAvx512},
    {"avx512bitalg", kLeaf7C, 12, kAvx512},
    {"avx512vpopcntdq", kLeaf7C, 14, kAvx512},
    {"avx512vnni", kLeaf7C, 11, kAvx512},
    {"avx512bf16", kLeaf71A, 5, kAvx512},
    {"avx512fp16", kLeaf7D, 23, kAvx512},
    {"avxvnni", kLeaf71A, 4, kAvx},
    {"gfni", kLeaf7C, 8, kBase},
    {"vaes", kLeaf7C, 9, kAvx},
    {"vpclmulqdq", kLeaf7C, 10, kAvx},
    {"amx-tile", kLeaf7D, 24, kAmx},
    {"amx-int8", kLeaf7D, 25, kAmx},
    {"amx-bf16", kLeaf7D, 22, kAmx},
};

std::array<std::uint32_t, kWords> read_words() {
  std::array<std::uint32_t, kWords> words{};
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) words[kLeaf1C] = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    words[kLeaf7B] = b;
    words[kLeaf7C] = c;
    words[kLeaf7D] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) words[kLeaf71A] = a;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) words[kExtended1C] = c;
  return words;
}

// Reads XCR0: the register state that the system saves on a context switch.
std::uint64_t saved_state(std::uint32_t leaf1_c) {
  if ((leaf1_c & (1U << 27)) == 0) return 0;  // no XGETBV
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

// Linux grants the tile registers only to processes that request them; children inherit the permission.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  static const bool allowed = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return allowed;
}

bool is_saved(Saved saved, std::uint64_t state) {
  const auto all_of = [state](std::uint64_t bits) { return (state & bits) == bits; };
  switch (saved) {
    case kBase: return true;
    case kAvx: return all_of(0x6);
    case kAvx512: return all_of(0xe6);
    case kAmx: return all_of(0x60000) && may_use_tiles();
  }
  return false;
}

}  // namespace

const char* native_arch() { return "x86_64"; }

std::vector<std::string> detect_features(std::uint64_t, std::uint64_t) {
  const auto words = read_words();
  const std::uint64_t state = saved_state(words[kLeaf1C]);
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    if ((words[feature.word] >> feature.bit & 1) != 0 && is_saved(feature.saved, state))
      names.emplace_back(feature.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ferry::device

#endif
