#include "host/gate/store/collect.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/hex.h"
#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/gate/store/baseline_file.h"
#include "host/gate/store/store_file.h"

namespace ferry::gate {

namespace {

struct CollectedFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds used{};
  bool is_object = false;
  Hash object = {};
};

// Returns the objects and those that are being written, the oldest first. What else is in the folder is not the
// store's.
std::vector<CollectedFile> files_of_objects(const std::string& folder, std::chrono::nanoseconds now) {
  std::vector<CollectedFile> files;
  for (const std::string& name : names_in(folder)) {
    CollectedFile file{.path = folder + "/" + name};
    file.is_object = parse_hex(name, file.object);
    struct stat info{};
    if (!file.is_object && !name.starts_with("new-")) continue;
    if (lstat(file.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    file.bytes = static_cast<std::uint64_t>(info.st_size);
    file.used = std::chrono::seconds{info.st_mtim.tv_sec} + std::chrono::nanoseconds{info.st_mtim.tv_nsec};
    if (file.used > now) {
      // A wrong clock has dated it. From now on it ages like the others.
      (void)utimensat(AT_FDCWD, file.path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
      file.used = now;
    }
    files.push_back(std::move(file));
  }
  std::ranges::sort(files, {}, &CollectedFile::used);
  return files;
}

// Whether the process that was writing this file has ended.
bool is_abandoned(const std::string& path) {
  const std::optional<StoreFile> file = open_if_regular(path, O_RDWR);
  return file && flock(file->file.number(), LOCK_EX | LOCK_NB) == 0;
}

std::set<Hash> needed_objects(const std::string& baselines) {
  std::set<Hash> needed;
  for (const std::string& suite : names_in(baselines)) {
    const std::string folder = baselines + "/" + suite;
    struct stat info{};
    if (lstat(folder.c_str(), &info) == 0 && S_ISREG(info.st_mode)) continue;
    for (const std::string& name : names_in(folder)) {
      if (!name.ends_with(kBaselineExtension)) continue;
      for (const auto& [key, module] : read_baseline_file(folder + "/" + name)) {
        needed.insert(module.module);
        needed.insert(module.blobs.begin(), module.blobs.end());
      }
    }
  }
  return needed;
}

}  // namespace

std::string collect_objects(const std::string& objects, const std::string& baselines, std::uint64_t quota,
                            std::chrono::nanoseconds now, std::chrono::nanoseconds oldest_in_use) {
  const std::vector<CollectedFile> files = files_of_objects(objects, now);
  std::uint64_t total = 0, kept = 0;
  for (const CollectedFile& file : files) {
    const bool is_left_over = !file.is_object && file.used < oldest_in_use && is_abandoned(file.path);
    if (!is_left_over || unlink(file.path.c_str()) != 0) total += file.bytes;
  }
  if (total <= quota) return {};
  const auto excess = [&] {
    return printable(objects) + " has " + bytes_text(total) + ", more than the quota of " + bytes_text(quota);
  };
  std::set<Hash> needed;
  try {
    needed = needed_objects(baselines);
  } catch (const UsageError& error) {
    return excess() + ", but nothing was deleted, because a baseline that may need it cannot be read: " + error.what();
  }
  for (const CollectedFile& file : files) {
    if (total <= quota) return {};
    if (!file.is_object) continue;
    if (file.used >= oldest_in_use || needed.contains(file.object)) {
      kept += file.bytes;
    } else if (unlink(file.path.c_str()) == 0) {
      total -= file.bytes;
    }
  }
  if (total <= quota) return {};
  return excess() + ": " + bytes_text(kept) + " belong to baselines or were used during the last hour";
}

}  // namespace ferry::gate
