#include "crosscompile/target/resolve.h"

#include "base/suggest.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/abi.h"
#include "crosscompile/target/cpu_target.h"
#include "crosscompile/target/gpu.h"
#include "crosscompile/target/options.h"
#include "module/device_id.h"
#include "module/unaligned_tensors.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

namespace ferry {
namespace {

// Parses the options that only tell schedules how large the device is; returns false for any other option.
bool take_size(const Option& option, TargetParts& parts) {
  if (option.key == "num-cores") {
    parts.threads = static_cast<std::uint32_t>(number(option));
  } else if (option.key == "l1-bytes") {
    parts.l1_bytes = number(option);
  } else if (option.key == "l2-bytes") {
    parts.l2_bytes = number(option);
  } else {
    return false;
  }
  return true;
}

void add_attributes(TargetParts& parts, const std::string& list) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) continue;
    const std::string attribute = item[0] == '+' || item[0] == '-' ? item : "+" + item;
    if (attribute.size() == 1) throw CompileError("expected a feature after '" + item + "' in -mattr=" + list);
    parts.attributes.push_back(attribute);
  }
}

void check_abi(const Option& option, const Target& target) {
  const Abi abi = abi_of(target);
  const std::string expected = option.key == "mabi" ? abi.mabi : abi.float_abi;
  if (option.value == expected || expected.empty()) return;
  throw CompileError("expected -" + option.key + "=" + expected + " on " + target.arch_name + ", got '" + option.value +
                     "'");
}

const std::vector<std::string>& option_names() {
  static const std::vector<std::string> names{"target",     "mtriple",   "mcpu",     "mattr",     "mabi",
                                              "mfloat-abi", "num-cores", "l1-bytes", "l2-bytes",  "device",
                                              "keys",       "model",     "libs",     "opt-level", "unaligned-tensors"};
  return names;
}

void fill_in_host(TargetParts& parts) {
  parts.triple = codegen::triple_of_arch(codegen::host_arch());
  apply_reported_features(parts, "", codegen::host_features());
  const auto from_system = [](int name) {
    const long value = sysconf(name);
    return value > 0 ? static_cast<std::uint64_t>(value) : 0;
  };
  parts.l1_bytes = from_system(_SC_LEVEL1_DCACHE_SIZE);
  parts.l2_bytes = from_system(_SC_LEVEL2_CACHE_SIZE);
  parts.threads = static_cast<std::uint32_t>(from_system(_SC_NPROCESSORS_ONLN));
}

Target from_options(const std::vector<Option>& options, std::vector<std::string>* notes) {
  TargetParts parts;
  parts.triple = codegen::triple_of_arch(codegen::host_arch());
  bool anything = false;
  for (const Option& option : options) {
    if (option.key == "target" || option.key == "mtriple") {
      parts.triple = codegen::parse_triple(option.value);
    } else if (option.key == "mcpu") {
      parts.cpu = option.value;
    } else if (option.key == "mattr") {
      add_attributes(parts, option.value);
    } else if ("-" + option.key == kUnalignedTensors) {
      parts.unaligned_tensors = true;
      continue;
    } else if (const char* why = reason_to_ignore(option.key); why != nullptr) {
      if (notes != nullptr) notes->push_back("-" + option.key + "=" + option.value + " is ignored: " + why);
      continue;
    } else if (!take_size(option, parts) && option.key != "mabi" && option.key != "mfloat-abi") {
      throw CompileError(unknown_name("target option", option.key, option_names()));
    }
    anything = true;
  }
  if (!anything || parts.cpu == "native") {
    if (parts.triple.arch != codegen::host_arch()) {
      throw CompileError("-mcpu=native means this machine's " + codegen::host_arch() + ", expected a CPU for " +
                         parts.triple.arch);
    }
    const std::vector<std::string> attributes = parts.attributes;
    fill_in_host(parts);
    parts.attributes.insert(parts.attributes.end(), attributes.begin(), attributes.end());
  }
  Target target = build_target(parts);
  for (const Option& option : options) {
    if (option.key == "mabi" || option.key == "mfloat-abi") check_abi(option, target);
  }
  return target;
}

