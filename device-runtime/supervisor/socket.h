// What the supervisor knows a client by: a connected stream socket, TCP or inherited.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <string>
#include <utility>

namespace ferry::device {

using ClientSocket = asio::generic::stream_protocol::socket;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Wraps a descriptor of either kind. The socket owns it afterwards.
asio::error_code adopt_descriptor(ClientSocket& socket, int descriptor);

// "127.0.0.1:51234", or "a local socket".
std::string peer_name(int descriptor);

}  // namespace ferry::device
