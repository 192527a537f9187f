#include "rpc/server/key_ring.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "rpc/secure/secret.h"

namespace ferry::server {
namespace {

// Limits the number of keys, since each file is opened for every client that connects.
constexpr std::size_t kMaxKeys = 256;
constexpr std::string_view kSuffix = ".key";

bool is_folder(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Fails with resource_exhausted if the folder cannot be read at the moment. A folder without read permission counts as
// empty.
Result<std::vector<std::string>> key_files(const std::string& path) {
  std::vector<std::string> files;
  if (!is_folder(path)) {
    files.push_back(path);
    return files;
  }
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR || error == EACCES) return files;
    return Status(ErrorCode::resource_exhausted,
                  format("cannot read the key folder %s: %s", path.c_str(), std::strerror(error)));
  }
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    const bool is_key = name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
    if (is_key && files.size() < kMaxKeys) files.push_back(path + "/" + std::string(name));
  }
  closedir(folder);
  return files;
}

Status check_folder(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || (info.st_mode & 022) == 0) return {};
  return {ErrorCode::invalid_argument, format("the key folder %s: others may put keys there (mode %03o); chmod 700 it",
                                              path.c_str(), static_cast<unsigned>(info.st_mode & 0777))};
}

Result<bool> has_key(const std::string& path) {
  bool any = false;
  FERRY_ASSIGN(const std::vector<std::string> files, key_files(path));
  for (const std::string& file : files) {
    const Status read = secure::read_key_file(file).status();
    // Another server may have made the folder since it was looked for.
    if (!read.is_ok() && file == path && is_folder(path)) return has_key(path);
    if (!read.is_ok() && read.code() != ErrorCode::not_found) return read;
    any = any || read.is_ok();
  }
  return any;
}

}  // namespace

Result<KeyRing> KeyRing::open(const std::string& path) {
  return secure::wiping_stack([&] { return open_or_make(path); });
}

Result<KeyRing> KeyRing::open_or_make(const std::string& path) {
  KeyRing ring;
  ring.path_ = path.empty() ? secure::default_key_folder() : path;
  if (ring.path_.empty()) {
    return Status(ErrorCode::unavailable,
                  "there is no place for a key: HOME is not set; name a file or folder with --key-file");
  }
  const bool folder = is_folder(ring.path_);
  if (folder) FERRY_TRY(check_folder(ring.path_));
  FERRY_ASSIGN(bool any, has_key(ring.path_));
  if (any) return ring;
  ring.made_ = folder || path.empty() ? ring.path_ + "/" + secure::kFirstKeyName : ring.path_;
  const Status made = secure::write_key_file(ring.made_, secure::make_key());
  if (made.is_ok()) return ring;
  // Another server that started at the same time may have made it.
  FERRY_ASSIGN(any, has_key(ring.path_));
  if (!any) return made;
  ring.made_.clear();
  return ring;
}

Result<std::optional<secure::Key>> KeyRing::find(const secure::KeyId& id) const {
  if (is_folder(path_) && !check_folder(path_).is_ok()) return std::optional<secure::Key>();
  // The message is sent to unauthenticated clients, so it contains no paths.
  const Status busy(ErrorCode::busy, "this server cannot read its keys just now; try again");
  const auto files = key_files(path_);
  if (!files.is_ok()) return busy;
  bool all_read = true;
  for (const std::string& file : files.value()) {
    const Result<secure::Key> key = secure::read_key_file(file);
    if (key.is_ok() && key.value().id() == id) return std::optional(key.value());
    if (key.status().code() == ErrorCode::resource_exhausted) all_read = false;
  }
  if (!all_read) return busy;
  return std::optional<secure::Key>();
}

}  // namespace ferry::server
