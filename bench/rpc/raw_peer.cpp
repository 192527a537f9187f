#include "bench/rpc/raw_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace ferry::bench {

namespace {

constexpr std::size_t kMessage = 64;
enum Command : std::uint8_t { kPing = 1, kWrite = 2, kRead = 3 };

void send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent <= 0) throw std::runtime_error("raw peer: send failed");
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t received = ::recv(socket, at, size, 0);
    if (received <= 0) return false;
    at += received;
    size -= static_cast<std::size_t>(received);
  }
  return true;
}

void no_delay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::array<std::uint8_t, kMessage> request(Command command, std::uint64_t bytes) {
  std::array<std::uint8_t, kMessage> message{};
  message[0] = command;
  std::memcpy(&message[8], &bytes, sizeof bytes);
  return message;
}

// The peer process; runs until the connection ends.
void serve(int socket) {
  std::vector<std::uint8_t> memory;
  std::array<std::uint8_t, kMessage> message;
  while (receive_all(socket, message.data(), message.size())) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, &message[8], sizeof bytes);
    if (memory.size() < bytes) memory.resize(bytes);
    if (message[0] == kWrite && !receive_all(socket, memory.data(), bytes)) return;
    if (message[0] == kRead) {
      send_all(socket, memory.data(), bytes);
    } else {
      send_all(socket, message.data(), message.size());
    }
  }
}

}  // namespace

RawPeer::RawPeer() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("raw peer: cannot listen on loopback");
  peer_ = fork();
  if (peer_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int connection = ::accept(listener, nullptr, nullptr);
    no_delay(connection);
    serve(connection);
    _exit(0);
  }
  socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("raw peer: cannot connect");
  no_delay(socket_);
  ::close(listener);
}

RawPeer::~RawPeer() {
  ::close(socket_);
  waitpid(peer_, nullptr, 0);
}

void RawPeer::ping() {
  auto message = request(kPing, 0);
  send_all(socket_, message.data(), message.size());
  if (!receive_all(socket_, message.data(), message.size())) throw std::runtime_error("raw peer: gone");
}

void RawPeer::write(std::span<const std::uint8_t> bytes) {
  auto message = request(kWrite, bytes.size());
  send_all(socket_, message.data(), message.size());
  send_all(socket_, bytes.data(), bytes.size());
  if (!receive_all(socket_, message.data(), message.size())) throw std::runtime_error("raw peer: gone");
}

void RawPeer::read(std::span<std::uint8_t> bytes) {
  const auto message = request(kRead, bytes.size());
  send_all(socket_, message.data(), message.size());
  if (!receive_all(socket_, bytes.data(), bytes.size())) throw std::runtime_error("raw peer: gone");
}

}  // namespace ferry::bench
