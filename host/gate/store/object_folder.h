// Objects in a folder, each a file that has the hash of its contents as its name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ferry/blob_source.h"
#include "ferry/hash.h"

namespace ferry::gate {

class ObjectFolder {
 public:
  // Creates the folder if there is none.
  explicit ObjectFolder(std::string folder);

  // Whether there is such an object; it counts as used now.
  bool touch(const Hash& object) const;
  Hash put(std::span<const std::uint8_t> bytes) const;
  void put(const Hash& object, std::uint64_t bytes, const BlobSource& from) const;
  std::optional<std::vector<std::uint8_t>> get(const Hash& object) const;
  std::string path_of(const Hash& object) const { return folder_ + "/" + to_hex(object); }

  // See Store::collect().
  std::string collect(std::uint64_t quota, const std::set<Hash>& needed) const;

 private:
  // Writes a file beside the others and gives it the name when `write` is done.
  void publish(const Hash& object, const std::function<void(int file)>& write) const;

  std::string folder_;
};

}  // namespace ferry::gate
