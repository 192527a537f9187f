#include "crosscompile/codegen/llvm/cpu/cpu_tables.h"

#include "crosscompile/codegen/llvm/cpu/targets.h"
#include "crosscompile/ir/error.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/ARMTargetParser.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ferry::codegen {
namespace {

using llvm::FeatureBitset;
using llvm::StringRef;

[[noreturn]] void refuse_triple(std::string_view text) {
  throw CompileError(
      "expected Linux on " + device_arch_list(" (hard float)") +
      ", such as x86_64-pc-linux-gnu, "
      "armv7l-none-linux-gnueabihf, aarch64-linux-gnu or riscv64-linux-gnu, or another triple of a CPU that LLVM has "
      "a code generator for; got '" +
      std::string(text) + "'");
}

// Returns whether code for a 32-bit ARM is for ARMv7 or later, and passes floats in their registers.
bool is_hard_float_armv7(const llvm::Triple& triple) {
  const StringRef environment = triple.getEnvironmentName();
  const bool has_abi =
      environment.starts_with("gnueabi") || environment.starts_with("musleabi") || environment.starts_with("eabi");
  if (has_abi && !environment.ends_with("hf")) return false;
  // Debian uses plain "arm" for armv7 with hardware floats.
  const StringRef name = triple.getArchName();
  return name.starts_with("armv7") || name.starts_with("armv8") || name == "arm" || name.starts_with("thumbv7") ||
         name.starts_with("thumbv8");
}

// Returns the architecture if an rpc_server runs on the triple.
std::optional<std::string_view> device_arch(const llvm::Triple& triple) {
  if (!triple.isOSLinux() || triple.isAndroid() || triple.isX32()) return std::nullopt;
  // Thumb is another encoding of the same processors' instructions.
  const llvm::Triple::ArchType arch = triple.getArch() == llvm::Triple::thumb ? llvm::Triple::arm : triple.getArch();
  if (arch == llvm::Triple::arm && !is_hard_float_armv7(triple)) return std::nullopt;
#define FERRY_DEVICE_ARCH(name, own_triple, pointer_bits, machine, other_machine) \
  if (llvm::Triple(own_triple).getArch() == arch) return #name;
#include "module/device_archs.def"
#undef FERRY_DEVICE_ARCH
  return std::nullopt;
}

// Returns whether kernels can be compiled for the triple: a GPU has other entry points, and the addresses of smaller
// machines are too narrow for tensors.
bool is_cpu(const llvm::Triple& triple) {
  return !triple.isAMDGPU() && !triple.isNVPTX() && !triple.isBPF() && !triple.isArch16Bit() &&
         (triple.isArch32Bit() || triple.isArch64Bit());
}

std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const std::string& triple, const std::string& cpu,
                                                 const std::string& attributes) {
  std::unique_ptr<llvm::MCSubtargetInfo> info(llvm_target(triple).createMCSubtargetInfo(triple, cpu, attributes));
  if (info == nullptr) throw InternalError("LLVM has no subtarget tables for " + triple);
  return info;
}

void add_implied(FeatureBitset& bits, llvm::ArrayRef<llvm::SubtargetFeatureKV> table) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::SubtargetFeatureKV& feature : table) {
      if (!bits.test(feature.Value)) continue;
      const FeatureBitset more = bits | feature.Implies.getAsBitset();
      changed = changed || more != bits;
      bits = more;
    }
  }
}

// Returns the bits that only ever tell how to schedule for some CPU, never what it supports.
FeatureBitset tuning_only(const llvm::MCSubtargetInfo& info) {
  FeatureBitset tuning, real;
  for (const llvm::SubtargetSubTypeKV& cpu : info.getAllProcessorDescriptions()) {
    tuning |= cpu.TuneImplies.getAsBitset();
    real |= cpu.Implies.getAsBitset();
  }
  add_implied(real, info.getAllProcessorFeatures());
  return tuning & ~real;
}

