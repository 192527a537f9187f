#include "host/client/direct_call.h"

#include <algorithm>
#include <utility>

#include "host/client/bind.h"
#include "host/client/instances.h"
#include "host/client/scalar.h"
#include "host/client/state.h"
#include "module/unaligned_tensors.h"

namespace ferry::session {

struct DirectModule::State {
  std::shared_ptr<detail::ModuleState> module;
  // Those of prepared calls, which refer to them.
  std::vector<std::shared_ptr<detail::InstanceState>> instances = {};
};

std::uint8_t* address_of(const DeviceTensor& tensor) {
  const detail::TensorState& state = detail::Access::state(tensor);
  if (state.device->direct == nullptr) return detail::shared_address(state);
  std::uint8_t* const memory = state.device->direct->address(state.handle);
  return memory == nullptr ? nullptr : memory + state.offset;
}

DirectModule::DirectModule(std::unique_ptr<State> state) : state_(std::move(state)) {}
DirectModule::~DirectModule() = default;

std::shared_ptr<DirectModule> DirectModule::load(const Device& device, const CompiledModule& compiled) {
  if (device.state()->direct == nullptr) return nullptr;
  auto state = std::make_unique<State>(std::make_shared<detail::ModuleState>(device.state(), compiled));
  return std::shared_ptr<DirectModule>(new DirectModule(std::move(state)));
}

const FunctionInfo& DirectModule::info(std::size_t function) const {
  return state_->module->compiled.manifest().functions.at(function);
}

bool DirectModule::supports(std::size_t function) const {
  return std::ranges::none_of(info(function).parameters, [](const ParameterInfo& parameter) {
    return !parameter.strides.empty() || parameter.is_constant;
  });
}

bool DirectModule::takes_unaligned() const {
  return takes_unaligned_tensors(state_->module->compiled.manifest().target);
}

std::vector<Shape> DirectModule::shapes(std::size_t function, const std::vector<Argument>& arguments) const {
  return sizes_of_call(info(function), arguments).shapes;
}

std::uint64_t DirectModule::scalar_bits(std::size_t function, std::size_t parameter,
                                        const Argument::Scalar& value) const {
  return session::scalar_bits(info(function), parameter, value);
}

std::unique_ptr<DirectCall> DirectModule::prepare(std::size_t function, std::span<const DirectArgument> arguments) {
  detail::ModuleState& module = *state_->module;
  const rpc::Handle handle = module.loaded();
  if (module.upload.valid()) std::exchange(module.upload, {}).get();
  const std::vector<DeviceTensor> no_constants(arguments.size());
  const std::shared_ptr<detail::InstanceState> instance = detail::instance_for(module, function, no_constants);
  if (instance != nullptr && std::ranges::find(state_->instances, instance) == state_->instances.end()) {
    instance->bound.get();
    state_->instances.push_back(instance);
  }
  return module.device->direct->prepare(handle, function, instance == nullptr ? 0 : instance->handle, arguments);
}

}  // namespace ferry::session
