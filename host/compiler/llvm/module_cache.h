// Modules that earlier compilations have made, in files of the user's cache folder. Any number of processes use it at
// the same time. Nothing here fails a compilation: what cannot be read or written is compiled, and not kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/hash.h"

namespace ferry {

class ModuleCache {
 public:
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 20;

  // Without a folder nothing is kept. The folder is made when the first module is stored, and used only if nobody but
  // this user may write to it. About max_bytes are kept; the least recently used modules are deleted first.
  explicit ModuleCache(std::string folder = {}, std::uint64_t max_bytes = kDefaultMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  // The folder is ferry/modules in XDG_CACHE_HOME or ~/.cache. FERRY_CACHE_MAXSIZE is the number of bytes;
  // FERRY_CACHE_DISABLE=1 turns the cache off.
  static ModuleCache of_user();

  bool is_on() const { return !folder_.empty() && max_bytes_ > 0; }

  // Returns nothing if there is no such module, or none that this user has stored under the key and that is intact.
  std::optional<std::vector<std::uint8_t>> find(const Hash& key) const;
  void store(const Hash& key, std::span<const std::uint8_t> module) const;

 private:
  std::string folder_;
  std::uint64_t max_bytes_;
};

}  // namespace ferry
