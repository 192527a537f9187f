#include "device-runtime/session/state/blob_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/hash_stream.h"
#include "device-runtime/device/mapped_pages.h"

namespace ferry::device {
namespace {

// Keeps only a piece of the mapped file in memory at a time.
Hash hash_of(std::span<const std::uint8_t> mapped) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  HashStream hash;
  for (; !mapped.empty(); mapped = mapped.subspan(std::min(mapped.size(), kPieceBytes))) {
    const auto piece = mapped.first(std::min(mapped.size(), kPieceBytes));
    hash.add(piece);
    drop_mapped_pages(piece.data(), piece.size());
  }
  return hash.finish();
}

}  // namespace

Result<std::shared_ptr<const MappedBlob>> MappedBlob::map(const Descriptor& file, std::uint64_t offset,
                                                          std::uint64_t bytes, MemoryBudget& budget) {
  const std::uint64_t before = offset % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto size = static_cast<std::size_t>(before + bytes);
  FERRY_ASSIGN(MemoryCharge charge, MemoryCharge::take(budget, before + bytes));
  void* memory = size == before + bytes
                     ? mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), static_cast<off_t>(offset - before))
                     : MAP_FAILED;
  if (memory == MAP_FAILED) {
    return Status(ErrorCode::resource_exhausted, format("cannot map a blob of %llu bytes: %s",
                                                        static_cast<unsigned long long>(bytes), std::strerror(errno)));
  }
  return std::shared_ptr<const MappedBlob>(new MappedBlob({static_cast<const std::uint8_t*>(memory), size},
                                                          static_cast<std::size_t>(before), std::move(charge)));
}

MappedBlob::~MappedBlob() { munmap(const_cast<std::uint8_t*>(pages_.data()), pages_.size()); }

Result<std::shared_ptr<const MappedBlob>> BlobStore::find(const Hash& hash, MemoryBudget& budget) const {
  std::uint64_t bytes = 0;
  const Descriptor file = broker_.find(Cache::blobs, hash, bytes);
  std::shared_ptr<const MappedBlob> blob;
  if (file.number() < 0 || bytes == 0) return blob;
  FERRY_ASSIGN(blob, MappedBlob::map(file, 0, bytes, budget));
  // A file that was damaged on the disk is replaced by the next upload.
  return hash_of(blob->bytes()) == hash ? blob : nullptr;
}

Result<std::shared_ptr<const MappedBlob>> BlobStore::find_part(const Hash& hash, const MappedBlob& whole,
                                                               std::uint64_t offset, std::uint64_t bytes,
                                                               MemoryBudget& budget) const {
  std::uint64_t size = 0;
  const Descriptor file = broker_.find(Cache::blobs, hash, size);
  std::shared_ptr<const MappedBlob> part;
  if (size != whole.bytes().size()) return part;
  FERRY_ASSIGN(part, MappedBlob::map(file, offset, bytes, budget));
  // Comparing the part replaces hashing the file again.
  const std::uint8_t* const same = whole.bytes().data() + offset;
  const bool is_same = std::memcmp(part->bytes().data(), same, part->bytes().size()) == 0;
  drop_mapped_pages(same, part->bytes().size());
  return is_same ? part : nullptr;
}

Result<std::unique_ptr<BlobUpload>> BlobUpload::begin(const BlobStore& store, const Hash& hash, std::uint64_t bytes) {
  const std::uint64_t most = store.broker().largest(Cache::blobs);
  if (most == 0) return Status(ErrorCode::unsupported, "this server has no folder in which to keep blobs");
  if (bytes == 0 || bytes > most) {
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    return Status(ErrorCode::resource_exhausted, format("expected a blob of 1 to %llu bytes, got %llu (rpc_server "
                                                        "--blob-cache)",
                                                        number(most), number(bytes)));
  }
  FERRY_ASSIGN(NewFile file, store.broker().store(Cache::blobs, hash, bytes));
  return std::unique_ptr<BlobUpload>(new BlobUpload(std::move(file), hash, bytes));
}

Status BlobUpload::add(std::span<const std::uint8_t> piece) {
  FERRY_TRY(file_.add(piece));
  received_ += piece.size();
  return {};
}

Result<std::shared_ptr<const MappedBlob>> BlobUpload::finish(MemoryBudget& budget) {
  FERRY_ASSIGN(const Descriptor reader, file_.finish(hash_));
  return MappedBlob::map(reader, 0, bytes_, budget);
}

}  // namespace ferry::device
