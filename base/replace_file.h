// Replaces a small file so that a crash at any moment leaves the previous contents or the new ones.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace ferry {

// Returns once the text is on the disk, in a file that only its owner can read. After a failure, which is `unavailable`
// and names the file, the disk holds the previous contents or these. A symbolic link is replaced, not followed.
// "PATH.new" must not be the name of anything else.
Status replace_file(const std::string& path, std::string_view text);

}  // namespace ferry
