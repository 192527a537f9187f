// The files that clang may read when it compiles a kernel, which may be anybody's: what it includes by a name of its
// own must not reach the files of the person who compiles it.
#pragma once

#include <string>
#include <vector>

#include "crosscompile/confine/landlock.h"

namespace ferry::foreign {

// Returns the system's folders, clang's own, the file with its folder, and what the flags and clang's variables name.
// `folder`, for temporary files, is writable. Of a home folder, or one that contains it, only the files directly in it
// are readable, without hidden ones.
confine::AllowedFiles files_of_clang(const std::string& clang, const std::string& file,
                                     const std::vector<std::string>& flags, const std::string& folder);

// Returns those of this process's variables that clang needs, with `folder` for its temporary files.
std::vector<std::string> environment_of_clang(const std::string& folder);

}  // namespace ferry::foreign
