// Where a handshake finds the keys that a server accepts.
#pragma once

#include <optional>

#include "rpc/secure/key.h"

namespace ferry::server {

class KeySource {
 public:
  virtual ~KeySource() = default;
  // Returns nothing if no key has this id; fails with busy if that cannot be determined at the moment for lack of
  // descriptors or memory.
  virtual Result<std::optional<secure::Key>> find(const secure::KeyId& id) const = 0;
};

}  // namespace ferry::server
