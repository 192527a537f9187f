#include "crosscompile/target/cpu_target.h"

#include "base/suggest.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/abi.h"
#include "crosscompile/target/arch_info.h"
#include "module/unaligned_tensors.h"

#include <algorithm>
#include <iterator>

namespace ferry {
namespace {

constexpr std::uint32_t kNoVectors = 8;

struct VectorRow {
  Arch arch;
  std::string_view feature;
  std::uint32_t bits, registers;
};

// The registers for vectors: of an architecture's rows, the first whose feature the CPU has.
constexpr VectorRow kVectors[] = {
    {Arch::x86_64, "avx512f", 512, 32},
    {Arch::x86_64, "avx", 256, 16},
    {Arch::x86_64, "", 128, 16},
    {Arch::i386, "avx512f", 512, 32},
    {Arch::i386, "avx", 256, 16},
    {Arch::i386, "", 128, 16},
    {Arch::armv7, "neon", 128, 16},
    {Arch::armv7, "", kNoVectors, 16},
    {Arch::arm, "neon", 128, 16},
    {Arch::arm, "", kNoVectors, 16},
    {Arch::aarch64, "", 128, 32},
    // The V extension guarantees registers of at least 128 bits; longer ones are not used.
    {Arch::riscv64, "v", 128, 32},
    {Arch::riscv32, "v", 128, 32},
    {Arch::wasm32, "simd128", 128, 16},
    {Arch::wasm32, "", kNoVectors, 16},
    {Arch::wasm64, "simd128", 128, 16},
    {Arch::wasm64, "", kNoVectors, 16},
};

// Returns the attributes assumed when nothing is specified: for a RISC-V board without a named CPU, what Linux
// distributions require.
std::vector<std::string> baseline_attributes(const std::string& triple, const std::string& cpu) {
  if (cpu == "generic-rv64" || cpu == "generic-rv32") return {"+m", "+a", "+f", "+d", "+c"};
  return codegen::default_attributes(triple, cpu);
}

std::vector<std::string> minus(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

std::vector<std::string> concat(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Returns the fewest attributes that lead from the CPU's own features to the target's: attributes that others imply are
// left out.
std::vector<std::string> shortest_attributes(const Target& target, const std::vector<std::string>& defaults) {
  const auto reaches = [&](const std::vector<std::string>& attributes) {
    return codegen::features_of(target.triple, target.cpu, concat(defaults, attributes)) == target.features;
  };
  const std::vector<std::string> own = codegen::features_of(target.triple, target.cpu, defaults);
  std::vector<std::string> attributes;
  for (const std::string& name : minus(target.features, own)) attributes.push_back("+" + name);
  for (const std::string& name : minus(own, target.features)) attributes.push_back("-" + name);
  for (std::size_t i = 0; i < attributes.size();) {
    std::vector<std::string> fewer = attributes;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (reaches(fewer)) {
      attributes = std::move(fewer);
    } else {
      ++i;
    }
  }
  return attributes;
}

std::string size_options(const Target& target) {
  std::string text;
  if (target.threads != 0) text += " -num-cores=" + std::to_string(target.threads);
  if (target.l1_bytes != 0) text += " -l1-bytes=" + std::to_string(target.l1_bytes);
  if (target.l2_bytes != 0) text += " -l2-bytes=" + std::to_string(target.l2_bytes);
  return text;
}

std::string target_text(const Target& target, const std::vector<std::string>& defaults) {
  std::string text = "llvm -mtriple=" + target.triple + " -mcpu=" + target.cpu;
  const char* before = " -mattr=";
  for (const std::string& attribute : shortest_attributes(target, defaults)) {
    text += before + attribute;
    before = ",";
  }
  return text + size_options(target);
}

void set_sizes(Target& target, const TargetParts& parts) {
  target.l1_bytes = parts.l1_bytes;
  target.l2_bytes = parts.l2_bytes;
  target.threads = parts.threads;
}

}  // namespace

void set_vector_hints(Target& target) {
  target.vector_bits = kNoVectors;
  target.vector_registers = 32;
  target.graph_pass_groups.blocks = false;
  for (const VectorRow& row : kVectors) {
    if (row.arch != target.arch || !(row.feature.empty() || target.has(std::string(row.feature)))) continue;
    target.vector_bits = row.bits;
    target.vector_registers = row.registers;
    target.graph_pass_groups.blocks = true;
    return;
  }
}

Target build_target(const TargetParts& parts) {
  Target target;
  target.set_arch(parts.triple.arch);
  target.triple = parts.triple.triple;
  target.pointer_bits = parts.triple.pointer_bits;
  target.objects_only = parts.triple.objects_only;
  target.cpu = parts.cpu.empty() ? info_of(target.arch).baseline_cpu : parts.cpu;
  const std::vector<std::string> cpus = codegen::known_cpus(target.triple);
  if (!std::binary_search(cpus.begin(), cpus.end(), target.cpu)) {
    throw CompileError(unknown_name("CPU for " + target.arch_name, target.cpu, cpus));
  }
  const std::vector<std::string> known = codegen::known_features(target.triple);
  for (const std::string& attribute : parts.attributes) {
    const std::string name = attribute.substr(1);
    if (!std::binary_search(known.begin(), known.end(), name)) {
      throw CompileError(unknown_name("feature for " + target.arch_name, name, known));
    }
  }
  const std::vector<std::string> defaults = baseline_attributes(target.triple, target.cpu);
  target.features = codegen::features_of(target.triple, target.cpu, concat(defaults, parts.attributes));
  if (std::string_view(abi_of(target).calling_convention) == "lp64d" && !target.has("d")) {
    throw CompileError(
        "expected a riscv64 CPU with the features f and d, whose registers its calling convention (lp64d) "
        "passes floats in, got " +
        target.cpu + " without " + (target.has("f") ? "d" : "f and d"));
  }
  set_sizes(target, parts);
  set_vector_hints(target);
  target.capabilities = capabilities_of(target);
  target.text = target_text(target, defaults);
  if (parts.unaligned_tensors) target.text += " " + std::string(kUnalignedTensors);
  return target;
}

// The schedule hints assume registers of 128 bits, which nearly every CPU has.
Target build_c_target(const TargetParts& parts) {
  Target target;
  target.set_arch("c");
  target.is_source = true;
  target.pass_groups = {.scalarize = true};
  target.capabilities = capabilities_of(target);
  set_sizes(target, parts);
  target.text = "c" + size_options(target);
  return target;
}

}  // namespace ferry
