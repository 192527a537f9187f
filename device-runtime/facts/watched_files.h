// Small files that describe the state of a board. The client names them and interprets their contents, so that a new
// sensor needs no new server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ferry/timing.h"

namespace ferry::device {

// Returns the text of a file of /proc or /sys, or of "/dev/vcio". "{core}" in the path stands for the number of the
// current core. Empty if there is no such file, and for every other path. `root` is prepended to the path, for tests.
std::string watched_text(const std::string& path, const std::string& root = {});

// watch_before() stores the text of each file that exists in `before`; watch_after() stores the texts of the same files
// in `after`.
using TextOfPath = std::function<std::string(const std::string& path)>;
std::vector<WatchedText> watch_before(const std::vector<std::string>& paths, const TextOfPath& text);
void watch_after(std::vector<WatchedText>& files, const TextOfPath& text);

}  // namespace ferry::device
