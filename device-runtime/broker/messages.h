// Requests of a session to its supervisor, which opens files for it: a confined session cannot make a system call that
// takes a path. They are parts of one program, so the messages are plain structs. A session can send any bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "ferry/hash.h"

namespace ferry::device {

// The two folders of files that are kept for later sessions.
enum class Cache : std::uint8_t { modules, blobs };

// Sizes of the largest files that the supervisor keeps, in bytes, 0 for none, and their folder, for messages.
struct CacheLimits {
  std::string folder;
  std::uint64_t modules = 0;
  std::uint64_t blobs = 0;
};

enum class BrokerTask : std::uint8_t {
  find,       // a file of a cache, by its hash; the answer has its size and a descriptor for reading
  store,      // a new file of a cache; the answer has a stream, which takes `bytes` bytes and then gives an answer
  texts,      // up to kMaxTexts files of /proc and /sys, whose names follow; the answer says which, by bits
  throttled,  // what the firmware of a Raspberry Pi says of its clocks; the answer has the number
};

// Number of descriptors that one message can bring; Linux allows 253.
inline constexpr std::size_t kMaxTexts = 64;
inline constexpr std::size_t kMaxTextNames = 8192;  // bytes of all names, each ended by a zero

struct BrokerRequest {
  BrokerTask task = BrokerTask::find;
  Cache cache = Cache::modules;
  std::uint64_t bytes = 0;
  Hash hash{};
};

struct BrokerReply {
  std::int32_t error = 0;  // a value of errno
  std::uint64_t value = 0;
  Hash actual{};  // where a stored file has other contents than its hash says, with EBADMSG
};

// Sends the bytes and copies of the descriptors as one message. Returns false if the other side is gone, does not read,
// or there are no descriptors left.
bool send_message(int socket, std::span<const std::uint8_t> bytes, std::span<const int> descriptors = {});

// Waits for one message of exactly this size, whose descriptors are added. Returns false if there is no other side.
bool receive_message(int socket, std::span<std::uint8_t> bytes, std::vector<Descriptor>& descriptors);

template <class Message>
std::span<const std::uint8_t> bytes_of(const Message& message) {
  return {reinterpret_cast<const std::uint8_t*>(&message), sizeof message};
}
template <class Message>
std::span<std::uint8_t> writable_bytes_of(Message& message) {
  return {reinterpret_cast<std::uint8_t*>(&message), sizeof message};
}

}  // namespace ferry::device
