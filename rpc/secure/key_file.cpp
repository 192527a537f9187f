#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/format.h"
#include "base/replace_file.h"
#include "rpc/secure/key.h"

namespace ferry::secure {
namespace {

// A key file holds one line; a longer file is something else.
constexpr std::size_t kMaxFileBytes = 4096;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Status failure(ErrorCode code, const char* what, const std::string& path, int error) {
  return {code, format("cannot %s the key file %s: %s", what, path.c_str(), std::strerror(error))};
}

// Classifies an error of open or read: the file does not exist, it could be read at another time, or something is wrong
// with it.
ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EINTR:
    case EIO: return ErrorCode::resource_exhausted;
    default: return ErrorCode::invalid_argument;
  }
}

// Creates the folders above the file, accessible by their owner alone.
void make_folders_above(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    // If a folder cannot be created, creating the file reports it.
    (void)::mkdir(path.substr(0, at).c_str(), 0700);
  }
}

// Renames a file to a name that no other has. Sets errno to EEXIST if one does.
bool rename_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // This file system cannot do both at once.
  if (::access(to.c_str(), F_OK) != 0) return ::rename(from.c_str(), to.c_str()) == 0;
  errno = EEXIST;
  return false;
}

bool write_all(int descriptor, std::string_view text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return ::fsync(descriptor) == 0 || errno == EINVAL;
}

}  // namespace

Result<Key> read_key_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return Status(ErrorCode::invalid_argument, "the key file " + path + ": " + why);
  };
  // O_NONBLOCK, in case the file is a pipe.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.descriptor() < 0) {
    return failure(code_of(errno), "read", path, errno);
  }
  struct stat info{};
  if (::fstat(file.descriptor(), &info) != 0) return failure(ErrorCode::invalid_argument, "read", path, errno);
  if (!S_ISREG(info.st_mode)) return refuse("expected a file, got something else");
  if ((info.st_mode & 077) != 0) {
    return refuse(format("others may read or change it (mode %03o); chmod 600 it, or better make a new one",
                         static_cast<unsigned>(info.st_mode & 0777)));
  }
  if (info.st_uid != ::geteuid() && info.st_uid != 0) return refuse("it belongs to another user");
  if (info.st_size > static_cast<off_t>(kMaxFileBytes)) return refuse("expected a key, got a large file");
  SecretBytes<kMaxFileBytes> text;
  const ssize_t count = ::read(file.descriptor(), text.data(), text.size());
  if (count < 0) return failure(code_of(errno), "read", path, errno);
  Result<Key> key = parse_key({reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(count)});
  if (!key.is_ok()) return refuse(key.status().message());
  return key;
}

Status write_key_file(const std::string& path, const Key& key) {
  make_folders_above(path);
  // The key is written to a temporary file first, so that a server that reads at the same moment does not see a partial
  // file.
  std::string draft = path + ".XXXXXX";
  Status status;
  {
    const File file(::mkostemp(draft.data(), O_CLOEXEC));  // mode 0600
    if (file.descriptor() < 0) return failure(ErrorCode::unavailable, "make", path, errno);
    std::string text = to_file_text(key);
    const bool whole = write_all(file.descriptor(), text);
    wipe(text.data(), text.size());
    if (!whole) status = failure(ErrorCode::unavailable, "write", path, errno);
  }
  if (status.is_ok() && ::link(draft.c_str(), path.c_str()) != 0) {
    // Some file systems have no hard links. Where they are supported, link() leaves an existing file alone.
    const bool no_links = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS;
    if (no_links && rename_new(draft, path)) return {};
    status = failure(errno == EEXIST ? ErrorCode::invalid_argument : ErrorCode::unavailable, "make", path, errno);
  }
  ::unlink(draft.c_str());
  return status;
}

Status replace_key_file(const std::string& path, const Key& key) {
  std::string text = to_file_text(key);
  Status replaced = replace_file(path, text);
  wipe(text.data(), text.size());
  return replaced;
}

std::string config_folder() {
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config == '/') {
    return std::string(config) + "/ferry";
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != 0 ? std::string(home) + "/.config/ferry" : std::string();
}

std::string default_key_folder() {
  const std::string folder = config_folder();
  return folder.empty() ? folder : folder + "/server-keys";
}

}  // namespace ferry::secure
