// A listener on loopback that answers each connection with the same bytes, and keeps what it was sent.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace ferry::test {

struct ServerBehaviour {
  std::string answer;                          // sent once a whole request has arrived
  std::chrono::milliseconds between_bytes{0};  // pause between bytes of the answer; 0: all at once
  bool closes_at_once = false;
};

class LoopbackServer {
 public:
  explicit LoopbackServer(ServerBehaviour behaviour)
      : behaviour_(std::move(behaviour)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.number(), any, size) != 0 || listen(listener_.number(), 16) != 0 ||
        getsockname(listener_.number(), any, &size) != 0)
      throw std::runtime_error("cannot listen on loopback");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~LoopbackServer() {
    is_stopping_ = true;
    thread_.join();
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  bool is_readable(int socket) const {
    pollfd event{socket, POLLIN, 0};
    while (!is_stopping_) {
      if (poll(&event, 1, 20) > 0) return true;
    }
    return false;
  }
  static bool is_whole(const std::string& request) {
    const std::size_t end = request.find("\r\n\r\n"), length = request.find("Content-Length: ");
    if (end == std::string::npos) return false;
    return length == std::string::npos || request.size() - end - 4 >= std::stoul(request.substr(length + 16));
  }
  void serve() {
    while (is_readable(listener_.number())) {
      const Descriptor connection(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!behaviour_.closes_at_once) answer(connection.number());
    }
  }
  void answer(int connection) {
    std::string request;
    char buffer[4096];
    while (!is_whole(request) && is_readable(connection)) {
      const ssize_t count = recv(connection, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      request.append(buffer, static_cast<std::size_t>(count));
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const std::size_t piece = behaviour_.between_bytes.count() > 0 ? 1 : behaviour_.answer.size();
    for (std::size_t at = 0; at < behaviour_.answer.size() && !is_stopping_; at += piece) {
      if (send(connection, behaviour_.answer.data() + at, piece, MSG_NOSIGNAL) < 0) return;
      std::this_thread::sleep_for(behaviour_.between_bytes);
    }
  }

  const ServerBehaviour behaviour_;
  const Descriptor listener_;
  int port_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace ferry::test
