// What the server tells its operator on standard error. Clients choose much of it, so what drives a terminal is written
// out, and nothing of theirs begins a line.
#pragma once

#include <cstdint>
#include <string>

namespace ferry::device {

class ServerLog {
 public:
  explicit ServerLog(bool quiet) : quiet_(quiet) {}

  [[gnu::format(printf, 2, 3)]] void line(const char* pattern, ...) const;
  // A line that a session wrote to standard error. A quiet server shows it too: its one client's terminal is where the
  // prints of kernels go.
  void session_wrote(std::uint64_t session, const std::string& text) const;

 private:
  bool quiet_;
};

}  // namespace ferry::device
