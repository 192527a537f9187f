// What a session needs in order to run kernels in other processes.
#pragma once

#include <memory>
#include <vector>

#include "device-runtime/device/shared_memory.h"
#include "device-runtime/runner/zygote.h"

namespace ferry::device {

struct Isolation {
  Zygote zygote = Zygote();
  std::unique_ptr<SharedMemory> memory = nullptr;  // what it shares with them; there is one where there is a zygote
  const char* missing = "";                        // why there is no zygote
  std::vector<long> core_capacities = {};          // as the system knows them; empty: not asked yet
  // A client's code has run in the session's own process, and may rule it since.
  bool has_run_code = false;
};

}  // namespace ferry::device
