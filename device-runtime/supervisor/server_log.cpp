#include "device-runtime/supervisor/server_log.h"

#include <cstdarg>
#include <cstdio>

#include "base/format.h"
#include "base/printable.h"

namespace ferry::device {

void ServerLog::line(const char* pattern, ...) const {
  if (quiet_) return;
  va_list arguments;
  va_start(arguments, pattern);
  const std::string text = vformat(pattern, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s\n", printable(text).c_str());
}

void ServerLog::session_wrote(std::uint64_t session, const std::string& text) const {
  if (quiet_) {
    std::fprintf(stderr, "%s\n", printable(text).c_str());
  } else {
    line("session %llu: stderr: %s", static_cast<unsigned long long>(session), text.c_str());
  }
}

}  // namespace ferry::device
