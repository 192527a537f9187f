#include "rpc/server/final_frame.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "rpc/wire/connection.h"

namespace ferry::server {
namespace {

constexpr std::chrono::seconds kFinalFrameTimeout{2};

// Returns the socket.
int without_linger(int socket) {
  const linger none{};
  (void)setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  return socket;
}

class FinalFrame final : public PendingConnection, public std::enable_shared_from_this<FinalFrame> {
 public:
  FinalFrame(EventLoop& loop, int socket, std::vector<std::uint8_t> frame, CloseSocket close_socket)
      : socket_(loop, without_linger(socket)), timer_(loop), frame_(std::move(frame)), close_(close_socket) {}
  FinalFrame(const FinalFrame&) = delete;
  FinalFrame& operator=(const FinalFrame&) = delete;
  ~FinalFrame() override {
    if (socket_.is_open()) close_(socket_.release());
  }

  void start() {
    timer_.start(kFinalFrameTimeout, [self = shared_from_this()] { self->close(); });
    send();
  }

  void abandon() override { close(); }

 private:
  void send() {
    while (sent_ < frame_.size()) {
      const ssize_t count =
          ::send(socket_.number(), frame_.data() + sent_, frame_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return socket_.when_writable([self = shared_from_this()] { self->send(); });
      }
      if (count < 0) return close();
      sent_ += static_cast<std::size_t>(count);
    }
    ::shutdown(socket_.number(), SHUT_WR);
    drain();
  }

  void drain() {
    std::uint8_t scratch[4096];
    while (true) {
      const ssize_t count = ::recv(socket_.number(), scratch, sizeof scratch, MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return socket_.when_readable([self = shared_from_this()] { self->drain(); });
      }
      if (count <= 0) return close();
      // A client that sends without end must not monopolise the server.
      if ((drained_ += static_cast<std::size_t>(count)) % kPiece < sizeof scratch) {
        return socket_.when_readable([self = shared_from_this()] { self->drain(); });
      }
    }
  }

  void close() {
    timer_.cancel();
    if (socket_.is_open()) close_(socket_.release());
  }

  static constexpr std::size_t kPiece = 1 << 20;

  WatchedDescriptor socket_;
  Timer timer_;
  std::vector<std::uint8_t> frame_;
  CloseSocket close_;
  std::size_t sent_ = 0;
  std::size_t drained_ = 0;
};

}  // namespace

void close_at_once(int socket) { ::close(without_linger(socket)); }

std::weak_ptr<PendingConnection> send_final_frame(EventLoop& loop, int socket, std::vector<std::uint8_t> frame,
                                                  CloseSocket close_socket) {
  const auto final_frame = std::make_shared<FinalFrame>(loop, socket, std::move(frame), close_socket);
  final_frame->start();
  return final_frame;
}

void FinalFrames::refuse(HandshakenClient& client, const Status& failure) {
  send(client.socket, client.outgoing(rpc::failure_frame(client.header.tag, client.header.request, failure), true));
}

}  // namespace ferry::server
