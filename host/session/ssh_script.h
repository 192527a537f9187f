// Shell scripts that ferry runs on a board over ssh; they need nothing but POSIX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::session {

// A server that the board could run.
struct BoardServer {
  std::string arch;
  std::string hash;  // part of the file's name on the board
  std::uint64_t bytes = 0;
};

// Every answer of a script is a line that starts with this; other lines are output of the login.
inline constexpr const char* kSshMarker = "ferry-ssh ";

// Starts the server if the board has it. The answers are "ready", after which the server speaks; "absent ARCH";
// "unsupported SYSTEM MACHINE".
std::string start_script(const std::vector<BoardServer>& servers);

// Stores the server's bytes from standard input in the first suitable folder after the first `skip` ones, and removes
// older servers. The answers are "pushed FOLDER"; "full NUMBER FOLDER" or "noexec NUMBER FOLDER" for a folder that
// turns out to be unsuitable; "nowhere".
std::string push_script(const BoardServer& server, int skip);

}  // namespace ferry::session
