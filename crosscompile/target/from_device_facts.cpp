// Builds a target from what a machine, this one included, reports about itself.
#include "crosscompile/target/cpu_target.h"
#include "crosscompile/target/resolve.h"
#include "module/unaligned_tensors.h"

#include <algorithm>
#include <optional>

namespace ferry {
namespace {

// A CPU that stands for all with certain features.
struct Level {
  Arch arch;
  const char* cpu;
  std::vector<std::string> needs;
};

// Returns the levels of the x86-64 psABI, highest first, each with those of its features that devices report. Other
// architectures have none.
const std::vector<Level>& levels() {
  static const std::vector<Level> levels = [] {
    const std::vector<std::string> v2{"popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"};
    std::vector<std::string> v3{"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
    v3.insert(v3.end(), v2.begin(), v2.end());
    std::vector<std::string> v4{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
    v4.insert(v4.end(), v3.begin(), v3.end());
    return std::vector<Level>{{Arch::x86_64, "x86-64-v4", v4},
                              {Arch::x86_64, "x86-64-v3", v3},
                              {Arch::x86_64, "x86-64-v2", v2},
                              {Arch::x86_64, "x86-64", {}}};
  }();
  return levels;
}

// Returns the highest level whose features are reported; nothing for an architecture without levels.
std::optional<std::string> level_of(Arch arch, const std::vector<std::string>& reported) {
  const auto has = [&](const std::string& name) {
    return std::find(reported.begin(), reported.end(), name) != reported.end();
  };
  for (const Level& level : levels()) {
    if (level.arch == arch && std::all_of(level.needs.begin(), level.needs.end(), has)) return level.cpu;
  }
  return std::nullopt;
}

std::uint64_t cache_bytes(const DeviceFacts& facts, int level) {
  for (const CacheFacts& cache : facts.caches) {
    if (cache.level == level && cache.kind != "instruction") return cache.bytes;
  }
  return 0;
}

}  // namespace

std::vector<std::string> detectable_features(const std::string& arch) {
  std::vector<std::string> names;
  const auto add = [&](const char* of, const char* name) {
    if (arch == of) names.emplace_back(name);
  };
#define FERRY_FEATURE(of, name) add(#of, name);
#include "module/features.def"
#undef FERRY_FEATURE
  std::sort(names.begin(), names.end());
  return names;
}

void apply_reported_features(TargetParts& parts, std::string cpu, const std::vector<std::string>& reported) {
  const std::string& arch = parts.triple.arch;
  parts.cpu = level_of(arch_named(arch), reported).value_or(std::move(cpu));
  const std::vector<std::string> known = codegen::known_features(parts.triple.triple);
  std::vector<std::string> on, off;
  for (const std::string& name : detectable_features(arch)) {
    // features.def may list features that this LLVM does not know yet.
    if (!std::binary_search(known.begin(), known.end(), name)) continue;
    const bool has = std::find(reported.begin(), reported.end(), name) != reported.end();
    (has ? on : off).push_back((has ? "+" : "-") + name);
  }
  // Turning a feature off also turns off every feature that depends on it, so that comes last.
  parts.attributes = std::move(on);
  parts.attributes.insert(parts.attributes.end(), off.begin(), off.end());
}

Target target_of(const DeviceFacts& facts) {
  TargetParts parts;
  parts.triple = codegen::triple_of_arch(facts.arch);
  const auto cpu = codegen::cpu_of_cpuinfo(parts.triple.triple, facts.cpu_identification);
  apply_reported_features(parts, cpu.value_or(""), facts.features);
  parts.l1_bytes = cache_bytes(facts, 1);
  parts.l2_bytes = cache_bytes(facts, 2);
  parts.threads = facts.threads;
  parts.unaligned_tensors = facts.flavour == kInProcessFlavour;
  return build_target(parts);
}

}  // namespace ferry
