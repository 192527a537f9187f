// Data that functions derive once from constant arguments (module/MODULE.md), and the tensors that calls need besides
// those given by the caller.
#pragma once

#include <vector>

#include "host/session/state.h"
#include "rpc/messages.h"

namespace ferry::detail {

rpc::Argument wire_argument(const DeviceTensor& tensor);
// Returns the strides that the parameter declares; none when it is dense.
Shape strides_of(const ParameterInfo& parameter, const std::vector<std::int64_t>& symbols);
DeviceTensor make_output(const std::shared_ptr<DeviceState>& state, const ParameterInfo& parameter, const Shape& shape,
                         const std::vector<std::int64_t>& symbols);

// Returns the tensors that the function's initialisation derives from these arguments (one for each parameter, empty
// for scalars), in order; none if it has no initialisation. It is requested without waiting, and again only after a
// constant was written to.
std::vector<DeviceTensor> prepared_constants(ModuleState& module, std::size_t function,
                                             const std::vector<DeviceTensor>& arguments);

}  // namespace ferry::detail
