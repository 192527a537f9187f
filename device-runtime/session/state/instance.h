// A function with the persistent buffers that its init plan computed from constant tensors.
#pragma once

#include <vector>

#include "device-runtime/plan/memory_blocks.h"
#include "device-runtime/session/state/module.h"
#include "rpc/messages.h"

namespace ferry::device {

// It does not keep its constants: their buffers may be written to or freed, which leaves the persistent buffers as they
// are.
struct Instance {
  const Module* module = nullptr;        // outlives the instance
  std::size_t function = 0;              // index in the module's manifest
  std::vector<rpc::Argument> arguments;  // one for each parameter, of which those for constants are given
  MemoryBlocks persistent;
  MemoryCharge charge;  // for this and for the kept call without its workspaces
  KeptCall kept_call;   // the function with these persistent buffers
};

}  // namespace ferry::device
