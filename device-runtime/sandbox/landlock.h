// Which files a session can reach, by Landlock (Linux 5.13, and only where the system has switched it on). It restricts
// opening, creating and removing files, not changes of modes, owners and times.
#pragma once

#include <string>

namespace ferry::device {

// Both apply to this process, its threads and its children, permanently, require no_new_privs, and return whether the
// kernel enforces it.

// Allows no file.
bool forbid_files();

// For a session with a GPU: allows reading the system's folders and those that the server's LD_LIBRARY_PATH names, and
// writing to the GPU's device nodes, to `folder` and to those that its FERRY_GPU_FOLDERS names.
bool restrict_to_drivers_files(const std::string& folder);

}  // namespace ferry::device
