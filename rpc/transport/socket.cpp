#include "rpc/transport/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "rpc/transport/interruption.h"

namespace ferry {
namespace {

using Clock = std::chrono::steady_clock;
using Socket = asio::generic::stream_protocol::socket;

std::atomic<GivesUp> gives_up{nullptr};

Status system_failure(const char* what, int error) {
  return Status(ErrorCode::unavailable, std::string(what) + ": " + std::strerror(error));
}

// The buffer sequence that Asio requires, without the allocation of a vector.
struct Buffers {
  using value_type = asio::const_buffer;
  static constexpr std::size_t kMost = 16;
  std::array<asio::const_buffer, kMost> buffers;
  std::size_t count = 0;
  const asio::const_buffer* begin() const { return buffers.data(); }
  const asio::const_buffer* end() const { return buffers.data() + count; }

  // Drops the first bytes, as operator+= of asio::const_buffer does.
  Buffers& operator+=(std::size_t bytes) {
    for (std::size_t i = 0; i < count && bytes > 0; ++i) {
      const std::size_t skipped = std::min(bytes, buffers[i].size());
      buffers[i] += skipped;
      bytes -= skipped;
    }
    return *this;
  }
};

class SocketTransport final : public Transport {
 public:
  explicit SocketTransport() : socket_(context_) {}

  Status assign(int family, int fd) {
    asio::error_code error;
    socket_.assign(asio::generic::stream_protocol(family, 0), fd, error);
    if (error) return system_failure("cannot use the socket", error.value());
    return Status();
  }

  Status send(std::span<const ByteSpan> pieces) override {
    std::size_t total = 0;
    for (const ByteSpan piece : pieces) total += piece.size();
    if (total <= kShortMessage) {
      // Copying into one piece costs less than a gathering write of several.
      std::array<std::uint8_t, kShortMessage> message;
      auto end = message.begin();
      for (const ByteSpan piece : pieces) end = std::copy(piece.begin(), piece.end(), end);
      return write(asio::const_buffer(message.data(), total));
    }
    while (!pieces.empty()) {
      Buffers buffers;
      for (; !pieces.empty() && buffers.count < Buffers::kMost; pieces = pieces.subspan(1)) {
        const ByteSpan piece = pieces.front();
        if (!piece.empty()) buffers.buffers[buffers.count++] = asio::const_buffer(piece.data(), piece.size());
      }
      FERRY_TRY(write(buffers));
    }
    return Status();
  }

  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    const bool has_deadline = timeout_.count() > 0;
    const Clock::time_point deadline = has_deadline ? Clock::now() + timeout_ : Clock::time_point();
    std::size_t received = 0;
    while (received < at_least) {
      if (has_deadline) FERRY_TRY(wait_readable(deadline));
      asio::error_code error;
      const MutableByteSpan rest = into.subspan(received);
      received += socket_.read_some(asio::mutable_buffer(rest.data(), rest.size()), error);
      if (error == asio::error::interrupted) {
        FERRY_TRY(go_on());
        continue;
      }
      if (error == asio::error::eof) return closed_by_peer(received, at_least);
      if (error) return system_failure("the connection is gone", error.value());
    }
    return received;
  }

  void set_receive_timeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }
  // Both act on the descriptor itself: another thread may be inside send() or receive(), which modify Asio's state.
  void close_send() override { ::shutdown(socket_.native_handle(), SHUT_WR); }
  void close() override { ::shutdown(socket_.native_handle(), SHUT_RDWR); }
  int native_handle() const override { return const_cast<Socket&>(socket_).native_handle(); }

 private:
  static constexpr std::size_t kShortMessage = 512;
  static constexpr std::size_t kLargestWrite = std::size_t{1} << 30;

  template <class BufferSequence>
  Status write(BufferSequence buffers) {
    while (true) {
      asio::error_code error;
      // By default Asio passes at most 64 KiB to the system at a time.
      const std::size_t written = asio::write(
          socket_, buffers,
          [](const asio::error_code& failed, std::size_t) { return failed ? std::size_t{0} : kLargestWrite; }, error);
      if (!error) return Status();
      // A signal that the process ignores or has handled must not end the transfer.
      if (error != asio::error::interrupted) return system_failure("the connection is gone", error.value());
      FERRY_TRY(go_on());
      buffers += written;
    }
  }

  // After a signal has interrupted a wait.
  Status go_on() const {
    const GivesUp asked = gives_up;
    if (asked == nullptr || !asked()) return Status();
    ::shutdown(native_handle(), SHUT_RDWR);
    return {ErrorCode::unavailable, "the wait for the peer was interrupted"};
  }

  Status wait_readable(Clock::time_point deadline) const {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      pollfd entry{native_handle(), POLLIN, 0};
      const int ready = ::poll(&entry, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
      if (ready > 0) return Status();
      if (ready < 0 && errno != EINTR) return system_failure("cannot wait for the peer", errno);
      if (ready < 0) FERRY_TRY(go_on());
      if (ready == 0) return receive_timed_out(timeout_);
    }
  }

  asio::io_context context_{1};
  Socket socket_;
  std::chrono::milliseconds timeout_{0};
};

}  // namespace

void set_interruption(GivesUp asked) { gives_up = asked; }

Result<std::unique_ptr<Transport>> wrap_socket(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  const int flags = ::fcntl(fd, F_GETFL);
  // On a non-blocking socket, which asynchronous use leaves behind, every receive would need two more system calls.
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const int error = errno;
    ::close(fd);
    return system_failure("cannot use the socket", error);
  }
  const int family = address.ss_family;
  if (family == AF_INET || family == AF_INET6) {
    const int on = 1;
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  auto transport = std::make_unique<SocketTransport>();
  if (Status status = transport->assign(family, fd); !status.is_ok()) {
    ::close(fd);
    return status;
  }
  return std::unique_ptr<Transport>(std::move(transport));
}

Result<std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>>> socket_transport_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return system_failure("cannot make a pair of sockets", errno);
  }
  auto first = wrap_socket(ends[0]);
  auto second = wrap_socket(ends[1]);
  FERRY_TRY(first.status());
  FERRY_TRY(second.status());
  return std::pair(std::move(first.value()), std::move(second.value()));
}

}  // namespace ferry
