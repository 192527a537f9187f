#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "device-runtime/sandbox/sandbox.h"

namespace ferry::device {
namespace {

// Calls visit(name) for each entry; takes ownership of the descriptor.
template <class Visit>
void for_each_entry(int folder, Visit visit) {
  DIR* entries = fdopendir(folder);
  if (entries == nullptr) {
    close(folder);
    return;
  }
  while (const dirent* entry = readdir(entries)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) visit(entry->d_name);
  }
  closedir(entries);
}

int open_folder(int parent, const char* name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Gives the owner of a folder the permissions to empty it. Affects neither the target of a link nor something that
// replaces the folder concurrently.
void open_up(int parent, const char* name) {
  const int folder = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
#if defined(__NR_fchmodat2)
  constexpr long kChangeMode = __NR_fchmodat2;
#else
  constexpr long kChangeMode = 452;  // the number on every architecture
#endif
  // Before Linux 6.6 a folder without read permission can be changed only through /proc.
  if (syscall(kChangeMode, folder, "", 0700, AT_EMPTY_PATH) != 0) {
    (void)chmod(format("/proc/self/fd/%d", folder).c_str(), 0700);
  }
  close(folder);
}

// Moves the contents of subfolders up to the root folder, so that the depth and length of paths do not matter.
void empty_folder(int root) {
  unsigned moved = 0;
  bool progress = true;
  while (progress) {
    progress = false;
    for_each_entry(open_folder(root, "."), [&](const char* name) {
      if (unlinkat(root, name, 0) == 0 || unlinkat(root, name, AT_REMOVEDIR) == 0) {
        progress = true;
        return;
      }
      open_up(root, name);
      const int folder = open_folder(root, name);
      if (folder < 0) return;
      for_each_entry(open_folder(folder, "."), [&](const char* inner) {
        if (unlinkat(folder, inner, 0) == 0) {
          progress = true;
          return;
        }
        // Moving a folder requires permissions on the folder itself.
        open_up(folder, inner);
        while (renameat(folder, inner, root, format(".%u", ++moved).c_str()) != 0) {
          if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return;
        }
        progress = true;
      });
      close(folder);
      progress = unlinkat(root, name, AT_REMOVEDIR) == 0 || progress;
    });
  }
}

// Root must not work in a folder that another user can change concurrently, so a process with that user's identity
// empties it.
void empty_as(uid_t user, gid_t group, int root) {
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    prctl(PR_SET_DUMPABLE, 0);
    // Group 0 would give the process rights that the user does not have.
    const gid_t own = group == 0 ? user : group;
    if (setgroups(0, nullptr) == 0 && setresgid(own, own, own) == 0 && setresuid(user, user, user) == 0) {
      empty_folder(root);
    }
    _exit(0);
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

void remove_tree(const std::string& path) {
  if (unlink(path.c_str()) == 0) return;
  open_up(AT_FDCWD, path.c_str());
  const int root = open_folder(AT_FDCWD, path.c_str());
  if (root < 0) return;
  struct stat info{};
  if (fstat(root, &info) == 0 && geteuid() == 0 && info.st_uid != 0) {
    empty_as(info.st_uid, info.st_gid, root);
  } else {
    empty_folder(root);
  }
  close(root);
  rmdir(path.c_str());
}

}  // namespace ferry::device
