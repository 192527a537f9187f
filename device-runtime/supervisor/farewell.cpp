#include "device-runtime/supervisor/farewell.h"

#include <fcntl.h>

#include <array>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <memory>

namespace ferry::device {
namespace {

constexpr std::chrono::seconds kPatience{2};

class Farewell : public std::enable_shared_from_this<Farewell> {
 public:
  Farewell(ClientSocket socket, std::vector<std::uint8_t> frame)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), frame_(std::move(frame)) {}

  void start() {
    // A session uses its socket blocking, and the two of us share that setting.
    const int flags = fcntl(socket_.native_handle(), F_GETFL);
    fcntl(socket_.native_handle(), F_SETFL, flags | O_NONBLOCK);
    timer_.expires_after(kPatience);
    timer_.async_wait([self = shared_from_this()](asio::error_code error) {
      if (!error) self->close();
    });
    asio::async_write(socket_, asio::buffer(frame_), [self = shared_from_this()](asio::error_code error, std::size_t) {
      if (error) return self->close();
      asio::error_code ignored;
      self->socket_.shutdown(ClientSocket::shutdown_send, ignored);
      self->drain();
    });
  }

 private:
  void drain() {
    socket_.async_read_some(asio::buffer(scratch_), [self = shared_from_this()](asio::error_code error, std::size_t) {
      if (error) return self->close();
      self->drain();
    });
  }

  void close() {
    timer_.cancel();
    asio::error_code ignored;
    socket_.close(ignored);
  }

  ClientSocket socket_;
  asio::steady_timer timer_;
  std::vector<std::uint8_t> frame_;
  std::array<std::uint8_t, 4096> scratch_{};
};

}  // namespace

void say_farewell(ClientSocket socket, std::vector<std::uint8_t> frame) {
  std::make_shared<Farewell>(std::move(socket), std::move(frame))->start();
}

}  // namespace ferry::device
