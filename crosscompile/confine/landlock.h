// Landlock, with which a process gives up all files but those on a list, for itself and its descendants. Linux has it
// since 5.13, but not every kernel is built with it or switches it on.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"

namespace ferry::confine {

// Files, or folders with everything below. Symbolic links count as what they lead to. What cannot be
// opened is left out.
struct AllowedFiles {
  std::vector<std::string> readable = {};
  std::vector<std::string> executable = {};  // and readable
  std::vector<std::string> writable = {};    // and readable; in folders, files can be made and removed
};

// Returns the version of Landlock's interface; 0 if this kernel has none, or has it switched off.
int landlock_version();

// A list of files, prepared in a process for another one that it forks: that one must not allocate memory.
class FileRules {
 public:
  // Needs a landlock_version() above 0. Throws Error (unavailable) if the kernel refuses.
  explicit FileRules(const AllowedFiles& files);

  // Both return whether it worked. `path` becomes readable as well: one that means something else in each process.
  bool add_readable(const char* path) const;
  // Takes all other files from the calling thread and what it executes; where the kernel can, also TCP, abstract
  // sockets, and signals to processes outside. Needs no_new_privs.
  bool apply() const;

 private:
  Descriptor rules_;
};

}  // namespace ferry::confine
