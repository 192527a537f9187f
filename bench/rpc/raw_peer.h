// The upper bound for a blocking TCP socket: a process on loopback that echoes messages and receives or sends bulk
// data, with only send and recv on both sides. The protocol is measured against it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ferry::bench {

class RawPeer {
 public:
  RawPeer();  // inherits the caller's CPU
  ~RawPeer();
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  // Sends 64 bytes and receives 64 bytes.
  void ping();
  // Sends all bytes, which the peer receives into one buffer of that size, and receives a short reply.
  void write(std::span<const std::uint8_t> bytes);
  // Sends a request and receives all bytes.
  void read(std::span<std::uint8_t> bytes);

 private:
  int socket_ = -1;
  pid_t peer_ = -1;
};

}  // namespace ferry::bench
