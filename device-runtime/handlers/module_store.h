// Stores the module files that a server has received in a folder, named by their hashes, for later sessions. Sessions
// of one server use it concurrently: files appear completely or not at all, and are never modified.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ferry/hash.h"

namespace ferry::device {

class ModuleStore {
 public:
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 20;

  // The folder must exist and be writable; if it is empty, nothing is stored. About max_bytes of files are kept in
  // total; the least recently used ones are deleted first.
  explicit ModuleStore(std::string folder, std::uint64_t max_bytes = kDefaultMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // Returns nothing if the file does not exist or its contents do not match its name.
  std::optional<std::vector<std::uint8_t>> find(const Hash& hash) const;
  // The bytes must have that hash. Deletes older files first if there is not enough room.
  Status put(const Hash& hash, std::span<const std::uint8_t> bytes) const;

 private:
  std::string path_of(const Hash& hash) const { return folder_ + "/" + to_hex(hash) + ".ferry"; }

  void make_room(std::uint64_t bytes) const;

  std::string folder_;
  std::uint64_t max_bytes_;
  mutable std::uint64_t room_ = 0;  // room left at the last scan, which is slow with many files
};

}  // namespace ferry::device
