#include "host/compiler/llvm/module_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/cache_folder.h"
#include "base/descriptor.h"
#include "module/module_file.h"

namespace ferry {

namespace {

namespace fs = std::filesystem;

// A file consists of the key and the module, which ends with the hash of its contents.
constexpr std::size_t kKeyBytes = sizeof(Hash);
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{256} << 20;

bool is_own(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Returns whether this is a folder that only this user may change.
bool is_own_folder(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  return folder.number() >= 0 && fstat(folder.number(), &status) == 0 && is_own(status);
}

// Makes the folder and those that it lies in, for this user alone.
void make_folders(const fs::path& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno != ENOENT || !path.has_relative_path()) return;
  make_folders(path.parent_path());
  (void)mkdir(path.c_str(), 0700);
}

bool read_all(int file, std::vector<std::uint8_t>& into) {
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t count = ::read(file, into.data() + done, into.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

CacheFolder files_in(const std::string& folder, std::uint64_t max_bytes) {
  return {folder, "module", ".ferry", max_bytes};
}

std::string user_folder() {
  if (const char* cache = getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return cache;
  const char* home = getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache" : std::string();
}

}  // namespace

ModuleCache ModuleCache::of_user() {
  const char* disabled = getenv("FERRY_CACHE_DISABLE");
  if (disabled != nullptr && *disabled != 0 && std::string_view(disabled) != "0") return ModuleCache();
  std::uint64_t max_bytes = kDefaultMaxBytes;
  if (const char* text = getenv("FERRY_CACHE_MAXSIZE"); text != nullptr) {
    const char* const end = text + strlen(text);
    std::uint64_t given = 0;
    if (const auto [rest, failed] = std::from_chars(text, end, given); failed == std::errc() && rest == end)
      max_bytes = given;
  }
  const std::string folder = user_folder();
  return folder.empty() ? ModuleCache() : ModuleCache(folder + "/ferry/modules", max_bytes);
}

std::optional<std::vector<std::uint8_t>> ModuleCache::find(const Hash& key) const {
  if (!is_on() || !is_own_folder(folder_)) return std::nullopt;
  const CacheFolder files = files_in(folder_, max_bytes_);
  std::uint64_t bytes = 0;
  const Descriptor file = files.open_file(key, bytes);
  struct stat status{};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) return std::nullopt;
  const bool has_size = bytes > kKeyBytes && bytes <= kMaxFileBytes;
  std::vector<std::uint8_t> contents(has_size ? static_cast<std::size_t>(bytes) : 0);
  const bool is_whole = is_own(status) && has_size && read_all(file.number(), contents) &&
                        std::equal(key.begin(), key.end(), contents.begin()) &&
                        read_module(std::span(contents).subspan(kKeyBytes)).is_ok();
  if (!is_whole) {
    unlink(files.path_of(key).c_str());
    return std::nullopt;
  }
  contents.erase(contents.begin(), contents.begin() + kKeyBytes);
  return contents;
}

void ModuleCache::store(const Hash& key, std::span<const std::uint8_t> module) const {
  const std::uint64_t bytes = kKeyBytes + module.size();
  if (!is_on() || bytes > std::min(max_bytes_, kMaxFileBytes)) return;
  make_folders(folder_);
  if (!is_own_folder(folder_)) return;
  const CacheFolder files = files_in(folder_, max_bytes_);
  files.make_room(bytes);
  Result<NewCacheFile> file = NewCacheFile::create(files);
  if (!file.is_ok() || !file.value().add(key).is_ok() || !file.value().add(module).is_ok()) return;
  (void)file.value().publish(key, 0600);
}

}  // namespace ferry
