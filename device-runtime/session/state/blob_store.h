// Stores the blobs that a server has received, for later sessions, and maps them into the memory of this one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "device-runtime/broker/file_broker.h"
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
  // The broker must outlive it.
  explicit BlobStore(const FileBroker& broker) : broker_(broker) {}

  // Returns null if there is no such file or its contents do not match its name.
  Result<std::shared_ptr<const MappedBlob>> find(const Hash& hash, MemoryBudget& budget) const;
  // Maps a part of a blob that is mapped as a whole once more, so that the whole can be unmapped. Returns null if the
  // file is gone or has changed.
  Result<std::shared_ptr<const MappedBlob>> find_part(const Hash& hash, const MappedBlob& whole, std::uint64_t offset,
                                                      std::uint64_t bytes, MemoryBudget& budget) const;

  const FileBroker& broker() const { return broker_; }

 private:
  const FileBroker& broker_;
};

// A blob that arrives piece by piece and goes to the disk. An incomplete one is not kept.
class BlobUpload {
 public:
  // Fails with unsupported if this server keeps no blobs, resource_exhausted if there is no room for this one.
  static Result<std::unique_ptr<BlobUpload>> begin(const BlobStore& store, const Hash& hash, std::uint64_t bytes);

  const Hash& hash() const { return hash_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t received() const { return received_; }
  Status add(std::span<const std::uint8_t> piece);
  // After all bytes: maps the blob, which is then in the store. Fails with invalid_argument if it has another hash.
  Result<std::shared_ptr<const MappedBlob>> finish(MemoryBudget& budget);

 private:
  BlobUpload(NewFile file, const Hash& hash, std::uint64_t bytes)
      : file_(std::move(file)), hash_(hash), bytes_(bytes) {}

  NewFile file_;
  Hash hash_;
  std::uint64_t bytes_;
  std::uint64_t received_ = 0;
};

}  // namespace ferry::device
