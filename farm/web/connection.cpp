#include "farm/web/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace ferry::farm::http {

Connection::Connection(server::EventLoop& loop, Descriptor socket)
    : socket_(loop, socket.release()), read_timer_(loop), write_timer_(loop) {}

bool Connection::has_input() const {
  pollfd entry{socket(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void Connection::receive(std::chrono::milliseconds limit, server::Callback then, server::Callback gone) {
  then_ = std::move(then);
  gone_ = std::move(gone);
  read_timer_.start(limit, [this] {
    parser_.refuse(408, "the request took too long");
    std::exchange(then_, nullptr)();
  });
  socket_.when_readable([this] { read_request(); });
}

void Connection::read_request() {
  using State = RequestParser::State;
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  char piece[4096];
  // The timer may have ended the operation.
  while (then_) {
    const ssize_t count = ::recv(socket(), piece, sizeof piece, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return socket_.when_readable([this] { read_request(); });
    if (count <= 0) return std::exchange(gone_, nullptr)();
    const bool had_head = parser_.state() == State::body;
    const State state = parser_.add({piece, static_cast<std::size_t>(count)});
    // So little always fits into the buffer of a connection on which nothing was sent yet.
    if (!had_head && parser_.expects_continue())
      static_cast<void>(::send(socket(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    if (state == State::head || state == State::body) continue;
    read_timer_.cancel();
    return std::exchange(then_, nullptr)();
  }
}

void Connection::send(std::string text, std::chrono::milliseconds limit, std::function<void(bool)> then) {
  output_ = std::move(text);
  written_ = 0;
  sent_ = std::move(then);
  write_timer_.start(limit, [this] { sent(false); });
  write_some();
}

void Connection::write_some() {
  while (sent_ && written_ < output_.size()) {
    const ssize_t count =
        ::send(socket(), output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return socket_.when_writable([this] { write_some(); });
    } else if (errno != EINTR) {
      return sent(false);
    }
  }
  if (sent_) sent(true);
}

void Connection::sent(bool is_all) {
  write_timer_.cancel();
  output_ = {};
  std::exchange(sent_, nullptr)(is_all);
}

void Connection::drop_input(server::Callback then) {
  char piece[16384];
  // One piece a turn, so that a client that sends very much keeps nobody waiting.
  const ssize_t count = ::recv(socket(), piece, sizeof piece, MSG_DONTWAIT);
  if (count > 0) dropped_ += static_cast<std::size_t>(count);
  const bool is_open = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  if (!is_open || dropped_ >= kMostDropped) return then();
  socket_.when_readable([this, then = std::move(then)] { drop_input(then); });
}

void Connection::finish(server::Callback then) {
  ::shutdown(socket(), SHUT_WR);
  read_timer_.start(kFarewell, then);
  drop_input(std::move(then));
}

}  // namespace ferry::farm::http
