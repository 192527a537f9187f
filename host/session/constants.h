// What functions want computed of constant arguments once (rpc/abi/MODULE.md), and the tensors that calls need besides
// those that the caller gives.
#pragma once

#include <vector>

#include "host/session/state.h"
#include "rpc/messages.h"

namespace ferry::detail {

rpc::Argument wire_argument(const DeviceTensor& tensor);
// What the parameter says they are; none when it is dense.
Shape strides_of(const ParameterInfo& parameter, const std::vector<std::int64_t>& symbols);
DeviceTensor make_output(const std::shared_ptr<DeviceState>& state, const ParameterInfo& parameter, const Shape& shape,
                         const std::vector<std::int64_t>& symbols);

// What the function's preparation makes of these arguments (one a parameter, empty for scalars), in its order; none
// when it has no preparation. It is asked for without waiting, and again only once a constant was written to.
std::vector<DeviceTensor> prepared_constants(ModuleState& module, std::size_t function,
                                             const std::vector<DeviceTensor>& arguments);

}  // namespace ferry::detail