template <class Table>
std::vector<std::string> names_of(Table table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.Key);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::string device_arch_list(std::string_view behind_hard_float) {
  std::vector<std::string> names;
#define FERRY_DEVICE_ARCH(name, triple, pointer_bits, machine, other_machine) \
  names.emplace_back(#name).append(std::string_view(triple).ends_with("eabihf") ? behind_hard_float : "");
#include "module/device_archs.def"
#undef FERRY_DEVICE_ARCH
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

TripleFacts triple_of_arch(std::string_view arch) {
#define FERRY_DEVICE_ARCH(name, triple, pointer_bits, machine, other_machine) \
  if (arch == #name) return {#name, triple, pointer_bits};
#include "module/device_archs.def"
#undef FERRY_DEVICE_ARCH
  throw CompileError("expected the architecture " + device_arch_list() + "; got '" + std::string(arch) + "'");
}

bool is_triple(std::string_view text) {
  if (text.find("-linux") != std::string_view::npos) return true;
  const llvm::Triple triple(llvm::Triple::normalize(StringRef(text.data(), text.size())));
  return triple.getArch() != llvm::Triple::UnknownArch;
}

TripleFacts parse_triple(std::string_view text) {
  const llvm::Triple triple(llvm::Triple::normalize(StringRef(text.data(), text.size())));
  if (const auto arch = device_arch(triple)) return triple_of_arch(*arch);
  if (triple.getArch() == llvm::Triple::UnknownArch || !is_cpu(triple) || !has_llvm_target(triple.str()))
    refuse_triple(text);
  return {llvm::Triple::getArchTypeName(triple.getArch()).str(), triple.str(), triple.isArch64Bit() ? 64U : 32U, true};
}

std::vector<std::string> known_cpus(const std::string& triple) {
  return names_of(subtarget(triple, "", "")->getAllProcessorDescriptions());
}

std::vector<std::string> known_features(const std::string& triple) {
  return names_of(subtarget(triple, "", "")->getAllProcessorFeatures());
}

std::vector<std::string> features_of(const std::string& triple, const std::string& cpu,
                                     const std::vector<std::string>& attributes) {
  std::string joined;
  for (const std::string& attribute : attributes) joined += (joined.empty() ? "" : ",") + attribute;
  const auto info = subtarget(triple, cpu, joined);
  const FeatureBitset on = info->getFeatureBits() & ~tuning_only(*info);
  std::vector<std::string> names;
  for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures()) {
    if (on.test(feature.Value)) names.emplace_back(feature.Key);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> default_attributes(const std::string& triple, const std::string& cpu) {
  const llvm::Triple parsed(triple);
  if (!parsed.isARM() && !parsed.isThumb()) return {};
  const bool is_armv7 = device_arch(parsed).has_value();
  if (cpu == "generic" && is_armv7) return {"+neon"};
  const llvm::ARM::ArchKind arch =
      cpu == "generic" ? llvm::ARM::parseArch(parsed.getArchName()) : llvm::ARM::parseCPUArch(cpu);
  std::vector<StringRef> features;
  llvm::ARM::getFPUFeatures(llvm::ARM::getDefaultFPU(cpu, arch), features);
  std::vector<std::string> attributes;
  for (const StringRef feature : features) {
    if (feature.starts_with("+")) attributes.push_back(feature.str());
  }
  return attributes;
}

std::optional<std::string> cpu_of_cpuinfo(const std::string& triple, std::string_view cpuinfo) {
  const StringRef text(cpuinfo.data(), cpuinfo.size());
  const llvm::Triple parsed(triple);
  StringRef name;
  if (parsed.isARM() || parsed.isAArch64()) name = llvm::sys::detail::getHostCPUNameForARM(text);
  if (parsed.isRISCV()) name = llvm::sys::detail::getHostCPUNameForRISCV(text);
  if (name.empty() || name == "generic") return std::nullopt;
  const std::vector<std::string> known = known_cpus(triple);
  if (!std::binary_search(known.begin(), known.end(), name.str())) return std::nullopt;
  return name.str();
}

std::string host_arch() { return parse_triple(llvm::sys::getProcessTriple()).arch; }

std::vector<std::string> host_features() {
  std::vector<std::string> names;
  for (const auto& [name, on] : llvm::sys::getHostCPUFeatures()) {
    if (on) names.push_back(name.str());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ferry::codegen
