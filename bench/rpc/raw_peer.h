// The best a blocking TCP socket can do: a process on loopback that echoes messages and swallows or sends bulk data,
// with nothing but send and recv on both sides. What the protocol is measured against.
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

  // 64 bytes there and 64 bytes back.
  void ping();
  // All the bytes there, one byte back; into one buffer of that size, received in place.
  void write(std::span<const std::uint8_t> bytes);
  // A request there, all the bytes back.
  void read(std::span<std::uint8_t> bytes);

 private:
  int socket_ = -1;
  pid_t peer_ = -1;
};

}  // namespace ferry::bench
