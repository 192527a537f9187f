#include "farm/web/socket_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ferry::farm::http {

bool SocketStream::wait_until(Clock::time_point deadline) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{socket_, POLLOUT, 0};
    const int count = ::poll(&entry, 1, static_cast<int>(left));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

ssize_t SocketStream::read(char* bytes, std::size_t size) {
  const std::size_t count = std::min(size, request_.size() - read_);
  std::memcpy(bytes, request_.data() + read_, count);
  read_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t SocketStream::write(const char* bytes, std::size_t size) {
  const Clock::time_point deadline = Clock::now() + write_limit_;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::send(socket_, bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR && (errno != EAGAIN || !wait_until(deadline))) {
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

void SocketStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = peer_;
  port = 0;
}

void SocketStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace ferry::farm::http
