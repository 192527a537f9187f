#include "host/gate/store/object_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"
#include "base/hash_stream.h"
#include "base/hex.h"
#include "base/mapped_file.h"
#include "base/quantity_text.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kPiece = 1 << 20;
constexpr std::chrono::hours kInUse{1};

[[noreturn]] void fail(const std::string& path) {
  throw StoreFailed("cannot write " + path + ": " + std::strerror(errno));
}

void write_all(int file, std::span<const std::uint8_t> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

struct StoredFile {
  fs::path path = {};
  std::uint64_t bytes = 0;
  fs::file_time_type used = {};
  bool is_object = false;
  Hash object = {};
};

std::vector<StoredFile> files_of(const std::string& folder) {
  std::vector<StoredFile> files;
  std::error_code gone;  // another process may delete files at the same time
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    StoredFile file{.path = entry.path()};
    file.bytes = entry.file_size(gone);
    if (!gone) file.used = entry.last_write_time(gone);
    if (gone) continue;
    file.is_object = parse_hex(entry.path().filename().string(), file.object);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

ObjectFolder::ObjectFolder(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw StoreFailed("cannot create " + folder_ + ": " + error.message());
}

bool ObjectFolder::touch(const Hash& object) const {
  return utimensat(AT_FDCWD, path_of(object).c_str(), nullptr, 0) == 0;
}

void ObjectFolder::publish(const Hash& object, const std::function<void(int)>& write) const {
  std::string path = folder_ + "/new-XXXXXX";
  const Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file.number() < 0) fail(folder_);
  try {
    write(file.number());
    if (fsync(file.number()) != 0 || rename(path.c_str(), path_of(object).c_str()) != 0) fail(path_of(object));
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
}

Hash ObjectFolder::put(std::span<const std::uint8_t> bytes) const {
  const Hash object = blake2b(bytes);
  if (!touch(object)) publish(object, [&](int file) { write_all(file, bytes, path_of(object)); });
  return object;
}

void ObjectFolder::put(const Hash& object, std::uint64_t bytes, const BlobSource& from) const {
  if (touch(object)) return;
  publish(object, [&](int file) {
    HashStream hash;
    std::vector<std::uint8_t> piece;
    for (std::uint64_t offset = 0; offset < bytes; offset += piece.size()) {
      piece.resize(std::min(kPiece, bytes - offset));
      from.read(object, offset, piece);
      hash.add(piece);
      write_all(file, piece, path_of(object));
    }
    if (hash.finish() != object) throw UsageError("expected contents with the hash " + to_hex(object) + ", got others");
  });
}

std::optional<std::vector<std::uint8_t>> ObjectFolder::get(const Hash& object) const {
  if (!touch(object)) return std::nullopt;
  const std::string path = path_of(object);
  std::vector<std::uint8_t> bytes;
  if (fs::file_size(path) > 0) {  // an empty file cannot be mapped
    const MappedFile file = map_file(path);
    bytes.assign(file.bytes.begin(), file.bytes.end());
  }
  if (blake2b(bytes) != object) {
    throw UsageError(path + " is damaged: expected contents with the hash that is its name, got " +
                     to_hex(blake2b(bytes)));
  }
  return bytes;
}

std::string ObjectFolder::collect(std::uint64_t quota, const std::set<Hash>& needed) const {
  std::vector<StoredFile> files = files_of(folder_);
  std::uint64_t total = 0, kept = 0;
  for (const StoredFile& file : files) total += file.bytes;
  std::ranges::sort(files, {}, &StoredFile::used);
  const auto oldest_in_use = fs::file_time_type::clock::now() - kInUse;
  for (const StoredFile& file : files) {
    const bool is_left_over = !file.is_object && file.used < oldest_in_use;  // by a process that was killed
    if (total <= quota && !is_left_over) continue;
    if (file.used >= oldest_in_use || needed.contains(file.object)) {
      kept += file.bytes;
      continue;
    }
    std::error_code gone;
    if (fs::remove(file.path, gone)) total -= file.bytes;
  }
  if (total <= quota) return {};
  return folder_ + " has " + bytes_text(total) + ", more than the quota of " + bytes_text(quota) + ": " +
         bytes_text(kept) + " belong to baselines or were used during the last hour";
}

}  // namespace ferry::gate
