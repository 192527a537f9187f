#include "device-runtime/supervisor/work_folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "rpc/base/format.h"

namespace ferry::device {
namespace {

Status make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return {};
  if (errno == EEXIST && access(path.c_str(), W_OK | X_OK) == 0) return {};
  return {ErrorCode::unavailable, format("cannot use the work folder %s: %s", path.c_str(), std::strerror(errno))};
}

// Files of one folder, without following links.
void remove_files(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
      unlink((path + "/" + entry->d_name).c_str());
    }
  }
  closedir(folder);
}

}  // namespace

Result<WorkFolder> WorkFolder::open(const std::string& path) {
  if (!path.empty()) {
    FERRY_TRY(make_folder(path));
    WorkFolder folder(path, false);
    FERRY_TRY(make_folder(folder.modules()));
    return folder;
  }
  const char* temporary = std::getenv("TMPDIR");
  std::string pattern =
      std::string(temporary != nullptr && *temporary != 0 ? temporary : "/tmp") + "/rpc_server.XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return Status(ErrorCode::unavailable, format("cannot make a work folder like %s: %s (choose one with --workdir)",
                                                 pattern.c_str(), std::strerror(errno)));
  }
  WorkFolder folder(pattern, true);
  FERRY_TRY(make_folder(folder.modules()));
  return folder;
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::move(other.path_)), private_(std::exchange(other.private_, false)) {}

WorkFolder::~WorkFolder() {
  if (!private_) return;
  remove_files(modules());
  rmdir(modules().c_str());
  remove_files(path_);
  rmdir(path_.c_str());
}

}  // namespace ferry::device
