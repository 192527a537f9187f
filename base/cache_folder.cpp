#include "base/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "base/format.h"

namespace ferry {
namespace {

// An incomplete file is locked by the process that writes it, from shortly after its creation on.
constexpr time_t kUnlockedSeconds = 60;
// Files that have not been used for so long are nobody's share.
constexpr time_t kUnusedSeconds = 7 * 24 * 60 * 60;
constexpr std::size_t kHashDigits = 2 * sizeof(Hash);

// A process may have left a link or a pipe in the place of a file.
constexpr int kOpenFound = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

// Returns whether the process that wrote this incomplete file has ended.
bool is_abandoned(const std::string& path, const timespec& used) {
  if (time(nullptr) - used.tv_sec < kUnlockedSeconds) return false;
  const Descriptor file(open(path.c_str(), kOpenFound));
  return file.number() >= 0 && flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

// Returns 0 for a file without a holder.
std::uint64_t holder_of(const std::string& name, const std::string& extension) {
  if (name.size() <= kHashDigits + extension.size()) return 0;
  return std::strtoull(name.c_str() + kHashDigits + 1, nullptr, 16);
}

}  // namespace

// A file is named "<hash>.ferry" or, if it has a holder, "<hash>.<holder>.ferry".
std::string CacheFolder::path_of(const Hash& hash) const {
  std::string path = folder_ + "/" + to_hex(hash);
  if (holder_ != 0) path += format(".%016llx", static_cast<unsigned long long>(holder_));
  return path + extension_;
}

Descriptor CacheFolder::open_file(const Hash& hash, std::uint64_t& bytes) const {
  bytes = 0;
  if (folder_.empty()) return Descriptor();
  Descriptor file(open(path_of(hash).c_str(), kOpenFound));
  struct stat info{};
  if (file.number() < 0 || fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode)) return Descriptor();
  bytes = static_cast<std::uint64_t>(info.st_size);
  // Updates the modification time, by which the least recently used file is found.
  (void)futimens(file.number(), nullptr);
  return file;
}

// Processes may run this concurrently: a file that has already been deleted is no error.
void CacheFolder::make_room(std::uint64_t bytes) const {
  if (bytes <= room_) {
    room_ -= bytes;
    return;
  }
  struct Holder {
    std::uint64_t number, bytes;
  };
  struct File {
    timespec used;
    std::uint64_t bytes;
    std::size_t holder;
    std::string path;
  };
  std::vector<Holder> holders{{holder_, bytes}};
  std::vector<File> files;
  std::uint64_t total = bytes;
  DIR* folder = opendir(folder_.c_str());
  if (folder == nullptr) return;
  const std::string extension = extension_;
  while (const dirent* entry = readdir(folder)) {
    struct stat info{};
    const std::string name = entry->d_name;
    std::string path = folder_ + "/" + name;
    if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const bool is_complete = name.ends_with(extension);
    if (!is_complete && is_abandoned(path, info.st_mtim)) {
      unlink(path.c_str());
      continue;
    }
    const auto file_bytes = static_cast<std::uint64_t>(info.st_size);
    const std::uint64_t number = is_complete ? holder_of(name, extension) : holder_;
    std::size_t holder = 0;
    while (holder < holders.size() && holders[holder].number != number) ++holder;
    if (holder == holders.size()) holders.push_back({number, 0});
    holders[holder].bytes += file_bytes;
    total += file_bytes;
    if (is_complete) files.push_back({info.st_mtim, file_bytes, holder, std::move(path)});
  }
  closedir(folder);
  // More room than needed is made, so that the next file does not need another scan.
  const std::uint64_t goal = total > max_bytes_ ? max_bytes_ / 8 * 7 : max_bytes_;
  const time_t unused_since = time(nullptr) - kUnusedSeconds;
  while (total > goal && !files.empty()) {
    const auto largest = std::max_element(holders.begin(), holders.end(),
                                          [](const Holder& a, const Holder& b) { return a.bytes < b.bytes; });
    const auto is_spared = [&](const File& file) {
      return file.used.tv_sec > unused_since && &holders[file.holder] != &*largest;
    };
    const auto next = std::min_element(files.begin(), files.end(), [&](const File& a, const File& b) {
      if (is_spared(a) != is_spared(b)) return is_spared(b);
      return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
    });
    unlink(next->path.c_str());
    total -= next->bytes;
    holders[next->holder].bytes -= next->bytes;
    files.erase(next);
  }
  room_ = max_bytes_ - std::min(max_bytes_, total);
}

Status CacheFolder::failed_to_store() const {
  return {ErrorCode::resource_exhausted,
          format("cannot keep the %s in %s: %s", noun_, folder_.c_str(), std::strerror(errno))};
}

Result<NewCacheFile> NewCacheFile::create(const CacheFolder& folder) {
  std::string path = folder.folder() + "/part.XXXXXX";
  Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file.number() < 0) return folder.failed_to_store();
  (void)flock(file.number(), LOCK_EX | LOCK_NB);
  return NewCacheFile(folder, std::move(file), std::move(path));
}

NewCacheFile::~NewCacheFile() { remove(); }

void NewCacheFile::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

Status NewCacheFile::reserve(std::uint64_t bytes) {
  const bool is_full = fallocate(file_.number(), 0, 0, static_cast<off_t>(bytes)) != 0 &&
                       (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
  return is_full ? folder_.failed_to_store() : Status();
}

Status NewCacheFile::add(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file_.number(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return folder_.failed_to_store();
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<Descriptor> NewCacheFile::publish(const Hash& hash, mode_t mode) {
  Descriptor reader(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const bool is_done = reader.number() >= 0 && fchmod(file_.number(), mode) == 0 &&
                       rename(path_.c_str(), folder_.path_of(hash).c_str()) == 0;
  if (!is_done) return folder_.failed_to_store();
  path_.clear();
  return reader;
}

}  // namespace ferry
