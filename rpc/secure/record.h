// What travels after the handshake: records of a 16-bit length and as many encrypted bytes. Each counts with a 64-bit
// number that neither side sends, so a record that was changed, left out, repeated or moved does not open.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "rpc/secure/cipher.h"

namespace ferry::secure {

inline constexpr std::size_t kLengthBytes = 2;
inline constexpr std::size_t kRecordOverhead = kLengthBytes + kTagBytes;
// Of one record that we make: whole blocks of the cipher, and half of the longest message of Noise, so that what is
// worked on stays in the caches and the peer gets it sooner.
inline constexpr std::size_t kMaxRecordPlain = 511 * 64;

// How many records were sealed, where another process can read it: when the one that was sending has died between two
// records, another goes on. Whoever can write there must not be able to have a number used twice by accident, so the
// count is written twice, once with all its bits turned.
class PublishedCount {
 public:
  void set(std::uint64_t count) {
    count_.store(count, std::memory_order_relaxed);
    turned_.store(~count, std::memory_order_release);
  }
  // Nothing when this is no count that set() has left behind.
  std::optional<std::uint64_t> get() const {
    const std::uint64_t turned = turned_.load(std::memory_order_acquire);
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    return count == ~turned ? std::optional(count) : std::nullopt;
  }

 private:
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> turned_{~std::uint64_t{0}};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes cannot share a lock that is not there");

// The sending half of a connection.
struct SealingState {
  KeyBytes key;
  std::uint64_t next = 0;               // the number of the next record
  PublishedCount* published = nullptr;  // where `next` is told to others; null: nowhere
  Cipher cipher = Cipher::chacha_poly;
};

// The receiving half.
struct OpeningState {
  KeyBytes key;
  std::uint64_t next = 0;
  Cipher cipher = Cipher::chacha_poly;
};

// Writes one record of plain.size() + kRecordOverhead bytes; at most kMaxRecordPlain of plain. unavailable once the
// numbers are used up.
Status seal(SealingState& state, ByteSpan plain, std::uint8_t* out);
// As many records as that takes. `last` adds the empty record that ends the stream.
Result<std::vector<std::uint8_t>> seal_all(SealingState& state, ByteSpan plain, bool last);

// The length in front of a record's encrypted bytes; protocol_error when there can be no such record.
Result<std::size_t> sealed_length(const std::uint8_t* bytes);
// Opens the encrypted bytes of one record; `out` takes kTagBytes less, and may be their own place. protocol_error when
// they are not what the peer sent at this point.
Status open(OpeningState& state, ByteSpan sealed, std::uint8_t* out);

}  // namespace ferry::secure
