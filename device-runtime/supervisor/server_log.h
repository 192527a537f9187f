// The server's messages to its operator on standard error. Clients control parts of them, so control characters are
// escaped and no line begins with client-controlled text.
#pragma once

#include <cstdint>
#include <string>

namespace ferry::device {

class ServerLog {
 public:
  explicit ServerLog(bool quiet) : quiet_(quiet) {}

  [[gnu::format(printf, 2, 3)]] void line(const char* pattern, ...) const;
  // Logs a line that a session wrote to standard error. A quiet server shows it too: kernels' prints belong on the
  // terminal of its only client.
  void session_wrote(std::uint64_t session, const std::string& text) const;

 private:
  bool quiet_;
};

}  // namespace ferry::device
