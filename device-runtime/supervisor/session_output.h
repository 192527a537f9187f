// What a session's process writes to standard error: its C library before an abort, a driver's warnings, a kernel that
// makes the system call itself. It goes to the log a line at a time, and only so much of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device-runtime/supervisor/descriptor.h"
#include "device-runtime/supervisor/event_loop.h"
#include "device-runtime/supervisor/server_log.h"

namespace ferry::device {

class SessionOutput {
 public:
  // Without descriptors to spare, nothing is logged.
  SessionOutput(EventLoop& loop, const ServerLog& log, std::uint64_t session);
  SessionOutput(SessionOutput&&) noexcept = default;
  SessionOutput& operator=(SessionOutput&&) = delete;
  ~SessionOutput();

  // The end for the session's process; -1 when there is none.
  int writer() const { return writer_.number(); }
  // After the fork.
  void close_writer() { writer_ = Descriptor(); }
  // Logs what is left, once the process has ended.
  void finish();

 private:
  struct Reader;
  std::shared_ptr<Reader> reader_;
  Descriptor writer_;
};

}  // namespace ferry::device
