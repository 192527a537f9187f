// The module files that a server has seen, in a folder, named by their hashes, for later sessions. Sessions of one
// server use it at the same time: files appear whole or not at all, and are never changed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rpc/base/hash.h"
#include "rpc/base/status.h"

namespace ferry::device {

class ModuleStore {
 public:
  // The folder exists and is writable; empty: nothing is kept.
  explicit ModuleStore(std::string folder) : folder_(std::move(folder)) {}

  // Nothing when the file is not there or is not what its name says.
  std::optional<std::vector<std::uint8_t>> find(const Hash& hash) const;
  // The bytes must have that hash.
  Status put(const Hash& hash, std::span<const std::uint8_t> bytes) const;

 private:
  std::string path_of(const Hash& hash) const { return folder_ + "/" + to_hex(hash) + ".ferry"; }

  std::string folder_;
};

}  // namespace ferry::device
