// Small files that describe the state of a board. The client names them and interprets their contents, so that a new
// sensor needs no new server.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "ferry/timing.h"

namespace ferry::device {

// Stands for the file whose text is pi_throttled().
inline constexpr const char* kFirmwareMailbox = "/dev/vcio";

// Opens a file of /proc or /sys for reading. No descriptor if there is none, or if it could tell more than the state of
// the board: files of single processes, files below /proc and /sys that belong to other file systems, and files that
// not everybody may read, except, `for_own_user`, meters of energy. `root` is prepended to the path, for tests.
Descriptor open_watched(const std::string& path, bool for_own_user, const std::string& root = {});

// Returns the firmware's flags of a Raspberry Pi; nothing if there is no such firmware.
std::optional<std::uint32_t> pi_throttled();

// Replaces "{core}" in a path by the number of the current core.
void put_core(std::string& path);

// watch_before() stores the text of each file that exists in `before`; watch_after() stores the texts of the same files
// in `after`.
using TextsOfPaths = std::function<std::vector<std::string>(const std::vector<std::string>& paths)>;
std::vector<WatchedText> watch_before(const std::vector<std::string>& paths, const TextsOfPaths& texts);
void watch_after(std::vector<WatchedText>& files, const TextsOfPaths& texts);

}  // namespace ferry::device
