// Provides the contents of a module's blobs, such as weights, which are transferred apart from the module.
#pragma once

#include "ferry/api.h"
#include "ferry/hash.h"

#include <cstdint>
#include <span>

namespace ferry {

class FERRY_API BlobSource {
 public:
  virtual ~BlobSource() = default;
  virtual bool has(const Hash& blob) const = 0;
  // Fills `into` with the contents of a blob that it has, from `offset` on. Throws Error when they cannot be read.
  virtual void read(const Hash& blob, std::uint64_t offset, std::span<std::uint8_t> into) const = 0;
};

}  // namespace ferry
