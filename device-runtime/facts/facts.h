// What this board is: gathered once when the server starts; the memory that is free is read again for each session.
#pragma once

#include "rpc/abi/device_facts.h"

#include <string>

namespace ferry::device {

struct FactsOptions {
  std::string server_version;
  std::string flavour;
  std::uint32_t threads = 0;             // 0: one for each processor this process may use
  std::uint64_t memory_limit_bytes = 0;  // 0: three quarters of the memory, at most what is available now
};

DeviceFacts gather_facts(const FactsOptions& options);

// Replaces the figures that change while a server runs.
void refresh_facts(DeviceFacts& facts);

}  // namespace ferry::device
