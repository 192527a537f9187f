// The records that follow the handshake: a 16-bit length and that many encrypted bytes. Each record is numbered by a
// 64-bit counter that is never transmitted, so a record that was changed, omitted, repeated or reordered does not
// decrypt.
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
// Largest plaintext of a record that we create: whole blocks of the cipher, and half of Noise's longest message, so
// that the data stays in the caches and the peer receives it sooner.
inline constexpr std::size_t kMaxRecordPlain = 511 * 64;

// The number of records sealed so far, in memory that another process can read: if the sending process dies between two
// records, another one continues. An accidental write to this memory must not lead to a number being used twice, so the
// count is stored twice, once with all its bits inverted.
class PublishedCount {
 public:
  void set(std::uint64_t count) {
    count_.store(count, std::memory_order_relaxed);
    turned_.store(~count, std::memory_order_release);
  }
  // Returns nothing if the stored value is not a count that set() wrote.
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

// The sending direction of a connection.
struct SealingState {
  KeyBytes key;
  std::uint64_t next = 0;               // the number of the next record
  PublishedCount* published = nullptr;  // where `next` is published for other processes; null: nowhere
  Cipher cipher = Cipher::chacha_poly;
};

// The receiving direction of a connection.
struct OpeningState {
  KeyBytes key;
  std::uint64_t next = 0;
  Cipher cipher = Cipher::chacha_poly;
};

// Writes one record of plain.size() + kRecordOverhead bytes; plain may have at most kMaxRecordPlain bytes. Fails with
// unavailable once all numbers are used up.
Status seal(SealingState& state, ByteSpan plain, std::uint8_t* out);
// Seals the plaintext into as many records as it needs. `last` appends the empty record that ends the stream.
Result<std::vector<std::uint8_t>> seal_all(SealingState& state, ByteSpan plain, bool last);

// Returns the length in front of a record's encrypted bytes; fails with protocol_error if no record can have that
// length.
Result<std::size_t> sealed_length(const std::uint8_t* bytes);
// Decrypts one record. `out` holds kTagBytes less than `sealed` and may be the same memory. Fails with protocol_error
// if the bytes are not the record that the peer sent at this point.
Status open(OpeningState& state, ByteSpan sealed, std::uint8_t* out);

}  // namespace ferry::secure
