#include "host/session/constants.h"

#include <algorithm>

#include "base/throw_status.h"

namespace ferry::detail {

namespace {

// Maximum number of cached sets of constants: more than the layers of a network that share a kernel.
constexpr std::size_t kMaxPrepared = 256;

// Returns the arguments that the initialisation reads, in its parameter order.
std::vector<DeviceTensor> sources_of(const FunctionInfo& function, const FunctionInfo& preparation,
                                     const std::vector<DeviceTensor>& arguments) {
  std::vector<DeviceTensor> sources;
  for (const ParameterInfo& input : preparation.parameters) {
    if (input.direction == Direction::out) break;
    const auto parameter = std::find_if(function.parameters.begin(), function.parameters.end(),
                                        [&](const ParameterInfo& p) { return p.name == input.name; });
    sources.push_back(arguments[static_cast<std::size_t>(parameter - function.parameters.begin())]);
  }
  return sources;
}

bool holds(const PreparedConstants& prepared, std::size_t function, const std::vector<DeviceTensor>& sources) {
  if (prepared.function != function) return false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const TensorState& state = Access::state(sources[i]);
    const PreparedConstants::Source& known = prepared.sources[i];
    if (known.tensor.lock().get() != &state || known.version != *state.version) return false;
  }
  return true;
}

bool is_outdated(const PreparedConstants& prepared) {
  return std::any_of(prepared.sources.begin(), prepared.sources.end(), [](const auto& source) {
    const auto tensor = source.tensor.lock();
    return tensor == nullptr || *tensor->version != source.version;
  });
}

PreparedConstants prepare(ModuleState& module, std::size_t function, const FunctionInfo& preparation,
                          const std::vector<DeviceTensor>& sources) {
  rpc::Call call;
  call.module = module.loaded();
  call.function = preparation.name;
  std::vector<ArgumentShape> known(preparation.parameters.size());
  PreparedConstants prepared{function, {}, {}};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    call.arguments.push_back(wire_argument(sources[i]));
    known[i] = {ParameterKind::tensor, sources[i].dtype(), sources[i].shape()};
    prepared.sources.push_back({Access::share(sources[i]), *Access::state(sources[i]).version});
  }
  const std::vector<std::int64_t> symbols = take(bind_symbols(preparation, known));
  const std::vector<Shape> shapes = take(infer_shapes(preparation, symbols));
  for (std::size_t p = sources.size(); p < preparation.parameters.size(); ++p) {
    prepared.made.push_back(make_output(module.device, preparation.parameters[p], shapes[p], symbols));
    call.arguments.push_back(wire_argument(prepared.made.back()));
  }
  module.device->client->post(call);
  return prepared;
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

Shape strides_of(const ParameterInfo& parameter, const std::vector<std::int64_t>& symbols) {
  Shape strides;
  for (const ManifestExpr& stride : parameter.strides) strides.push_back(take(evaluate(stride, symbols)));
  return strides;
}

DeviceTensor make_output(const std::shared_ptr<DeviceState>& state, const ParameterInfo& parameter, const Shape& shape,
                         const std::vector<std::int64_t>& symbols) {
  return Access::make(std::make_shared<TensorState>(state, parameter.dtype, shape, strides_of(parameter, symbols)));
}

std::vector<DeviceTensor> prepared_constants(ModuleState& module, std::size_t function,
                                             const std::vector<DeviceTensor>& arguments) {
  const FunctionInfo* preparation = module.compiled.preparation(function);
  if (preparation == nullptr) return {};
  const std::vector<DeviceTensor> sources =
      sources_of(module.compiled.manifest().functions[function], *preparation, arguments);
  std::vector<PreparedConstants>& all = module.constants;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& prepared) { return holds(prepared, function, sources); });
  if (found != all.end()) {
    std::rotate(found, found + 1, all.end());
    return all.back().made;
  }
  std::erase_if(all, is_outdated);
  if (all.size() >= kMaxPrepared) all.erase(all.begin());
  all.push_back(prepare(module, function, *preparation, sources));
  return all.back().made;
}

}  // namespace ferry::detail
