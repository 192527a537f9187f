// How much memory a function of a module needs on its devices, for display.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "module/manifest.h"

namespace ferry {

// Bytes on all devices together.
struct MemoryUse {
  std::uint64_t weights = 0;  // blobs of the module, as they are sent
  std::uint64_t in_place =
      0;                      // those that calls read where they lie; the others are not kept once an instance is bound
  std::uint64_t packed = 0;   // what an instance keeps of them: the persistent buffers of the init plan
  std::uint64_t binding = 0;  // workspaces of the init plan, while an instance is bound
  std::uint64_t arena = 0;    // workspaces of a call, without those of threads
  std::uint64_t tensors = 0;  // the arguments of a call
  // The most at one time.
  std::uint64_t peak() const;
};

// Returns nothing unless all sizes that the function leaves open are given and the memory for them can be addressed.
// Throws UsageError for a size that the function has not, and for sizes that a call could not have.
std::optional<MemoryUse> memory_use(const Manifest& manifest, const FunctionInfo& function,
                                    const std::map<std::string, std::int64_t>& sizes);

}  // namespace ferry
