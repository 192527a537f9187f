// Stores the module files that a server has received, for later sessions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cache_folder.h"

namespace ferry::device {

class ModuleStore {
 public:
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 20;

  explicit ModuleStore(std::string folder, std::uint64_t max_bytes = kDefaultMaxBytes)
      : files_(std::move(folder), "module", ".ferry", max_bytes) {}

  // Returns nothing if the file does not exist or its contents do not match its name.
  std::optional<std::vector<std::uint8_t>> find(const Hash& hash) const;
  // The bytes must have that hash. Deletes older files first if there is not enough room.
  Status put(const Hash& hash, std::span<const std::uint8_t> bytes) const;

 private:
  CacheFolder files_;
};

}  // namespace ferry::device
