// A socket for requests that no HTTP client sends.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/descriptor.h"

namespace ferry::test {

class RawClient {
 public:
  // With `receive_bytes` the system takes about so many bytes that nobody has read, and the connection has short
  // segments, as across a network: the server's buffer grows with them.
  explicit RawClient(std::uint16_t port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes != 0) {
      const int segment_bytes = 536;
      ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
      ::setsockopt(socket_.number(), IPPROTO_TCP, TCP_MAXSEG, &segment_bytes, sizeof segment_bytes);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }

  bool is_connected() const { return is_connected_; }
  bool send(const std::string& bytes) {
    return ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // Reads until the text has arrived, the peer closes the connection or the time is over; returns all of this call.
  std::string read_until(const std::string& text, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::string result;
    char piece[4096];
    while (text.empty() || result.find(text) == std::string::npos) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd entry{socket_.number(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) <= 0) break;
      const ssize_t count = ::recv(socket_.number(), piece, sizeof piece, 0);
      is_closed_ = count <= 0;
      if (is_closed_) break;
      result.append(piece, static_cast<std::size_t>(count));
    }
    return result;
  }
  // All until the end.
  std::string read(std::chrono::milliseconds limit = std::chrono::seconds(5)) { return read_until("", limit); }
  bool is_closed() const { return is_closed_; }
  // Whether the peer has closed the connection and has sent nothing.
  bool is_cut_off() const {
    char byte;
    const ssize_t count = ::recv(socket_.number(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno == ECONNRESET);
  }

 private:
  Descriptor socket_;
  bool is_connected_ = false;
  bool is_closed_ = false;
};

}  // namespace ferry::test
