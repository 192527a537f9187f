// Objects in a folder, each a file that has the hash of its contents as its name.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ferry/blob_source.h"
#include "ferry/hash.h"
#include "host/gate/store/store_file.h"
#include "host/gate/store/store_lock.h"

namespace ferry::gate {

// The largest object that is read into memory, as modules are.
inline constexpr std::uint64_t kMostModuleBytes = std::uint64_t{1} << 30;

// The functions of one folder are called by one thread at a time.
class ObjectFolder {
 public:
  // Creates the folder if there is none. Objects count as used at least every `in_use` from their first use on, as long
  // as any of them are.
  ObjectFolder(std::string folder, StoreLock lock, std::chrono::seconds in_use);

  // Whether there is such an object; it counts as used now.
  bool touch(const Hash& object);
  // Both replace a file that has other contents than its name says.
  Hash put(std::span<const std::uint8_t> bytes);
  void put(const Hash& object, std::uint64_t bytes, const BlobSource& from);
  std::optional<std::vector<std::uint8_t>> get(const Hash& object);
  std::shared_ptr<const BlobSource> blobs(std::span<const Hash> blobs);
  // Returns the owner of the file from which get() read the object, "anna" or "uid 1001"; empty if that is this user.
  // Without a get() before, nobody knows.
  std::string holder_of(const Hash& object) const;
  std::string path_of(const Hash& object) const { return folder_ + "/" + to_hex(object); }

  // For callers that hold the lock alone: like touch().
  bool touch_locked(const Hash& object) const;
  // Returns once the objects that were stored are on the disk under their names.
  void sync() const;

 private:
  std::optional<StoreFile> open_object(const Hash& object);
  bool is_intact(const Hash& object, std::uint64_t bytes);
  // Writes a file beside the others and gives it the name when `write` is done.
  void publish(const Hash& object, const std::function<void(int file)>& write);
  void remember(const Hash& object);
  std::string damage_of(const Hash& object, const std::string& why) const;

  std::string folder_;
  StoreLock lock_;
  std::chrono::seconds in_use_;
  std::set<Hash> used_;
  std::map<Hash, uid_t> owners_;  // get() adds those of the files that it reads
  std::chrono::steady_clock::time_point touched_;
};

}  // namespace ferry::gate
