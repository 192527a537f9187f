// Drops root's capabilities, except those for files, from sessions that stay root, and sets those of the server aside
// for a moment.
#pragma once

#include <linux/capability.h>

namespace ferry::device {

// Applies to this process and its threads, permanently. The capabilities for files and, where counters need it, for
// counters are kept. As a side effect, a process with fewer capabilities than another cannot inspect it, even if both
// belong to the same user. Returns false if the system does not allow it.
bool drop_capabilities();

// Until it goes out of scope, this thread has no capabilities: what it opens, others of its user could open as well,
// and some files of /proc say more to who has opened them with capabilities.
class WithoutCapabilities {
 public:
  WithoutCapabilities();
  WithoutCapabilities(const WithoutCapabilities&) = delete;
  WithoutCapabilities& operator=(const WithoutCapabilities&) = delete;
  ~WithoutCapabilities();

 private:
  __user_cap_data_struct before_[2] = {};
};

// Whether this process may see which files others have mapped (CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, not only in a
// user namespace).
bool may_see_mapped_files();

// Whether this process may look into those of others that hide their memory (CAP_SYS_PTRACE).
bool may_look_into_others();

}  // namespace ferry::device
