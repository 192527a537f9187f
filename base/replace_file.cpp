#include "base/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/format.h"
#include "base/write_all.h"

namespace ferry {
namespace {

Status failed(const char* what, const std::string& path) {
  return {ErrorCode::unavailable, format("cannot %s %s: %s", what, path.c_str(), std::strerror(errno))};
}

std::string folder_of(const std::string& path) {
  const std::size_t end = path.rfind('/');
  if (end == std::string::npos) return ".";
  return path.substr(0, end == 0 ? 1 : end);
}

Status write_new(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.number() < 0) return failed("make", path);
  if (!write_all(file.number(), text) || ::fsync(file.number()) != 0) return failed("write", path);
  return {};
}

}  // namespace

Status replace_file(const std::string& path, std::string_view text) {
  const std::string draft = path + ".new";
  const Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() < 0) return failed("open the folder of", path);
  ::unlink(draft.c_str());  // left by an attempt that a crash ended
  Status status = write_new(draft, text);
  if (status.is_ok() && ::rename(draft.c_str(), path.c_str()) != 0) status = failed("replace", path);
  if (!status.is_ok()) {
    ::unlink(draft.c_str());
    return status;
  }
  return ::fsync(folder.number()) == 0 ? Status() : failed("write the folder of", path);
}

}  // namespace ferry
