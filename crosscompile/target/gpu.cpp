#include "crosscompile/target/gpu.h"

#include "base/suggest.h"
#include "crosscompile/ir/error.h"

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

std::vector<std::string> known_options(bool is_cuda) {
  std::vector<std::string> known{"max_threads_per_block", "max_shared_memory_per_block", "host"};
  if (is_cuda) known.insert(known.begin(), {"arch", "compiler"});
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

Target gpu_from_options(const DeviceId& device, const std::vector<Option>& options, std::vector<std::string>* notes) {
  const bool is_cuda = device.kind == DeviceKind::cuda;
  Target target;
  target.device = device;
  target.set_arch(device_kind_name(device.kind));
  target.is_source = true;
  target.pass_groups = {.gpu = true, .scalarize = true};
  target.graph_pass_groups = {.float32 = false, .integers = false, .blocks = false};
  target.tensor_alignment = 256;
  std::string limits, compiler;
  for (const Option& option : options) {
    if (is_cuda && option.key == "arch") {
      target.gpus = gpu_names(option.value);
    } else if (is_cuda && option.key == "compiler") {
      if (option.value != "nvrtc" && option.value != "llvm")
        throw CompileError("expected nvrtc or llvm after -compiler=, got '" + option.value + "'");
      target.cuda_compiler = option.value == "llvm" ? CudaCompiler::llvm : CudaCompiler::nvrtc;
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
          unknown_name("option of the target '" + target.arch_name + "'", option.key, known_options(is_cuda)));
    }
  }
  target.text = target.arch_name;
  if (is_cuda) {
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
  target.capabilities = capabilities_of(target);
  return target;
}

}  // namespace ferry
