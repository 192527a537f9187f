#include "host/measure/cores.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "ferry/kernel/option_error.h"

namespace ferry::bench {

namespace {

constexpr std::uint32_t kMostCores = 4096;

// Returns 0 if the text is not a number, or "inf" or "nan".
double number(const std::string& text) {
  const double value = strtod(text.c_str(), nullptr);
  return std::isfinite(value) ? value : 0;
}

[[noreturn]] void refuse_cores(const std::string& text) {
  throw OptionError(Option::cores, "expected 'any', 'big', 'little' or numbers such as 0,2-3, got '" + text + "'");
}

std::uint32_t parse_core(const std::string& text, std::size_t& at) {
  std::uint32_t core = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at, end, core);
  if (error != std::errc() || core >= kMostCores) refuse_cores(text);
  at = static_cast<std::size_t>(stop - text.data());
  return core;
}

// Parses "0,2-3".
std::vector<std::uint32_t> parse_cores(const std::string& text) {
  std::vector<std::uint32_t> cores;
  for (std::size_t at = 0;; ++at) {
    const std::uint32_t first = parse_core(text, at);
    std::uint32_t last = first;
    if (at < text.size() && text[at] == '-') last = parse_core(text, ++at);
    if (last < first) refuse_cores(text);
    for (std::uint32_t core = first; core <= last; ++core) cores.push_back(core);
    if (at == text.size()) return cores;
    if (text[at] != ',') refuse_cores(text);
  }
}

}  // namespace

void set_cores(const std::string& text, SamplingOptions& options) {
  options.cores = text == "big" ? CoreKind::big : text == "little" ? CoreKind::little : CoreKind::any;
  options.bench.cores = {};
  if (text != "any" && options.cores == CoreKind::any) options.bench.cores = parse_cores(text);
}

std::vector<std::uint32_t> cores_of_kind(const Device& device, CoreKind kind) {
  if (kind == CoreKind::any) return {};
  std::vector<std::string> paths;
  const std::uint32_t count = std::min(device.facts().logical_cores, kMostCores);
  for (const char* file : {"cpu_capacity", "cpufreq/cpuinfo_max_freq"}) {
    for (std::uint32_t core = 0; core < count; ++core) {
      paths.push_back("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/" + file);
    }
  }
  return cores_by_strength(device.read_files(paths), kind);
}

std::vector<std::uint32_t> cores_by_strength(const std::vector<std::string>& texts, CoreKind kind) {
  if (kind == CoreKind::any) return {};
  const bool big = kind == CoreKind::big;
  const std::size_t count = texts.size() / 2;
  std::vector<double> strengths;
  for (std::size_t core = 0; core < count; ++core) {
    const double capacity = number(texts[core]);
    strengths.push_back(capacity > 0 ? capacity : number(texts[count + core]));
  }
  const auto [least, most] = std::minmax_element(strengths.begin(), strengths.end());
  if (strengths.empty() || *least == *most) {
    throw OptionError(Option::cores, std::string("expected a device with big and little cores to choose the ") +
                                         (big ? "big" : "little") + " ones, got cores that are all alike");
  }
  std::vector<std::uint32_t> cores;
  for (std::size_t core = 0; core < count; ++core) {
    if (strengths[core] == (big ? *most : *least)) cores.push_back(static_cast<std::uint32_t>(core));
  }
  return cores;
}

}  // namespace ferry::bench
