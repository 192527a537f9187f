// Random numbers that whoever sees some of them cannot continue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ferry/secret_seed.h"

namespace ferry {

// The key stream of ChaCha20 (RFC 8439) under the BLAKE2b hash of a seed: equal seeds give equal numbers.
class RandomStream {
 public:
  explicit RandomStream(const SecretSeed& seed);

  std::uint64_t next();
  // Less than `end`, which is not 0; each value is as likely as any other, but for one part in 2^64 / end.
  std::uint64_t below(std::uint64_t end) { return next() % end; }

 private:
  void fill();

  std::array<std::uint8_t, 32> key_{};
  std::array<std::uint64_t, 128> words_{};
  std::size_t used_ = 128;
  std::uint64_t block_ = 0;
};

}  // namespace ferry