std::optional<std::string> preset_text(const std::string& name) {
  for (const NamedTarget& target : named_targets()) {
    if (target.name == name) return target.stands_for;
  }
  return std::nullopt;
}

// Accepts only the options that schedules use.
Target c_from_options(const std::vector<Option>& options, std::vector<std::string>* notes) {
  TargetParts parts;
  for (const Option& option : options) {
    if (take_size(option, parts)) continue;
    if (const char* why = reason_to_ignore(option.key); why != nullptr) {
      if (notes != nullptr) notes->push_back("-" + option.key + "=" + option.value + " is ignored: " + why);
    } else {
      throw CompileError(unknown_name("option of the target 'c'", option.key, {"num-cores", "l1-bytes", "l2-bytes"}));
    }
  }
  return build_c_target(parts);
}

constexpr std::string_view kHostOption = "-host=";

// Takes the option -host and all words behind it, which are the CPU's, from those of a GPU. Returns the CPU's.
std::optional<std::string> take_host(std::vector<std::string>& words) {
  const auto first = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with(kHostOption); });
  if (first == words.end()) return std::nullopt;
  std::string host = first->substr(kHostOption.size());
  for (auto word = first + 1; word != words.end(); ++word) host += " " + *word;
  words.erase(first, words.end());
  return host;
}

Target gpu_with_host(const DeviceId& device, std::vector<std::string> words, std::vector<std::string>* notes) {
  const std::optional<std::string> host = take_host(words);
  Target target = gpu_from_options(device, options_of(words, 1), notes);
  if (!host) return target;
  if (*host == "none") {
    target.uses_host = false;
    target.text += " -host=none";
    return target;
  }
  // A CPU has no host, so this does not recurse any further.
  if (host->find(kHostOption) == std::string::npos) {
    const Target cpu = resolve_target(*host, notes);
    if (cpu.is_for_cpu() && !cpu.is_source && !cpu.objects_only) {
      target.set_host(cpu);
      return target;
    }
  }
  throw CompileError("expected a CPU that modules are made for after -host=, got '" + *host + "'");
}

[[noreturn]] void refuse_kind(const std::string& kind) {
  std::vector<std::string> known{"llvm", "c", "cuda", "opencl"};
  for (const NamedTarget& target : named_targets()) known.push_back(target.name);
  throw CompileError(unknown_name("target", kind, known));
}

}  // namespace

Target resolve_target(std::string_view text, std::vector<std::string>* notes) {
  std::vector<std::string> words = words_of(text);
  if (words.empty())
    throw CompileError("expected a target such as host, raspberry-pi-4 or 'llvm -mtriple=...', got nothing");
  if (const auto preset = preset_text(words[0])) {
    std::vector<std::string> expanded = words_of(*preset);
    expanded.insert(expanded.end(), words.begin() + 1, words.end());
    words = std::move(expanded);
  }
  if (words[0] == "c") return c_from_options(options_of(words, 1), notes);
  const Result<DeviceId> device = parse_device_id(words[0]);
  if (!device.is_ok() && device.status().code() == ErrorCode::invalid_argument)
    throw CompileError(device.status().message());
  if (device.is_ok() && device.value().kind != DeviceKind::cpu)
    return gpu_with_host(device.value(), std::move(words), notes);
  std::size_t first = 1;
  std::vector<Option> options;
  if (words[0][0] == '-') {
    first = 0;
  } else if (words[0].find('-') != std::string::npos && codegen::is_triple(words[0])) {
    options.push_back({"mtriple", words[0]});
  } else if (words[0] != "llvm") {
    refuse_kind(words[0]);
  }
  for (Option& option : options_of(words, first)) options.push_back(std::move(option));
  return from_options(options, notes);
}

Target c_target_like(const Target& target) {
  TargetParts parts;
  parts.l1_bytes = target.l1_bytes;
  parts.l2_bytes = target.l2_bytes;
  parts.threads = target.threads;
  Target c = build_c_target(parts);
  c.vector_bits = target.vector_bits;
  c.vector_registers = target.vector_registers;
  c.graph_pass_groups = target.graph_pass_groups;
  return c;
}

}  // namespace ferry
