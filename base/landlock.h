// Landlock, with which a process gives up all files but those that it lists, for itself and its descendants. Linux has
// it since 5.13, but not every kernel is built with it or switches it on. It restricts opening, creating and removing
// files, not changes of modes, owners and times.
#pragma once

#include <cstdint>

#include "base/descriptor.h"

namespace ferry {

// Rights to files, as in <linux/landlock.h>, which older systems have only in part.
namespace landlock {
inline constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3;
inline constexpr std::uint64_t kRemoveFile = 1 << 5, kMakeFile = 1 << 8, kTruncate = 1 << 14, kControlDevice = 1 << 15;
inline constexpr std::uint64_t kAll = ~std::uint64_t{0};

// Returns the version of the interface; 0 if this kernel has none, or has it switched off.
int version();
}  // namespace landlock

// A list of files. Until restrict_self() nothing is restricted.
class LandlockRules {
 public:
  LandlockRules();

  // Whether the kernel has made the list.
  bool is_valid() const { return ruleset_.number() >= 0; }
  // Allows these rights, as far as the kernel knows them, for a file, or a folder with everything below; links count as
  // what they lead to. Returns false if the kernel refuses. A file that cannot be opened is left out.
  bool allow(const char* path, std::uint64_t rights) const;
  // Takes all other files from the calling thread and what it executes; where the kernel can, also TCP, abstract
  // sockets, and signals to processes outside. Needs no_new_privs. Allocates no memory. Returns whether that is in
  // effect.
  bool restrict_self() const;

 private:
  std::uint64_t known_ = 0;
  Descriptor ruleset_;
};

}  // namespace ferry
