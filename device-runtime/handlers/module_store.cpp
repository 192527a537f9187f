#include "device-runtime/handlers/module_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "device-runtime/handlers/limits.h"

namespace ferry::device {
namespace {

// Closes the file at the end of its scope.
struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

bool read_all(int descriptor, std::vector<std::uint8_t>& into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = read(descriptor, into.data() + done, into.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> ModuleStore::find(const Hash& hash) const {
  const std::string path = path_of(hash);
  const File file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  struct stat info{};
  if (file.descriptor < 0 || fstat(file.descriptor, &info) != 0) return std::nullopt;
  if (info.st_size < 0 || static_cast<std::uint64_t>(info.st_size) > kMaxModuleBytes) return std::nullopt;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(info.st_size));
  if (!read_all(file.descriptor, bytes)) return std::nullopt;
  if (blake2b(bytes) == hash) {
    // Updates the modification time, by which the least recently used file is found.
    (void)futimens(file.descriptor, nullptr);
    return bytes;
  }
  // Damaged on disk: deleted, so that the next upload can replace it.
  unlink(path.c_str());
  return std::nullopt;
}

// Sessions may run this concurrently: a file that has already been deleted is no error.
void ModuleStore::make_room(std::uint64_t bytes) const {
  if (bytes <= room_) {
    room_ -= bytes;
    return;
  }
  struct File {
    timespec used;
    std::uint64_t bytes;
    std::string path;
  };
  std::vector<File> files;
  std::uint64_t total = bytes;
  DIR* folder = opendir(folder_.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    struct stat info{};
    std::string path = folder_ + "/" + entry->d_name;
    if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    total += static_cast<std::uint64_t>(info.st_size);
    files.push_back({info.st_mtim, static_cast<std::uint64_t>(info.st_size), std::move(path)});
  }
  closedir(folder);
  // More room than needed is made, so that the next file does not need another scan.
  const std::uint64_t goal = total > max_bytes_ ? max_bytes_ / 8 * 7 : max_bytes_;
  while (total > goal && !files.empty()) {
    const auto oldest = std::min_element(files.begin(), files.end(), [](const File& a, const File& b) {
      return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
    });
    unlink(oldest->path.c_str());
    total -= oldest->bytes;
    files.erase(oldest);
  }
  room_ = max_bytes_ - std::min(max_bytes_, total);
}

Status ModuleStore::put(const Hash& hash, std::span<const std::uint8_t> bytes) const {
  if (folder_.empty()) return {};
  const std::string path = path_of(hash);
  if (access(path.c_str(), F_OK) == 0) return {};
  if (bytes.size() > max_bytes_) return {};
  make_room(bytes.size());
  const std::string temporary = format("%s.%d.part", path.c_str(), static_cast<int>(getpid()));
  bool written = false;
  {
    const File file{open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
    written = file.descriptor >= 0 && write_all(file.descriptor, bytes);
  }
  if (written && rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  unlink(temporary.c_str());
  return {ErrorCode::resource_exhausted,
          format("cannot keep the module in %s: %s", folder_.c_str(), std::strerror(error))};
}

}  // namespace ferry::device
