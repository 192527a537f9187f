// The transport keys of all clients, in memory that no session inherits and no core dump shows.
#pragma once

#include <cstddef>
#include <memory>

#include "rpc/secure/record.h"

namespace ferry::device {

// Both halves of an encrypted connection after its handshake.
struct SecureEnds {
  secure::SealingState sending;
  secure::OpeningState receiving;
};

// Outlives what it has made.
class SecretMemory {
 public:
  struct Return {
    SecretMemory* memory = nullptr;
    void operator()(SecureEnds* ends) const;
  };
  // Wiped at its end.
  using Pointer = std::unique_ptr<SecureEnds, Return>;

  // For so many connections at a time.
  explicit SecretMemory(std::size_t most);
  SecretMemory(const SecretMemory&) = delete;
  SecretMemory& operator=(const SecretMemory&) = delete;
  ~SecretMemory();

  // Null when there is no place left.
  Pointer make();
  // In a session's process, where the system was not able to leave this out: it is gone afterwards. False when it is
  // not.
  bool unmap();

 private:
  union Place {
    Place* next;
    SecureEnds ends;
    Place() : next(nullptr) {}
    ~Place() {}
  };

  std::size_t bytes_;
  Place* places_;  // null when the system has no memory
  Place* free_ = nullptr;
};

}  // namespace ferry::device
