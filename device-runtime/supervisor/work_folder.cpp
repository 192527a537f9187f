#include "device-runtime/supervisor/work_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/format.h"
#include "device-runtime/sandbox/sandbox.h"
#include "ferry/hash.h"

namespace ferry::device {
namespace {

constexpr const char* kSessionPrefix = "session-";
constexpr const char* kPrivatePrefix = "rpc_server.";
// In a private folder; locked by the server that owns the folder.
constexpr const char* kLock = "/lock";
constexpr int kAttempts = 20;
constexpr std::size_t kHashDigits = 2 * sizeof(Hash);

int open_folder(const std::string& path) { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

Status unusable(const std::string& path, const std::string& why) {
  return {ErrorCode::unavailable, format("cannot use the work folder %s: %s", path.c_str(), why.c_str())};
}

// Creates the folder, for this user alone, if it does not exist. Sessions load code from it and ownership is given away
// below it, so nobody else may control its contents.
Status make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return unusable(path, std::strerror(errno));
  const Descriptor folder(open_folder(path));
  struct stat info{};
  if (folder.number() < 0 || fstat(folder.number(), &info) != 0) {
    return unusable(
        path, errno == ENOTDIR || errno == ELOOP ? "expected a folder, got a link or a file" : std::strerror(errno));
  }
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    return unusable(path, format("expected a folder of user %u, got one of user %u", geteuid(), info.st_uid));
  }
  if ((info.st_mode & 022) != 0) {
    return unusable(path, format("others may write to it (mode %03o); chmod 700 it, or better make a new one",
                                 static_cast<unsigned>(info.st_mode & 0777)));
  }
  if (access(path.c_str(), W_OK | X_OK) != 0) return unusable(path, std::strerror(errno));
  return {};
}

template <class Visit>
void for_each_name(const std::string& path, Visit visit) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      names.emplace_back(entry->d_name);
  }
  closedir(folder);
  for (const std::string& name : names) visit(name);
}

// Removes the session folders of servers that no longer run.
void remove_old_sessions(const std::string& path) {
  for_each_name(path, [&](const std::string& name) {
    if (name.rfind(kSessionPrefix, 0) != 0) return;
    const long server = std::strtol(name.c_str() + std::strlen(kSessionPrefix), nullptr, 10);
    // In a container each server may be process 1, this one too, which has no sessions yet.
    const bool has_ended =
        server == getpid() || (server > 0 && kill(static_cast<pid_t>(server), 0) != 0 && errno == ESRCH);
    if (has_ended) remove_tree(path + "/" + name);
  });
}

// Removes what the server itself has not put into a cache: files of other users, which these may change, and whatever
// has no hash for a name, apart from files that another server is writing.
void remove_others(const std::string& cache, const std::string& extension) {
  for_each_name(cache, [&](const std::string& name) {
    const std::string path = cache + "/" + name;
    const bool is_new = name.rfind("part.", 0) == 0;
    const bool is_named = name.find_first_not_of("0123456789abcdef") == kHashDigits && name.ends_with(extension);
    struct stat info{};
    const bool is_ours = lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
    if (!is_ours || (!is_new && !is_named)) remove_tree(path);
  });
}

void remove_private(const std::string& path) {
  // Removed one by one, since they belong to different users. The lock is the last, so that a folder without one is
  // empty.
  for_each_name(path, [&](const std::string& name) {
    if (name != kLock + 1) remove_tree(path + "/" + name);
  });
  unlink((path + kLock).c_str());
  rmdir(path.c_str());
}

bool lock(const Descriptor& file) { return file.number() >= 0 && flock(file.number(), LOCK_EX | LOCK_NB) == 0; }

// Removes private folders of servers that were killed: their locks are free, or they are empty.
void remove_abandoned(const std::string& place) {
  for_each_name(place, [&](const std::string& name) {
    if (name.rfind(kPrivatePrefix, 0) != 0) return;
    const std::string path = place + "/" + name;
    struct stat info{};
    if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return;
    const Descriptor file(open((path + kLock).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (file.number() < 0) rmdir(path.c_str());
    if (lock(file)) remove_private(path);
  });
}

}  // namespace

Result<WorkFolder> WorkFolder::open(const std::string& path) {
  if (!path.empty()) {
    FERRY_TRY(make_folder(path));
    // Sessions run in folders of their own, where a relative path would be another one.
    const std::unique_ptr<char, void (*)(void*)> absolute(realpath(path.c_str(), nullptr), std::free);
    WorkFolder folder(absolute != nullptr ? absolute.get() : path, false, Descriptor());
    FERRY_TRY(folder.make_caches());
    remove_old_sessions(folder.path());
    return folder;
  }
  const char* temporary = std::getenv("TMPDIR");
  for (const char* place : {temporary, "/tmp", "/dev/shm"}) {
    if (place == nullptr || *place == 0) continue;
    remove_abandoned(place);
    // More than one is needed if other servers that start now have treated the folder as abandoned.
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::string pattern = std::string(place) + "/" + kPrivatePrefix + "XXXXXX";
      if (mkdtemp(pattern.data()) == nullptr) break;
      Descriptor file(::open((pattern + kLock).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      const bool taken = file.number() >= 0 && !lock(file);
      WorkFolder folder(pattern, true, std::move(file));
      if (!taken && folder.make_caches().is_ok()) return folder;
    }
  }
  return WorkFolder("", false, Descriptor());
}

std::string WorkFolder::make_session_folder(std::uint64_t session, uid_t owner, gid_t group) const {
  if (path_.empty()) return {};
  std::string folder =
      format("%s/%s%d-%llu", path_.c_str(), kSessionPrefix, getpid(), static_cast<unsigned long long>(session));
  if (mkdir(folder.c_str(), 0700) != 0) return {};
  if (owner == 0) return folder;
  const Descriptor made(open_folder(folder));
  if (made.number() >= 0 && fchown(made.number(), owner, group) == 0) return folder;
  rmdir(folder.c_str());
  return {};
}

Status WorkFolder::make_caches() const {
  for (const auto& [path, extension] : {std::pair(modules(), ".ferry"), std::pair(blobs(), ".blob")}) {
    if (mkdir(path.c_str(), 0700) == 0) continue;
    const Descriptor folder(errno == EEXIST ? open_folder(path) : -1);
    if (folder.number() < 0) {
      return unusable(
          path, errno == ENOTDIR || errno == ELOOP ? "expected a folder, got a link or a file" : std::strerror(errno));
    }
    // An earlier version gave the folders to the user of the sessions.
    struct stat info{};
    const bool is_ours = fstat(folder.number(), &info) == 0 && info.st_uid == geteuid();
    if ((!is_ours && fchown(folder.number(), geteuid(), getegid()) != 0) || fchmod(folder.number(), 0700) != 0) {
      return unusable(path, std::strerror(errno));
    }
    remove_others(path, extension);
    if (access(path.c_str(), W_OK | X_OK) != 0) return unusable(path, std::strerror(errno));
  }
  return {};
}

void WorkFolder::let_others_pass() const {
  const Descriptor folder(path_.empty() ? -1 : open_folder(path_));
  if (folder.number() >= 0) (void)!fchmod(folder.number(), 0711);
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::move(other.path_)), private_(std::exchange(other.private_, false)), lock_(std::move(other.lock_)) {}

WorkFolder::~WorkFolder() {
  if (private_) remove_private(path_);
}

}  // namespace ferry::device
