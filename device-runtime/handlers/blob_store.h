// Stores the blobs that a server has received, for later sessions, and maps them into the memory of this one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/cache_folder.h"
#include "base/hash_stream.h"
#include "device-runtime/device/memory_budget.h"

namespace ferry::device {

// The contents of a blob or of a part of it. The process cannot change them, nor make this memory writable: the file
// was opened for reading.
class MappedBlob {
 public:
  // Charges the pages to the budget, which must outlive it.
  static Result<std::shared_ptr<const MappedBlob>> map(const Descriptor& file, std::uint64_t offset,
                                                       std::uint64_t bytes, MemoryBudget& budget);
  MappedBlob(const MappedBlob&) = delete;
  MappedBlob& operator=(const MappedBlob&) = delete;
  ~MappedBlob();

  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  MappedBlob(std::span<const std::uint8_t> pages, std::size_t offset, MemoryCharge charge)
      : pages_(pages), bytes_(pages.subspan(offset)), charge_(std::move(charge)) {}

  std::span<const std::uint8_t> pages_, bytes_;
  MemoryCharge charge_;
};

class BlobStore {
 public:
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{1} << 30;

  explicit BlobStore(std::string folder = "", std::uint64_t max_bytes = kDefaultMaxBytes)
      : files_(std::move(folder), "blob", ".blob", max_bytes) {}

  // Returns null if there is no such file or its contents do not match its name.
  Result<std::shared_ptr<const MappedBlob>> find(const Hash& hash, MemoryBudget& budget) const;
  // Maps a part of a blob that is mapped as a whole once more, so that the whole can be unmapped. Returns null if the
  // file is gone or has changed.
  Result<std::shared_ptr<const MappedBlob>> find_part(const Hash& hash, const MappedBlob& whole, std::uint64_t offset,
                                                      std::uint64_t bytes, MemoryBudget& budget) const;

  const CacheFolder& files() const { return files_; }

 private:
  CacheFolder files_;
};

// A blob that arrives piece by piece and goes to the disk. An incomplete one is deleted.
class BlobUpload {
 public:
  // The store must outlive it. Makes room and reserves space.
  static Result<std::unique_ptr<BlobUpload>> begin(const BlobStore& store, const Hash& hash, std::uint64_t bytes);

  const Hash& hash() const { return hash_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t received() const { return received_; }
  Status add(std::span<const std::uint8_t> piece);
  // After all bytes: checks the hash, adds the file to the store and maps it.
  Result<std::shared_ptr<const MappedBlob>> finish(MemoryBudget& budget);

 private:
  BlobUpload(NewCacheFile file, const Hash& hash, std::uint64_t bytes)
      : file_(std::move(file)), hash_(hash), bytes_(bytes) {}

  NewCacheFile file_;
  Hash hash_;
  std::uint64_t bytes_;
  std::uint64_t received_ = 0;
  HashStream contents_;
};

}  // namespace ferry::device
