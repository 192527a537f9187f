// What ferry has a board do over ssh: words for its shell, which need nothing there but what POSIX asks for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::session {

// A server that could be run there.
struct BoardServer {
  std::string arch;
  std::string hash;  // names the file on the board
  std::uint64_t bytes = 0;
};

// Every answer of a script is a line that starts with this; other lines are what a login prints.
inline constexpr const char* kSshMarker = "ferry-ssh ";

// Starts the server if the board has it: "ready", and from then on the server speaks; "absent ARCH"; "unsupported
// SYSTEM MACHINE".
std::string start_script(const std::vector<BoardServer>& servers);

// Takes the server's bytes on standard input, after the first `skip` of the folders that would do, and removes older
// ones: "pushed FOLDER"; "full NUMBER FOLDER" or "noexec NUMBER FOLDER" of the folder that did not do; "nowhere".
std::string push_script(const BoardServer& server, int skip);

}  // namespace ferry::session
