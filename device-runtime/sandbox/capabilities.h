// Drops root's capabilities, except those for files, from sessions that stay root.
#pragma once

namespace ferry::device {

// Applies to this process and its threads, permanently. The capabilities for files, locked memory and counters are
// kept. As a side effect, a process with fewer capabilities than another cannot inspect it, even if both belong to the
// same user. Returns false if the system does not allow it.
bool drop_capabilities();

// Whether this process may see which files others have mapped (CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN, not only in a
// user namespace).
bool may_see_mapped_files();

// Whether this process may look into those of others that hide their memory (CAP_SYS_PTRACE).
bool may_look_into_others();

}  // namespace ferry::device
