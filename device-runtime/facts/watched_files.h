// Small files that tell how a board is doing. The client says which and makes sense of them, so that a new sensor needs
// no new server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rpc/messages.h"

namespace ferry::device {

// The text of a file of /proc or /sys, or of "/dev/vcio": "{core}" in the path is the number of the core this runs on.
// Empty when there is none, and for every other path. `root` stands before the path, for tests.
std::string watched_text(const std::string& path, const std::string& root = {});

// Those of the files that are there, as `text` reads them, into `before`; or, of files that were, into `after`.
using TextOfPath = std::function<std::string(const std::string& path)>;
std::vector<rpc::WatchedFile> watch_before(const std::vector<std::string>& paths, const TextOfPath& text);
void watch_after(std::vector<rpc::WatchedFile>& files, const TextOfPath& text);

}  // namespace ferry::device
