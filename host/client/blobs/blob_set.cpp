#include "host/client/blobs/blob_set.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hash_stream.h"
#include "ferry/error.h"

namespace ferry {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

[[noreturn]] void refuse_to_read(const std::string& file, const std::string& why) {
  throw UsageError("cannot read '" + file + "': " + why);
}

void read_range(int descriptor, const std::string& file, std::uint64_t offset, std::span<std::uint8_t> into) {
  while (!into.empty()) {
    const ssize_t count = pread(descriptor, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_to_read(file, strerror(errno));
    if (count == 0) refuse_to_read(file, "expected more than " + std::to_string(offset) + " bytes");
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void expect_bytes(std::uint64_t bytes) {
  if (bytes == 0 || bytes > kMaxBlobBytes)
    throw UsageError("expected a blob of 1 to " + std::to_string(kMaxBlobBytes) + " bytes, got " +
                     std::to_string(bytes));
}

}  // namespace

std::shared_ptr<const BlobSet::File> BlobSet::open_file(const std::string& name) {
  std::shared_ptr<const File>& file = files_[name];
  if (file == nullptr) {
    Descriptor descriptor(open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (descriptor.number() < 0) refuse_to_read(name, strerror(errno));
    file = std::make_shared<const File>(name, std::move(descriptor));
  }
  return file;
}

Blob BlobSet::add(std::vector<std::uint8_t> bytes) {
  expect_bytes(bytes.size());
  const Blob blob{blake2b(bytes), bytes.size()};
  add(blob, std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes)), 0);
  return blob;
}

Blob BlobSet::add(const std::string& file, std::uint64_t offset, std::uint64_t bytes) {
  expect_bytes(bytes);
  const std::shared_ptr<const File> opened = open_file(file);
  HashStream hash;
  std::vector<std::uint8_t> piece(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kPieceBytes)));
  for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, kPieceBytes)));
    read_range(opened->descriptor.number(), file, offset + done, piece);
    hash.add(piece);
  }
  const Blob blob{hash.finish(), bytes};
  contents_.try_emplace(blob.hash, Contents{nullptr, opened, offset, bytes});
  return blob;
}

void BlobSet::add(const Blob& blob, const std::string& file, std::uint64_t offset) {
  expect_bytes(blob.bytes);
  contents_.try_emplace(blob.hash, Contents{nullptr, open_file(file), offset, blob.bytes});
}

void BlobSet::add(const Blob& blob, const std::string& file, Descriptor opened) {
  expect_bytes(blob.bytes);
  contents_.try_emplace(blob.hash,
                        Contents{nullptr, std::make_shared<const File>(file, std::move(opened)), 0, blob.bytes});
}

void BlobSet::add(const Blob& blob, std::shared_ptr<const std::vector<std::uint8_t>> memory, std::uint64_t offset) {
  expect_bytes(blob.bytes);
  contents_.try_emplace(blob.hash, Contents{std::move(memory), nullptr, offset, blob.bytes});
}

void BlobSet::read(const Hash& blob, std::uint64_t offset, std::span<std::uint8_t> into) const {
  const auto entry = contents_.find(blob);
  if (entry == contents_.end()) throw UsageError("there is no blob " + to_hex(blob));
  const Contents& contents = entry->second;
  if (offset > contents.bytes || into.size() > contents.bytes - offset)
    throw UsageError("expected a range of the blob's " + std::to_string(contents.bytes) + " bytes, got " +
                     std::to_string(into.size()) + " bytes at " + std::to_string(offset));
  if (contents.file != nullptr)
    return read_range(contents.file->descriptor.number(), contents.file->name, contents.offset + offset, into);
  std::copy_n(contents.memory->begin() + static_cast<std::ptrdiff_t>(contents.offset + offset), into.size(),
              into.begin());
}

}  // namespace ferry
