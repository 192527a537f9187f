// Runs a command that an admin has configured, with limits on its time and its output.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace ferry::farm {

inline constexpr std::size_t kMaxCommandWords = 64;
inline constexpr std::size_t kMaxWordBytes = 4096;
// The output of a command beyond this is read and dropped.
inline constexpr std::size_t kMaxCommandOutput = 4096;

struct Command {
  // The program, which is looked for in PATH, and its arguments. There is no shell, unless the first word is one.
  std::vector<std::string> words;
  // Beside PATH, HOME, USER, LANG and TZ of this process, which are all that the command gets of its environment.
  std::map<std::string, std::string> environment;
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

// Replaces {NAME} in the words, except for the first one, by values that are used as they are. Fails with
// invalid_argument for a name that has no value.
Result<std::vector<std::string>> fill_in(const std::vector<std::string>& words,
                                         const std::map<std::string, std::string>& values);

// Returns standard output and error of the command. Fails with not_found if there is no such program, with
// deadline_exceeded if it took too long, whereupon it is killed with its process group, and with unavailable if it
// fails; the message ends with the output. Waits for the command's own process alone.
Result<std::string> run_command(const Command& command);

}  // namespace ferry::farm
