#include "device-runtime/supervisor/stdio_relay.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

void stop_blocking(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

// Returns a copy of a standard stream for the relay and replaces the stream by /dev/null.
int take_over(int standard, int flags) {
  const int copy = fcntl(standard, F_DUPFD_CLOEXEC, 3);
  const int nothing = ::open("/dev/null", flags | O_CLOEXEC);
  if (nothing < 0) {
    close(standard);
  } else {
    dup2(nothing, standard);
    close(nothing);
  }
  if (copy >= 0) stop_blocking(copy);
  return copy;
}

// Relays both directions, since they share the socket. The last pending callback keeps the object alive.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  // A descriptor allows one wait per direction but is closed only once, so each direction has a descriptor of its own.
  Relay(server::EventLoop& loop, int input, int output, int socket_in, int socket_out)
      : input_(loop, input), output_(loop, output), socket_in_(loop, socket_in), socket_out_(loop, socket_out) {}

  void start() {
    inwards_.read();
    outwards_.read();
  }

 private:
  struct Direction {
    Relay& relay;
    server::WatchedDescriptor& from;
    server::WatchedDescriptor& to;
    void (Relay::*ended)();
    std::array<std::uint8_t, kBufferBytes> buffer;
    std::size_t filled = 0;
    std::size_t written = 0;

    void read() {
      if (!from.is_open()) return;
      const ssize_t count = ::read(from.number(), buffer.data(), buffer.size());
      if (count > 0) {
        filled = static_cast<std::size_t>(count);
        written = 0;
        return write();
      }
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return from.when_readable([this, self = relay.shared_from_this()] { read(); });
      }
      (relay.*ended)();
    }

    void write() {
      while (written < filled) {
        if (!to.is_open()) return;
        const ssize_t count = ::write(to.number(), buffer.data() + written, filled - written);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) {
          return to.when_writable([this, self = relay.shared_from_this()] { write(); });
        }
        if (count < 0) return (relay.*ended)();
        written += static_cast<std::size_t>(count);
      }
      // Continues through the loop, so that a busy direction does not starve the other.
      from.when_readable([this, self = relay.shared_from_this()] { read(); });
    }
  };

  void input_ended() {
    if (socket_out_.is_open()) shutdown(socket_out_.number(), SHUT_WR);
    if (input_.is_open()) input_.close();
  }

  // The session has ended, so both directions are closed.
  void output_ended() {
    for (server::WatchedDescriptor* each : {&input_, &output_, &socket_in_, &socket_out_}) {
      if (each->is_open()) each->close();
    }
  }

  server::WatchedDescriptor input_, output_, socket_in_, socket_out_;
  Direction inwards_{*this, input_, socket_out_, &Relay::input_ended, {}};
  Direction outwards_{*this, socket_in_, output_, &Relay::output_ended, {}};
};

}  // namespace

Result<int> start_stdio_relay(server::EventLoop& loop) {
  const auto failure = [] {
    return Status(ErrorCode::unavailable, format("--stdio: cannot use standard input and output: %s", strerror(errno)));
  };
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failure();
  const int input = take_over(STDIN_FILENO, O_RDONLY), output = take_over(STDOUT_FILENO, O_WRONLY);
  const int second = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
  if (input < 0 || output < 0 || second < 0) return failure();
  stop_blocking(ends[0]);
  const auto relay = std::make_shared<Relay>(loop, input, output, ends[0], second);
  relay->start();
  return ends[1];
}

}  // namespace ferry::device
