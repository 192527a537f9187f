#include "crosscompile/target/gpu.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/target/suggest.h"

#include <algorithm>
#include <utility>

namespace ferry {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kCudaThreads = 1024;

// Maximum shared memory of a block, when a kernel requests it, by compute capability: CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability".
constexpr std::pair<int, std::int64_t> kSharedBytes[] = {
    {50, 48 * kKiB}, {70, 96 * kKiB},  {75, 64 * kKiB},   {80, 163 * kKiB},  {86, 99 * kKiB},  {87, 163 * kKiB},
    {89, 99 * kKiB}, {90, 227 * kKiB}, {100, 227 * kKiB}, {110, 227 * kKiB}, {120, 99 * kKiB},
};

std::int64_t shared_bytes_of(const std::string& gpu) {
  const int capability = std::stoi(gpu.substr(3));
  std::int64_t bytes = 48 * kKiB;
  for (const auto& [from, limit] : kSharedBytes)
    if (capability >= from) bytes = limit;
  return bytes;
}

std::string gpu_name(const std::string& text) {
  const bool fits = text.size() >= 5 && text.size() <= 7 && text.starts_with("sm_") && text[3] != '0' &&
                    std::all_of(text.begin() + 3, text.end() - 1, [](char c) { return c >= '0' && c <= '9'; }) &&
                    ((text.back() >= '0' && text.back() <= '9') || (text.size() > 5 && text.back() == 'a'));
  if (!fits) throw CompileError("expected a GPU such as sm_80 or sm_90a after -arch=, got '" + text + "'");
  return text;
}

std::vector<std::string> gpu_names(const std::string& list) {
  std::vector<std::string> gpus;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    gpus.push_back(gpu_name(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return gpus;
}

void check_name(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return;
  const std::string index = name.substr(colon + 1);
  const bool is_number = !index.empty() && index.size() <= 3 &&
                         std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number)
    throw CompileError("expected the number of a device after '" + name.substr(0, colon + 1) + "', got '" + index +
                       "'");
}

std::vector<std::string> known_options(const std::string& kind) {
  std::vector<std::string> known{"max_threads_per_block", "max_shared_memory_per_block"};
  if (kind == "cuda") known.insert(known.begin(), {"arch", "compiler"});
  return known;
}

std::int64_t limit(const Option& option) {
  constexpr std::uint64_t kMost = 1 << 30;
  const std::uint64_t value = number(option);
  if (value == 0 || value > kMost)
    throw CompileError("expected 1 to " + std::to_string(kMost) + " for -" + option.key + ", got '" + option.value +
                       "'");
  return static_cast<std::int64_t>(value);
}

}  // namespace

Target gpu_from_options(const std::string& name, const std::vector<Option>& options, std::vector<std::string>* notes) {
  check_name(name);
  Target target;
  target.device = name;
  target.arch = name.substr(0, name.find(':'));
  target.is_source = true;
  target.keeps_loops = true;
  std::string limits, compiler;
  for (const Option& option : options) {
    if (target.arch == "cuda" && option.key == "arch") {
      target.gpus = gpu_names(option.value);
    } else if (target.arch == "cuda" && option.key == "compiler") {
      if (option.value != "nvrtc" && option.value != "llvm")
        throw CompileError("expected nvrtc or llvm after -compiler=, got '" + option.value + "'");
      compiler = " -compiler=" + option.value;
    } else if (option.key == "max_threads_per_block") {
      target.block_threads = limit(option);
      limits += " -" + option.key + "=" + option.value;
    } else if (option.key == "max_shared_memory_per_block") {
      target.block_shared_bytes = limit(option);
      limits += " -" + option.key + "=" + option.value;
    } else if (const char* why = reason_to_ignore(option.key); why != nullptr) {
      if (notes != nullptr) notes->push_back("-" + option.key + "=" + option.value + " is ignored: " + why);
    } else {
      throw CompileError(
          unknown_name("option of the target '" + target.arch + "'", option.key, known_options(target.arch)));
    }
  }
  target.text = target.arch;
  if (target.arch == "cuda") {
    if (target.gpus.empty()) target.gpus = {"sm_80"};
    for (std::size_t i = 0; i < target.gpus.size(); ++i) target.text += (i == 0 ? " -arch=" : ",") + target.gpus[i];
    if (target.block_threads == 0) target.block_threads = kCudaThreads;
    if (target.block_shared_bytes == 0) {
      target.block_shared_bytes = shared_bytes_of(target.gpus.front());
      for (const std::string& gpu : target.gpus)
        target.block_shared_bytes = std::min(target.block_shared_bytes, shared_bytes_of(gpu));
    }
  }
  target.text += compiler + limits;
  return target;
}

}  // namespace ferry
