#include "device-runtime/supervisor/session_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ferry::device {
namespace {

constexpr std::size_t kMaxLineBytes = 1000;
constexpr std::size_t kMaxBytes = std::size_t{64} << 10;

}  // namespace

struct SessionOutput::Reader : std::enable_shared_from_this<Reader> {
  Reader(server::EventLoop& loop, int descriptor, const ServerLog& to, std::uint64_t number)
      : from(loop, descriptor), log(to), session(number) {}

  void wait() {
    from.when_readable([self = shared_from_this()] {
      if (self->take() != End::no_more) self->wait();
    });
  }

  enum class End { more, none_yet, no_more };

  End take() {
    char bytes[1024];
    if (!from.is_open()) return End::no_more;
    const ssize_t count = read(from.number(), bytes, sizeof bytes);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return End::none_yet;
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[i] == '\n' || line.size() == kMaxLineBytes) end_line();
      if (bytes[i] != '\n') line += bytes[i];
    }
    taken += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    if (count > 0 && taken < kMaxBytes) return End::more;
    end_line();
    if (count > 0) log.session_wrote(session, "what else it writes to standard error is not shown");
    // Further writes of the session fail.
    from.close();
    return End::no_more;
  }

  void end_line() {
    if (!line.empty()) log.session_wrote(session, line);
    line.clear();
  }

  server::WatchedDescriptor from;
  const ServerLog& log;
  std::uint64_t session;
  std::string line;
  std::size_t taken = 0;
};

SessionOutput::SessionOutput(server::EventLoop& loop, const ServerLog& log, std::uint64_t session) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  reader_ = std::make_shared<Reader>(loop, ends[0], log, session);
  reader_->wait();
  writer_ = Descriptor(ends[1]);
  // The session's end is blocking, like an ordinary stream.
  fcntl(ends[1], F_SETFL, 0);
}

SessionOutput::~SessionOutput() { finish(); }

void SessionOutput::finish() {
  if (!reader_) return;
  // Terminates even if a process that outlived the session holds the other end and keeps writing: at most kMaxBytes are
  // read.
  while (reader_->take() == Reader::End::more) {
  }
  if (reader_->from.is_open()) reader_->from.close();
  reader_->end_line();
}

}  // namespace ferry::device
