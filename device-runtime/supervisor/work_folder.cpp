#include "device-runtime/supervisor/work_folder.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "device-runtime/sandbox/sandbox.h"
#include "rpc/base/format.h"

namespace ferry::device {
namespace {

Status make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return {};
  if (errno == EEXIST && access(path.c_str(), W_OK | X_OK) == 0) return {};
  return {ErrorCode::unavailable, format("cannot use the work folder %s: %s", path.c_str(), std::strerror(errno))};
}

constexpr const char* kSessionPrefix = "session-";

// Of servers that are no more.
void remove_old_sessions(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return;
  std::vector<std::string> old;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.rfind(kSessionPrefix, 0) != 0) continue;
    const long server = std::strtol(name.c_str() + std::strlen(kSessionPrefix), nullptr, 10);
    if (server > 0 && kill(static_cast<pid_t>(server), 0) != 0 && errno == ESRCH) old.push_back(path + "/" + name);
  }
  closedir(folder);
  for (const std::string& each : old) remove_tree(each);
}

}  // namespace

Result<WorkFolder> WorkFolder::open(const std::string& path) {
  if (!path.empty()) {
    FERRY_TRY(make_folder(path));
    WorkFolder folder(path, false);
    FERRY_TRY(make_folder(folder.modules()));
    remove_old_sessions(path);
    return folder;
  }
  const char* temporary = std::getenv("TMPDIR");
  for (const char* place : {temporary, "/tmp", "/dev/shm"}) {
    if (place == nullptr || *place == 0) continue;
    std::string pattern = std::string(place) + "/rpc_server.XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) continue;
    WorkFolder folder(pattern, true);
    if (make_folder(folder.modules()).is_ok()) return folder;
  }
  return WorkFolder("", false);
}

std::string WorkFolder::make_session_folder(std::uint64_t session, uid_t owner) const {
  if (path_.empty()) return {};
  std::string folder =
      format("%s/%s%d-%llu", path_.c_str(), kSessionPrefix, getpid(), static_cast<unsigned long long>(session));
  if (mkdir(folder.c_str(), 0700) != 0) return {};
  if (owner != 0) (void)!chown(folder.c_str(), owner, static_cast<gid_t>(-1));
  return folder;
}

void WorkFolder::give_modules_to(uid_t owner, gid_t group) const {
  if (path_.empty()) return;
  // Sessions must reach what is inside.
  (void)chmod(path_.c_str(), 0711);
  (void)!chown(modules().c_str(), owner, group);
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::move(other.path_)), private_(std::exchange(other.private_, false)) {}

WorkFolder::~WorkFolder() {
  if (private_) remove_tree(path_);
}

}  // namespace ferry::device
