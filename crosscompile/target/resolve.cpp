#include "crosscompile/target/resolve.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/target/build.h"
#include "crosscompile/target/suggest.h"

#include <unistd.h>

#include <charconv>
#include <optional>

namespace ferry {
namespace {

struct Option {
  std::string key, value;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// "-key=value", "--key=value" or "-key value"; a key alone has an empty value.
std::vector<Option> options_of(const std::vector<std::string>& words, std::size_t first) {
  std::vector<Option> options;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word[0] != '-') throw CompileError("expected a target option such as -mcpu=cortex-a72, got '" + word + "'");
    const std::size_t begin = word.find_first_not_of('-');
    if (begin == std::string::npos) throw CompileError("expected a target option after '-', got '" + word + "'");
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      options.push_back({word.substr(begin, equals - begin), word.substr(equals + 1)});
    } else if (i + 1 < words.size() && words[i + 1][0] != '-') {
      options.push_back({word.substr(begin), words[i + 1]});
      ++i;
    } else {
      options.push_back({word.substr(begin), ""});
    }
  }
  return options;
}

// Options of other compilers that change nothing here, and why; null for any other.
const char* reason_to_ignore(const std::string& key) {
  if (key == "device" || key == "model" || key == "keys" || key == "tag") {
    return "schedules depend on the CPU, not on a device's name";
  }
  if (key == "libs") return "kernels call no libraries";
  if (key == "system-lib" || key == "link-params" || key == "runtime" || key == "executor") {
    return "a module is always a .ferry file";
  }
  if (key == "opt-level" || key == "O") return "kernels are always optimised";
  return nullptr;
}

std::uint64_t number(const Option& option) {
  std::uint64_t value = 0;
  const char* end = option.value.data() + option.value.size();
  const auto [stopped, error] = std::from_chars(option.value.data(), end, value);
  if (error != std::errc() || stopped != end || option.value.empty()) {
    throw CompileError("expected a number for -" + option.key + ", got '" + option.value + "'");
  }
  return value;
}

// Of those that only tell schedules how large the device is; false for any other option.
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

void check_abi(const Option& option, const TargetParts& parts) {
  const bool arm = parts.triple.arch == "armv7";
  const bool riscv = parts.triple.arch == "riscv64";
  const std::string expected = option.key == "mabi" ? (riscv ? "lp64d" : arm ? "aapcs" : "") : (arm ? "hard" : "");
  if (option.value == expected || expected.empty()) return;
  throw CompileError("expected -" + option.key + "=" + expected + " on " + parts.triple.arch + ", got '" +
                     option.value + "'");
}

const std::vector<std::string>& option_names() {
  static const std::vector<std::string> names{"target",     "mtriple",   "mcpu",     "mattr",    "mabi",
                                              "mfloat-abi", "num-cores", "l1-bytes", "l2-bytes", "device",
                                              "keys",       "model",     "libs",     "opt-level"};
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
    } else if (const char* why = reason_to_ignore(option.key); why != nullptr) {
      if (notes != nullptr) notes->push_back("-" + option.key + "=" + option.value + " is ignored: " + why);
      continue;
    } else if (!take_size(option, parts) && option.key != "mabi" && option.key != "mfloat-abi") {
      throw CompileError(unknown_name("target option", option.key, option_names()));
    }
    anything = true;
  }
  for (const Option& option : options) {
    if (option.key == "mabi" || option.key == "mfloat-abi") check_abi(option, parts);
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
  return build_target(parts);
}

std::optional<std::string> named_meaning(const std::string& name) {
  for (const NamedTarget& target : named_targets()) {
    if (target.name == name) return target.stands_for;
  }
  return std::nullopt;
}

// Only what schedules want to know.
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

std::string gpu_name(const std::string& text) {
  const bool fits = text.size() >= 5 && text.starts_with("sm_") && text[3] != '0' &&
                    std::all_of(text.begin() + 3, text.end() - 1, [](char c) { return c >= '0' && c <= '9'; }) &&
                    ((text.back() >= '0' && text.back() <= '9') || (text.size() > 5 && text.back() == 'a'));
  if (!fits) throw CompileError("expected a GPU such as sm_80 or sm_90a after -arch=, got '" + text + "'");
  return text;
}

// cuda -arch=sm_80,sm_90; opencl
Target gpu_from_options(const std::string& kind, const std::vector<Option>& options, std::vector<std::string>* notes) {
  std::vector<std::string> gpus;
  for (const Option& option : options) {
    if (kind == "cuda" && option.key == "arch") {
      for (std::size_t begin = 0; begin <= option.value.size();) {
        const std::size_t end = std::min(option.value.find(',', begin), option.value.size());
        gpus.push_back(gpu_name(option.value.substr(begin, end - begin)));
        begin = end + 1;
      }
    } else if (const char* why = reason_to_ignore(option.key); why != nullptr) {
      if (notes != nullptr) notes->push_back("-" + option.key + "=" + option.value + " is ignored: " + why);
    } else {
      throw CompileError(unknown_name("option of the target '" + kind + "'", option.key,
                                      kind == "cuda" ? std::vector<std::string>{"arch"} : std::vector<std::string>{}));
    }
  }
  if (kind == "cuda" && gpus.empty()) gpus = {"sm_80"};
  return build_gpu_target(kind, std::move(gpus));
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
  if (const auto meaning = named_meaning(words[0])) {
    std::vector<std::string> expanded = words_of(*meaning);
    expanded.insert(expanded.end(), words.begin() + 1, words.end());
    words = std::move(expanded);
  }
  if (words[0] == "c") return c_from_options(options_of(words, 1), notes);
  if (words[0] == "cuda" || words[0] == "opencl") return gpu_from_options(words[0], options_of(words, 1), notes);
  std::size_t first = 1;
  std::vector<Option> options;
  if (words[0][0] == '-') {
    first = 0;
  } else if (words[0].find("-linux") != std::string::npos) {
    options.push_back({"mtriple", words[0]});
  } else if (words[0] != "llvm") {
    refuse_kind(words[0]);
  }
  for (Option& option : options_of(words, first)) options.push_back(std::move(option));
  return from_options(options, notes);
}

Target c_target_like(const Target& target) {
  if (target.arch == "c") return target;
  TargetParts parts;
  parts.l1_bytes = target.l1_bytes;
  parts.l2_bytes = target.l2_bytes;
  parts.threads = target.threads;
  Target c = build_c_target(parts);
  c.vector_bits = target.vector_bits;
  c.vector_registers = target.vector_registers;
  return c;
}

}  // namespace ferry
