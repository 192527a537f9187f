// Everything one session has: what handlers work on. Made in the session's process, gone with it.
#pragma once

#include <memory>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"
#include "device-runtime/handlers/buffer.h"
#include "device-runtime/handlers/handle_table.h"
#include "device-runtime/handlers/limits.h"
#include "device-runtime/handlers/module.h"
#include "device-runtime/handlers/module_store.h"
#include "rpc/abi/device_facts.h"

namespace ferry::device {

// An uploaded module whose file is not in the store yet.
struct UnstoredModule {
  Hash hash;
  std::vector<std::uint8_t> file;
};

struct SessionState {
  SessionState(DeviceFacts device_facts, const ModuleStore& module_store)
      : facts(std::move(device_facts)), store(module_store), budget(facts.memory_limit_bytes) {}

  DeviceFacts facts;
  rpc::TimeLimits limits;          // that the supervisor enforces
  bool wait_for_debugger = false;  // before the first call
  const ModuleStore& store;
  MemoryBudget budget;
  std::vector<std::unique_ptr<Device>> devices;  // the CPU, then those that the client named
  HandleTable<Buffer> buffers{"buffer", kMaxBuffers};
  HandleTable<Module> modules{"module", kMaxModules};
  std::vector<UnstoredModule> unstored;
};

}  // namespace ferry::device
