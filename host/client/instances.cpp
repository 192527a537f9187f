#include "host/client/instances.h"

#include <algorithm>

namespace ferry::detail {

namespace {

// Maximum number of instances that a module keeps for calls to come: more than the layers of a network that share a
// kernel.
constexpr std::size_t kMaxInstances = 256;

bool is_outdated(const InstanceState& instance) {
  return instance.has_failed ||
         std::any_of(instance.constants.begin(), instance.constants.end(), [](const auto& constant) {
           const auto tensor = constant.tensor.lock();
           return tensor == nullptr || *tensor->version != constant.version;
         });
}

bool is_bound_with(const InstanceState& instance, std::size_t function, const std::vector<DeviceTensor>& constants) {
  if (instance.function != function || is_outdated(instance)) return false;
  for (std::size_t i = 0; i < constants.size(); ++i)
    if (instance.constants[i].tensor.lock() != Access::share(constants[i])) return false;
  return true;
}

std::shared_ptr<InstanceState> make_instance(ModuleState& module, std::size_t function,
                                             const std::vector<DeviceTensor>& constants) {
  auto instance = std::make_shared<InstanceState>();
  const FunctionInfo& info = module.compiled.manifest().functions[function];
  module.prepare_to_bind(info);
  rpc::Bind request{session::Client::new_handle(), module.loaded(), info.name, {}};
  for (const DeviceTensor& constant : constants) {
    request.constants.push_back(wire_argument(constant));
    instance->constants.push_back({Access::share(constant), *Access::state(constant).version});
  }
  instance->bound = module.device->client->send(request);
  instance->device = module.device;
  instance->function = function;
  instance->handle = request.instance;
  return instance;
}

}  // namespace

rpc::Argument wire_argument(const DeviceTensor& tensor) {
  rpc::Argument wire;
  wire.buffer = Access::state(tensor).handle;
  wire.offset = Access::state(tensor).offset;
  wire.dtype = tensor.dtype();
  wire.shape = tensor.shape();
  return wire;
}

InstanceState::~InstanceState() {
  if (device == nullptr || !device->client->is_open()) return;
  try {
    device->client->post(rpc::Free{handle});
  } catch (const Error&) {
    // The connection is lost, and the instance with it.
  }
}

std::shared_ptr<InstanceState> instance_for(ModuleState& module, std::size_t function,
                                            const std::vector<DeviceTensor>& arguments) {
  const FunctionInfo& info = module.compiled.manifest().functions[function];
  if (!needs_instance(info)) return nullptr;
  std::vector<DeviceTensor> constants;
  for (std::size_t p = 0; p < arguments.size(); ++p)
    if (info.parameters[p].is_constant) constants.push_back(arguments[p]);
  auto& all = module.instances;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return is_bound_with(*one, function, constants); });
  if (found != all.end()) {
    std::rotate(found, found + 1, all.end());
    return all.back();
  }
  release_outdated_instances(module);
  if (all.size() >= kMaxInstances) all.erase(all.begin());
  all.push_back(make_instance(module, function, constants));
  return all.back();
}

void check_bound(InstanceState& instance) {
  try {
    instance.bound.get();
  } catch (const Error&) {
    instance.has_failed = true;
  }
}

void release_outdated_instances(ModuleState& module) {
  std::erase_if(module.instances, [](const auto& one) { return is_outdated(*one); });
}

}  // namespace ferry::detail

namespace ferry {

struct Instance::State {
  std::shared_ptr<detail::ModuleState> module;
  Function function;
  std::vector<DeviceTensor> constants;

  State(std::shared_ptr<detail::ModuleState> of, Function what) : module(std::move(of)), function(std::move(what)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    constants.clear();
    detail::release_outdated_instances(*module);
  }
};

Instance Function::bind(const std::vector<Argument>& constants) const {
  const FunctionInfo& function = info();
  const auto state = std::make_shared<Instance::State>(module_, *this);
  std::vector<DeviceTensor> arguments(function.parameters.size());
  std::vector<ArgumentShape> shapes(arguments.size());
  auto next = constants.begin();
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (!parameter.is_constant || next == constants.end()) continue;
    const auto& value = (next++)->value();
    const auto* view = std::get_if<View>(&value);
    const auto* tensor = std::get_if<DeviceTensor>(&value);
    const std::string what = function.name + ": constant '" + parameter.name + "'";
    if (view == nullptr && tensor == nullptr)
      throw Error(ErrorCode::invalid_argument, what + ": expected a tensor of the device or a view with a shape");
    if (tensor != nullptr) detail::check_device(*tensor, *module_->device, what);
    arguments[p] = tensor != nullptr ? *tensor : module_->put(parameter, *view);
    shapes[p] = {ParameterKind::tensor, arguments[p].dtype(), arguments[p].shape()};
    state->constants.push_back(arguments[p]);
  }
  const auto expected = std::count_if(function.parameters.begin(), function.parameters.end(),
                                      [](const ParameterInfo& parameter) { return parameter.is_constant; });
  if (static_cast<std::size_t>(expected) != constants.size())
    throw Error(ErrorCode::invalid_argument, signature_text(function) + ": expected " + std::to_string(expected) +
                                                 " constants, got " + std::to_string(constants.size()));
  value_or_throw(bind_call(function, shapes, GivenArguments::constants));
  detail::instance_for(*module_, index_, arguments);
  return Instance(state);
}

const Function& Instance::function() const { return state_->function; }

std::vector<Argument> Instance::with(const std::vector<Argument>& others) const {
  std::vector<Argument> all;
  auto constant = state_->constants.begin();
  auto next = others.begin();
  const std::vector<ParameterInfo>& parameters = function().info().parameters;
  const bool with_outputs = others.size() + state_->constants.size() == parameters.size();
  for (const ParameterInfo& parameter : parameters) {
    if (parameter.is_constant)
      all.emplace_back(*constant++);
    else if (next != others.end() && (with_outputs || parameter.direction != Direction::out))
      all.push_back(*next++);
  }
  all.insert(all.end(), next, others.end());
  return all;
}

}  // namespace ferry
