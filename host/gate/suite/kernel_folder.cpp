#include "host/gate/suite/kernel_folder.h"

#include <algorithm>
#include <filesystem>

#include "base/printable.h"
#include "ferry/error.h"
#include "host/compiler/api/compiler.h"
#include "host/compiler/api/network.h"

namespace ferry::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 100'000;
constexpr int kMostLevels = 32;

bool may_be_kernel(const std::string& file) {
  return file.ends_with(".tc") || file.ends_with(".ferry") || is_network(file) || is_foreign(file);
}

}  // namespace

KernelFolder find_kernels(const std::string& folder) {
  KernelFolder found;
  std::error_code failure;
  std::size_t entries = 0;
  fs::recursive_directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    if (++entries > kMostEntries)
      throw UsageError(printable(folder) + ": expected a folder of kernels, got one with more than " +
                       std::to_string(kMostEntries) + " files");
    const bool is_hidden = entry->path().filename().string().starts_with('.');
    std::error_code unknown;
    if (entry->is_directory(unknown) && (is_hidden || entry.depth() >= kMostLevels)) entry.disable_recursion_pending();
    if (is_hidden || !entry->is_regular_file(unknown)) continue;
    std::string file = entry->path().lexically_relative(folder).string();
    if (may_be_kernel(file)) {
      found.kernels.push_back(std::move(file));
    } else {
      ++found.others[entry->path().extension().string()];
    }
  }
  if (failure) throw UsageError(printable(folder) + ": cannot be read: " + failure.message());
  std::ranges::sort(found.kernels);
  return found;
}

}  // namespace ferry::gate
