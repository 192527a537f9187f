// A session process's standard error: messages of the C library before an abort, warnings of a driver, or system calls
// of a kernel. It is logged line by line, up to a limit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "device-runtime/supervisor/server_log.h"
#include "rpc/server/event_loop.h"

namespace ferry::device {

class SessionOutput {
 public:
  // Logs nothing if no descriptors are available.
  SessionOutput(server::EventLoop& loop, const ServerLog& log, std::uint64_t session);
  SessionOutput(SessionOutput&&) noexcept = default;
  SessionOutput& operator=(SessionOutput&&) = delete;
  ~SessionOutput();

  // The pipe's end for the session's process; -1 if there is none.
  int writer() const { return writer_.number(); }
  // Called after the fork.
  void close_writer() { writer_ = Descriptor(); }
  // Logs the remaining output once the process has ended.
  void finish();

 private:
  struct Reader;
  std::shared_ptr<Reader> reader_;
  Descriptor writer_;
};

}  // namespace ferry::device
