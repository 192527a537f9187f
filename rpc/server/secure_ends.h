// The transport keys of all clients, in memory that no session inherits and that core dumps omit.
#pragma once

#include <cstddef>
#include <memory>

#include "rpc/secure/record.h"

namespace ferry::server {

// Both directions of an encrypted connection after its handshake.
struct SecureEnds {
  secure::SealingState sending;
  secure::OpeningState receiving;
};

// Must outlive the objects that it has made.
class SecretMemory {
 public:
  struct Return {
    SecretMemory* memory = nullptr;
    void operator()(SecureEnds* ends) const;
  };
  // Wipes the keys when it is destroyed.
  using Pointer = std::unique_ptr<SecureEnds, Return>;

  // Has room for this many connections at a time.
  explicit SecretMemory(std::size_t most);
  SecretMemory(const SecretMemory&) = delete;
  SecretMemory& operator=(const SecretMemory&) = delete;
  ~SecretMemory();

  // Returns null if there is no room left.
  Pointer make();
  // Unmaps the memory in a session's process, for systems that could not exclude it from the fork. Returns false if
  // that fails.
  bool unmap();

 private:
  union Place {
    Place* next;
    SecureEnds ends;
    Place() : next(nullptr) {}
    ~Place() {}
  };

  std::size_t bytes_;
  Place* places_;  // null if the system had no memory
  Place* free_ = nullptr;
};

}  // namespace ferry::server
