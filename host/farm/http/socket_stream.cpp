#include "host/farm/http/socket_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/farm/http/request_head.h"

namespace ferry::farm::http {

bool SocketStream::wait_for(short events, Clock::time_point deadline) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{socket_, events, 0};
    const int count = ::poll(&entry, 1, static_cast<int>(left));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

ssize_t SocketStream::receive(char* bytes, std::size_t size, Clock::time_point deadline) {
  while (true) {
    // Also while bytes keep arriving.
    if (Clock::now() >= deadline) return -1;
    const ssize_t count = ::recv(socket_, bytes, size, MSG_DONTWAIT);
    if (count >= 0) return count;
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !wait_for(POLLIN, deadline)) return -1;
  }
}

SocketStream::HeadEnd SocketStream::read_head(std::string& head) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  char piece[4096];
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = ahead_.find(kEnd, searched < kEnd.size() ? 0 : searched - kEnd.size());
    searched = ahead_.size();
    if (end != std::string::npos && end + kEnd.size() <= kMaxHead) {
      head = ahead_.substr(0, end + kEnd.size());
      ahead_.erase(0, head.size());
      return HeadEnd::complete;
    }
    if (ahead_.size() > kMaxHead) return HeadEnd::too_large;
    const ssize_t count = receive(piece, sizeof piece, read_deadline_);
    if (count == 0) return HeadEnd::gone;
    if (count < 0) return Clock::now() >= read_deadline_ ? HeadEnd::timed_out : HeadEnd::gone;
    ahead_.append(piece, static_cast<std::size_t>(count));
  }
}

void SocketStream::replay(std::string head, std::size_t body_bytes) {
  ahead_.resize(std::min(ahead_.size(), body_bytes));
  body_left_ = body_bytes - ahead_.size();
  ahead_.insert(0, head);
  ahead_at_ = 0;
}

ssize_t SocketStream::read(char* bytes, std::size_t size) {
  if (ahead_at_ < ahead_.size()) {
    const std::size_t count = std::min(size, ahead_.size() - ahead_at_);
    std::memcpy(bytes, ahead_.data() + ahead_at_, count);
    ahead_at_ += count;
    return static_cast<ssize_t>(count);
  }
  if (body_left_ == 0) return 0;
  const ssize_t count = receive(bytes, std::min(size, body_left_), read_deadline_);
  if (count > 0) body_left_ -= static_cast<std::size_t>(count);
  return count;
}

ssize_t SocketStream::write(const char* bytes, std::size_t size) {
  const Clock::time_point deadline = Clock::now() + write_limit_;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::send(socket_, bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR && (errno != EAGAIN || !wait_for(POLLOUT, deadline))) {
      return -1;
    }
    if (done < size && Clock::now() >= deadline) return -1;
  }
  return static_cast<ssize_t>(done);
}

bool SocketStream::is_writable() const {
  pollfd entry{socket_, POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) == 0;
}

void SocketStream::drain() {
  constexpr std::chrono::milliseconds kDrainTime{500};
  constexpr std::size_t kDrainBytes = 256 << 10;
  ::shutdown(socket_, SHUT_WR);
  const Clock::time_point deadline = Clock::now() + kDrainTime;
  char piece[4096];
  for (std::size_t total = 0; total < kDrainBytes;) {
    const ssize_t count = receive(piece, sizeof piece, deadline);
    if (count <= 0) return;
    total += static_cast<std::size_t>(count);
  }
}

void SocketStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = peer_;
  port = 0;
}

void SocketStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace ferry::farm::http
