// Computes the hash of contents that arrive piece by piece.
#pragma once

#include <cstdint>
#include <span>

#include "ferry/hash.h"

namespace ferry {

class HashStream {
 public:
  HashStream();
  void add(std::span<const std::uint8_t> piece);
  // Returns the hash of all pieces, once.
  Hash finish();

 private:
  alignas(64) std::uint8_t state_[384];
};

}  // namespace ferry
