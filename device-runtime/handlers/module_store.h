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
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 20;

  // The folder exists and is writable; empty: nothing is kept. Of all files together at most about max_bytes are kept,
  // those that were used last.
  explicit ModuleStore(std::string folder, std::uint64_t max_bytes = kDefaultMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // Nothing when the file is not there or is not what its name says.
  std::optional<std::vector<std::uint8_t>> find(const Hash& hash) const;
  // The bytes must have that hash. Makes room for them first.
  Status put(const Hash& hash, std::span<const std::uint8_t> bytes) const;

 private:
  std::string path_of(const Hash& hash) const { return folder_ + "/" + to_hex(hash) + ".ferry"; }

  void make_room(std::uint64_t bytes) const;

  std::string folder_;
  std::uint64_t max_bytes_;
  mutable std::uint64_t room_ = 0;  // that was left at the last look, which costs time with many files
};

}  // namespace ferry::device
