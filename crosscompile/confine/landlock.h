// The files that a program on files of strangers may reach, by Landlock.
#pragma once

#include <string>
#include <vector>

#include "base/landlock.h"

namespace ferry::confine {

// Files, or folders with everything below. Symbolic links count as what they lead to. What cannot be
// opened is left out.
struct AllowedFiles {
  std::vector<std::string> readable = {};
  std::vector<std::string> executable = {};  // readable too
  std::vector<std::string> writable = {};    // readable too; in folders, files can be made and removed
};

// A list of files, prepared in a process for another one that it forks: that one must not allocate memory.
class FileRules {
 public:
  // Needs a landlock::version() above 0. Throws Error (unavailable) if the kernel refuses.
  explicit FileRules(const AllowedFiles& files);

  // Both return whether it worked. `path` becomes readable as well: one that means something else in each process.
  bool add_readable(const char* path) const;
  // LandlockRules::restrict_self().
  bool apply() const;

 private:
  LandlockRules rules_;
};

}  // namespace ferry::confine
