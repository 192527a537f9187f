#include "host/gate/store/object_folder.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/hash_stream.h"
#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/write_all.h"
#include "host/client/blobs/blob_set.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

namespace {

constexpr std::uint64_t kPiece = 1 << 20;

Hash hash_of_file(const StoreFile& file, const std::string& path) {
  HashStream hash;
  std::vector<std::uint8_t> piece(static_cast<std::size_t>(std::min(kPiece, file.bytes)));
  for (std::uint64_t offset = 0; offset < file.bytes;) {
    const std::size_t count = read_from(file, path, offset, piece);
    if (count == 0) break;
    hash.add(std::span(piece).first(count));
    offset += count;
  }
  return hash.finish();
}

}  // namespace

ObjectFolder::ObjectFolder(std::string folder, StoreLock lock, std::chrono::seconds in_use)
    : folder_(std::move(folder)), lock_(std::move(lock)), in_use_(in_use), touched_(std::chrono::steady_clock::now()) {
  create_store_folder(folder_);
}

// A run may last longer than objects stay in use, so what it used before is touched again from time to time.
void ObjectFolder::remember(const Hash& object) {
  used_.insert(object);
  const auto now = std::chrono::steady_clock::now();
  if (now - touched_ < in_use_ / 6) return;
  for (const Hash& used : used_) (void)touch_locked(used);
  touched_ = now;
}

bool ObjectFolder::touch_locked(const Hash& object) const {
  const std::string path = path_of(object);
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) fail_to("read", path);
    return false;
  }
  if (!S_ISREG(info.st_mode)) return false;
  // Another user's object that cannot be touched is still there: update() looks again.
  (void)utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return true;
}

bool ObjectFolder::touch(const Hash& object) { return open_object(object).has_value(); }

std::optional<StoreFile> ObjectFolder::open_object(const Hash& object) {
  const Descriptor held = lock_.share();
  std::optional<StoreFile> file = open_if_regular(path_of(object), O_RDONLY);
  if (!file) return std::nullopt;
  (void)futimens(file->file.number(), nullptr);  // may fail as in touch_locked()
  remember(object);
  return file;
}

bool ObjectFolder::is_intact(const Hash& object, std::uint64_t bytes) {
  const std::optional<StoreFile> file = open_object(object);
  return file && file->bytes == bytes && hash_of_file(*file, path_of(object)) == object;
}

void ObjectFolder::publish(const Hash& object, const std::function<void(int)>& write) {
  std::string path = folder_ + "/new-XXXXXX";
  const Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file.number() < 0) fail_to("create a file in", folder_);
  (void)flock(file.number(), LOCK_EX | LOCK_NB);  // collect_objects() deletes it if this process is killed
  try {
    write(file.number());
    if (fsync(file.number()) != 0) fail_to("write", path_of(object));
    const Descriptor held = lock_.share();
    if (rename(path.c_str(), path_of(object).c_str()) != 0) fail_to("write", path_of(object));
    remember(object);
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
}

Hash ObjectFolder::put(std::span<const std::uint8_t> bytes) {
  const Hash object = blake2b(bytes);
  if (bytes.size() > kMostModuleBytes) {
    throw StoreFailed("expected an object of at most " + bytes_text(kMostModuleBytes) + ", got " +
                      bytes_text(bytes.size()));
  }
  if (is_intact(object, bytes.size())) return object;
  publish(object, [&](int file) {
    if (!write_all(file, bytes)) fail_to("write", path_of(object));
  });
  return object;
}

void ObjectFolder::put(const Hash& object, std::uint64_t bytes, const BlobSource& from) {
  if (is_intact(object, bytes)) return;
  publish(object, [&](int file) {
    HashStream hash;
    std::vector<std::uint8_t> piece;
    for (std::uint64_t offset = 0; offset < bytes; offset += piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min(kPiece, bytes - offset)));
      from.read(object, offset, piece);
      hash.add(piece);
      if (!write_all(file, piece)) fail_to("write", path_of(object));
    }
    if (hash.finish() != object) throw UsageError("expected contents with the hash " + to_hex(object) + ", got others");
  });
}

std::string ObjectFolder::damage_of(const Hash& object, const std::string& why) const {
  return printable(path_of(object)) + " is damaged: " + why +
         "; a run with the sources that it was compiled from repairs it";
}

std::optional<std::vector<std::uint8_t>> ObjectFolder::get(const Hash& object) {
  const std::optional<StoreFile> file = open_object(object);
  if (!file) return std::nullopt;
  if (file->bytes > kMostModuleBytes) {
    throw UsageError(
        damage_of(object, "expected at most " + bytes_text(kMostModuleBytes) + ", got " + bytes_text(file->bytes)));
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file->bytes));
  bytes.resize(read_from(*file, path_of(object), 0, bytes));
  if (const Hash found = blake2b(bytes); found != object) {
    throw UsageError(damage_of(object, "expected contents with the hash that is its name, got " + to_hex(found)));
  }
  struct stat info{};
  if (fstat(file->file.number(), &info) == 0) owners_[object] = info.st_uid;
  return bytes;
}

std::string ObjectFolder::holder_of(const Hash& object) const {
  const auto owner = owners_.find(object);
  if (owner == owners_.end()) return "somebody unknown";
  if (owner->second == geteuid()) return {};
  const passwd* entry = getpwuid(owner->second);
  return entry != nullptr ? printable(entry->pw_name) : "uid " + std::to_string(owner->second);
}

std::shared_ptr<const BlobSource> ObjectFolder::blobs(std::span<const Hash> blobs) {
  auto found = std::make_shared<BlobSet>();
  for (const Hash& blob : blobs) {
    std::optional<StoreFile> file = open_object(blob);
    if (!file) continue;
    if (hash_of_file(*file, path_of(blob)) != blob) throw UsageError(damage_of(blob, "its contents have another hash"));
    found->add(Blob{blob, file->bytes}, path_of(blob), std::move(file->file));
  }
  return found;
}

void ObjectFolder::sync() const {
  const Descriptor folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems cannot do this for folders.
  if (folder.number() < 0 || (fsync(folder.number()) != 0 && errno != EINVAL)) fail_to("write the folder", folder_);
}

}  // namespace ferry::gate
