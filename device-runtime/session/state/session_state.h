// The state of one session, on which handlers operate. It lives in the session's process.
#pragma once

#include <memory>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"
#include "device-runtime/session/state/buffer.h"
#include "device-runtime/session/state/handle_table.h"
#include "device-runtime/session/state/instance.h"
#include "device-runtime/session/state/limits.h"
#include "device-runtime/session/state/module.h"
#include "device-runtime/session/state/module_store.h"
#include "device-runtime/session/state/session_access.h"
#include "device-runtime/session/state/session_blobs.h"
#include "ferry/device_facts.h"

namespace ferry::device {

// An uploaded module whose file is not in the store yet.
struct UnstoredModule {
  Hash hash;
  ModuleBytes file;
};

struct SessionState {
  SessionState(DeviceFacts device_facts, SessionAccess session_access)
      : facts(std::move(device_facts)), access(std::move(session_access)), budget(facts.memory_limit_bytes) {
    budget.set_reclaim([](void* state) { static_cast<SessionState*>(state)->drop_kept_calls(); }, this);
  }
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  // Frees the workspaces of all calls but one that runs.
  void drop_kept_calls() {
    modules.for_each([](rpc::Handle, Module& module) {
      for (KeptCall& call : module.kept_calls) call.drop();
    });
    instances.for_each([](rpc::Handle, Instance& instance) { instance.kept_call.drop(); });
  }

  DeviceFacts facts;
  rpc::TimeLimits limits;          // enforced by the supervisor
  bool wait_for_debugger = false;  // before the first call
  bool guards_memory = false;      // buffers of the CPU lie between inaccessible pages
  SessionAccess access;
  MemoryBudget budget;
  ModuleStore store{access.broker};
  SessionBlobs blobs{BlobStore(access.broker), budget};
  std::vector<std::unique_ptr<Device>> devices;  // the CPU, then the devices that the client requested
  JoinPrograms join = nullptr;                   // joins modules for several devices; null: there are none
  HandleTable<Buffer> buffers{"buffer", kMaxBuffers};
  HandleTable<Module> modules{"module", kMaxModules};
  HandleTable<Instance> instances{"instance", kMaxInstances};
  std::vector<UnstoredModule> unstored;
};

}  // namespace ferry::device
