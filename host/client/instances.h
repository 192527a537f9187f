// Instances of functions (rpc/PROTOCOL.md, bind) that calls bind by themselves when they first pass a set of constants.
#pragma once

#include <memory>
#include <vector>

#include "host/client/state.h"
#include "rpc/messages.h"

namespace ferry::detail {

rpc::Argument wire_argument(const DeviceTensor& tensor);

// An instance on the device, and the contents of its constants that it was bound with.
struct InstanceState {
  struct Constant {
    std::weak_ptr<const TensorState> tensor;
    std::uint64_t version = 0;
  };
  std::shared_ptr<DeviceState> device;
  std::size_t function = 0;
  std::vector<Constant> constants;
  rpc::Handle handle = 0;
  session::Pending<rpc::CallReply> bound;
  bool has_failed = false;

  InstanceState() = default;
  InstanceState(const InstanceState&) = delete;
  InstanceState& operator=(const InstanceState&) = delete;
  // Releases it on the device.
  ~InstanceState();
};

// Returns the module's instance of the function for these arguments (one for each parameter, of which those for
// constants count); null if the function needs none. It is bound without waiting, and again only after a write to a
// constant.
std::shared_ptr<InstanceState> instance_for(ModuleState& module, std::size_t function,
                                            const std::vector<DeviceTensor>& arguments);
// To be called after a call with the instance has failed: if binding it failed, the next call binds again.
void check_bound(InstanceState& instance);
// Releases the module's instances that no call can use again: their constants are gone or were written to.
void release_outdated_instances(ModuleState& module);

}  // namespace ferry::detail
