#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "device-runtime/sandbox/sandbox.h"
#include "rpc/base/format.h"

namespace ferry::device {
namespace {

// Calls visit(name) for each entry; takes over the descriptor.
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

}  // namespace

// What is inside a folder is moved up beside it, so that neither depth nor length of paths matter.
void remove_tree(const std::string& path) {
  const int root = open_folder(AT_FDCWD, path.c_str());
  unsigned moved = 0;
  bool progress = root >= 0;
  while (progress) {
    progress = false;
    for_each_entry(open_folder(root, "."), [&](const char* name) {
      if (unlinkat(root, name, 0) == 0 || unlinkat(root, name, AT_REMOVEDIR) == 0) {
        progress = true;
        return;
      }
      (void)fchmodat(root, name, 0700, 0);
      const int folder = open_folder(root, name);
      if (folder < 0) return;
      for_each_entry(open_folder(folder, "."), [&](const char* inner) {
        if (unlinkat(folder, inner, 0) == 0) {
          progress = true;
          return;
        }
        // Its own rights are needed to move it.
        (void)fchmodat(folder, inner, 0700, 0);
        while (renameat(folder, inner, root, format(".%u", ++moved).c_str()) != 0) {
          if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return;
        }
        progress = true;
      });
      close(folder);
      progress = unlinkat(root, name, AT_REMOVEDIR) == 0 || progress;
    });
  }
  if (root >= 0) close(root);
  rmdir(path.c_str());
}

}  // namespace ferry::device
