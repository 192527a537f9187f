// Facts about this board, gathered once when the server starts. The available memory is read again for each session.
#pragma once

#include "device-runtime/facts/session_files.h"
#include "ferry/device_facts.h"

#include <string>

namespace ferry::device {

struct FactsOptions {
  std::string server_version;
  std::string flavour;
  std::uint32_t threads = 0;             // 0: one per processor that this process may use
  std::uint64_t memory_limit_bytes = 0;  // 0: three quarters of the memory, but at most what is available now
};

DeviceFacts gather_facts(const FactsOptions& options);

// Updates the values that change while a server runs.
void refresh_facts(DeviceFacts& facts, const SessionFiles& files);

}  // namespace ferry::device
