#include "rpc/transport/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace ferry {
namespace {

using Clock = std::chrono::steady_clock;

Status system_failure(const char* what, int error) {
  return Status(ErrorCode::unavailable, std::string(what) + ": " + std::strerror(error));
}

// Plain system calls: they do not cut large pieces small, and cost a static server less than a library would.
class SocketTransport final : public Transport {
 public:
  explicit SocketTransport(int fd) : fd_(fd) {}
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;
  ~SocketTransport() override { ::close(fd_); }

  Status send(std::span<const ByteSpan> pieces) override {
    std::size_t total = 0;
    for (const ByteSpan piece : pieces) total += piece.size();
    if (total <= kShortMessage) {
      // Copied into one piece, which costs less than having the system gather several.
      std::array<std::uint8_t, kShortMessage> message;
      auto end = message.begin();
      for (const ByteSpan piece : pieces) end = std::copy(piece.begin(), piece.end(), end);
      iovec whole{message.data(), total};
      return write(&whole, 1);
    }
    while (!pieces.empty()) {
      std::array<iovec, 16> buffers;
      std::size_t count = 0;
      for (; !pieces.empty() && count < buffers.size(); pieces = pieces.subspan(1)) {
        const ByteSpan piece = pieces.front();
        if (!piece.empty()) buffers[count++] = {const_cast<std::uint8_t*>(piece.data()), piece.size()};
      }
      FERRY_TRY(write(buffers.data(), count));
    }
    return Status();
  }

  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    const bool has_deadline = timeout_.count() > 0;
    const Clock::time_point deadline = has_deadline ? Clock::now() + timeout_ : Clock::time_point();
    std::size_t received = 0;
    while (received < at_least) {
      if (has_deadline) FERRY_TRY(wait_readable(deadline));
      const MutableByteSpan rest = into.subspan(received);
      const ssize_t count = ::recv(fd_, rest.data(), rest.size(), 0);
      if (count == 0) return closed_by_peer(received, at_least);
      if (count > 0) {
        received += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        return system_failure("the connection is gone", errno);
      }
    }
    return received;
  }

  void set_receive_timeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }
  // Not closed: another thread may be inside send() or receive().
  void close_send() override { ::shutdown(fd_, SHUT_WR); }
  void close() override { ::shutdown(fd_, SHUT_RDWR); }
  int native_handle() const override { return fd_; }

 private:
  static constexpr std::size_t kShortMessage = 512;

  Status write(iovec* buffers, std::size_t count) const {
    while (count > 0) {
      msghdr message{};
      message.msg_iov = buffers;
      message.msg_iovlen = count;
      const ssize_t result = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
      if (result < 0 && errno != EINTR) return system_failure("the connection is gone", errno);
      auto sent = static_cast<std::size_t>(std::max<ssize_t>(result, 0));
      for (; count > 0 && sent >= buffers->iov_len; --count) sent -= buffers++->iov_len;
      if (count == 0) break;
      buffers->iov_base = static_cast<std::uint8_t*>(buffers->iov_base) + sent;
      buffers->iov_len -= sent;
    }
    return Status();
  }

  Status wait_readable(Clock::time_point deadline) const {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      pollfd entry{native_handle(), POLLIN, 0};
      const int ready = ::poll(&entry, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
      if (ready > 0) return Status();
      if (ready < 0 && errno != EINTR) return system_failure("cannot wait for the peer", errno);
      if (ready == 0) return receive_timed_out(timeout_);
    }
  }

  const int fd_;
  std::chrono::milliseconds timeout_{0};
};

}  // namespace

Result<std::unique_ptr<Transport>> wrap_socket(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  const int flags = ::fcntl(fd, F_GETFL);
  // A socket that was used asynchronously would cost every receive two more system calls.
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
  return std::unique_ptr<Transport>(std::make_unique<SocketTransport>(fd));
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
