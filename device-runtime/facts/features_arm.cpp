// 32- and 64-bit ARM. The bits are those of include/uapi/asm/hwcap.h in the kernel's arch/arm and arch/arm64, given by
// number because older headers lack the newer names.
#if defined(__arm__) || defined(__aarch64__)

#include <sys/auxv.h>

#include <algorithm>
#include <cstring>

#include "device-runtime/facts/features.h"

namespace ferry::device {
namespace {

struct ArmFeature {
  const char* name;
  std::uint64_t hwcap;   // all of these bits
  std::uint64_t hwcap2;  // all of these bits are needed too
};

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

#if defined(__aarch64__)
constexpr ArmFeature kArmFeatures[] = {
    {"neon", bit(1), 0},     {"crc", bit(7), 0},      {"lse", bit(8), 0},
    {"rdm", bit(12), 0},     {"rcpc", bit(15), 0},    {"fullfp16", bit(9) | bit(10), 0},
    {"fp16fml", bit(23), 0}, {"dotprod", bit(20), 0}, {"complxnum", bit(14), 0},
    {"jsconv", bit(13), 0},  {"i8mm", 0, bit(13)},    {"bf16", 0, bit(14)},
    {"sve", bit(22), 0},     {"sve2", 0, bit(1)},     {"sme", 0, bit(23)},
};
#else
constexpr ArmFeature kArmFeatures[] = {
    {"neon", bit(12), 0},
    {"vfp3", bit(13), 0},
    {"vfp4", bit(16), 0},
    {"d32", bit(19), 0},
    {"hwdiv-arm", bit(17), 0},
    {"hwdiv", bit(18), 0},
    {"fullfp16", bit(22) | bit(23), 0},
    {"dotprod", bit(24), 0},
    {"crc", 0, bit(4)},
};

// The floating point of ARMv8 has no bit of its own; the platform's name ("v8l") indicates it.
bool has_version_8() {
  const auto* platform = reinterpret_cast<const char*>(getauxval(AT_PLATFORM));
  return platform != nullptr && std::strncmp(platform, "v8", 2) == 0;
}
#endif

}  // namespace

const char* native_arch() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "armv7";
#endif
}

std::vector<std::string> detect_features(std::uint64_t hwcap, std::uint64_t hwcap2) {
  std::vector<std::string> names;
  for (const ArmFeature& feature : kArmFeatures) {
    if ((hwcap & feature.hwcap) == feature.hwcap && (hwcap2 & feature.hwcap2) == feature.hwcap2) {
      names.emplace_back(feature.name);
    }
  }
#if defined(__arm__)
  if (has_version_8()) names.emplace_back("fp-armv8");
#endif
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ferry::device

#endif
