#include "host/client/prepared_call.h"

#include <algorithm>

#include "host/client/bind.h"
#include "host/client/scalar.h"

namespace ferry::detail {

namespace {

using session::PartialArgument;

constexpr const char* kAdvice =
    "pass tensors, or views with a shape (ferry::view(data, {rows, columns})), or outputs of the wanted shape";

PartialArgument partial(const Argument* argument) {
  PartialArgument known;
  if (argument == nullptr) return known;
  const auto& value = argument->value();
  if (const auto* tensor = std::get_if<DeviceTensor>(&value)) {
    known.dtype = tensor->dtype();
    known.shape = tensor->shape();
  }
  if (const auto* view = std::get_if<View>(&value)) {
    known.dtype = view->dtype;
    known.shape = view->shape;
  }
  if (const auto* flat = std::get_if<Argument::Flat>(&value)) known.flat_elements = flat->elements;
  if (const auto* scalar = std::get_if<Argument::Scalar>(&value)) {
    if (const auto* integer = std::get_if<std::int64_t>(scalar)) known.scalar = *integer;
  }
  return known;
}

[[noreturn]] void refuse(const FunctionInfo& info, std::size_t p, const std::string& expected, const std::string& got) {
  throw Error(ErrorCode::invalid_argument, info.name + ": argument " + std::to_string(p + 1) + " '" +
                                               info.parameters[p].name + "': expected " + expected + ", got " + got);
}

// Returns the strides that the parameter declares; none when it is dense.
Shape strides_of(const ParameterInfo& parameter, const std::vector<std::int64_t>& symbols) {
  Shape strides;
  for (const ManifestExpr& stride : parameter.strides) strides.push_back(value_or_throw(evaluate(stride, symbols)));
  return strides;
}

DeviceTensor make_output(const ModuleState& module, const ParameterInfo& parameter, const Shape& shape,
                         const std::vector<std::int64_t>& symbols) {
  return Access::make(std::make_shared<TensorState>(module.device, parameter.dtype, shape,
                                                    strides_of(parameter, symbols), module.session_device(parameter)));
}

// `shapes` has the expected shape of each parameter; tensors of the device need none.
DeviceTensor to_device(const ModuleState& module, const FunctionInfo& info, std::size_t p, const Argument& argument,
                       const std::vector<Shape>& shapes, Lifetime lifetime) {
  if (const auto* tensor = std::get_if<DeviceTensor>(&argument.value())) return *tensor;
  const ParameterInfo& parameter = info.parameters[p];
  const Shape& expected = shapes[p];
  const auto* view = std::get_if<View>(&argument.value());
  const auto* flat = std::get_if<Argument::Flat>(&argument.value());
  if (view == nullptr && flat == nullptr) refuse(info, p, shape_text(parameter.dtype, expected), "a number");
  if (parameter.direction == Direction::out)
    refuse(info, p, "a tensor of the device to write to", "memory of this process");
  const auto put = [&](const View& data) {
    return lifetime == Lifetime::of_call ? module.borrow_or_put(parameter, data) : module.put(parameter, data);
  };
  if (view != nullptr) return put(*view);
  const std::uint64_t elements = tensor_bytes(DType::u8, expected);
  if (elements != flat->elements) {
    refuse(info, p, shape_text(parameter.dtype, expected), std::to_string(flat->elements) + " elements");
  }
  return put({flat->dtype, expected, flat->data});
}

// Handles are valid on one device only.
void check_devices(const DeviceState& device, const FunctionInfo& info, const std::vector<const Argument*>& matched) {
  for (std::size_t p = 0; p < matched.size(); ++p) {
    const auto* tensor = matched[p] == nullptr ? nullptr : std::get_if<DeviceTensor>(&matched[p]->value());
    if (tensor == nullptr) continue;
    check_device(*tensor, device,
                 info.name + ": argument " + std::to_string(p + 1) + " '" + info.parameters[p].name + "'");
  }
}

// Whether every scalar is a number and every tensor is on the device, so that nothing must be allocated or inferred.
bool is_ready(const FunctionInfo& info, const std::vector<const Argument*>& matched) {
  for (std::size_t p = 0; p < matched.size(); ++p) {
    if (matched[p] == nullptr) return false;
    const auto& value = matched[p]->value();
    const bool fits = info.parameters[p].kind == ParameterKind::scalar ? std::holds_alternative<Argument::Scalar>(value)
                                                                       : std::holds_alternative<DeviceTensor>(value);
    if (!fits) return false;
  }
  return true;
}

void check_strides(const FunctionInfo& info, const std::vector<DeviceTensor>& tensors,
                   const std::vector<std::int64_t>& symbols) {
  const auto text = [](const Shape& strides) {
    std::string all;
    for (const std::int64_t stride : strides) all += (all.empty() ? "" : ",") + std::to_string(stride);
    return strides.empty() ? std::string("a dense tensor") : "strides [" + all + "]";
  };
  for (std::size_t p = 0; p < tensors.size(); ++p) {
    const ParameterInfo& parameter = info.parameters[p];
    if (parameter.kind == ParameterKind::scalar) continue;
    if (parameter.strides.empty() && tensors[p].strides().empty()) continue;
    const Shape expected = strides_of(parameter, symbols);
    if (same_places(tensors[p].shape(), tensors[p].strides(), expected)) continue;
    refuse(info, p, text(expected), text(tensors[p].strides()));
  }
}

// Returns other possible causes of a kernel's crash: qemu-user before version 8 fails an assertion of its own
// (decode_save_opc) where RISC-V float vectors are converted to integers or truncated.
std::string other_cause(const ModuleState& module, const std::string& message) {
  const std::vector<std::string>& features = module.compiled.manifest().devices.front().features;
  // No other architecture has a feature of this name.
  const bool has_vectors = std::find(features.begin(), features.end(), "v") != features.end();
  if (!has_vectors || message.find("SIGABRT") == std::string::npos) return {};
  return "; where the device is qemu-user 7 or older, that is its own failed assertion (decode_save_opc), at vectors "
         "of "
         "floats that become integers: expected qemu 8 or newer, or a target without v";
}

}  // namespace

std::vector<const Argument*> match_parameters(const FunctionInfo& info, const std::vector<Argument>& arguments) {
  std::size_t inputs = 0;
  for (const ParameterInfo& parameter : info.parameters) inputs += parameter.direction == Direction::out ? 0 : 1;
  const bool with_outputs = arguments.size() == info.parameters.size();
  if (!with_outputs && arguments.size() != inputs) {
    throw Error(ErrorCode::invalid_argument, signature_text(info) + ": expected " + std::to_string(inputs) +
                                                 " arguments (or " + std::to_string(info.parameters.size()) +
                                                 " with the outputs), got " + std::to_string(arguments.size()));
  }
  std::vector<const Argument*> matched;
  matched.reserve(info.parameters.size());
  auto next = arguments.begin();
  for (const ParameterInfo& parameter : info.parameters) {
    matched.push_back(with_outputs || parameter.direction != Direction::out ? &*next++ : nullptr);
  }
  return matched;
}

session::CallSizes find_sizes(const FunctionInfo& info, const std::vector<const Argument*>& matched) {
  std::vector<PartialArgument> known;
  for (const Argument* argument : matched) known.push_back(partial(argument));
  check_ranks(info, known);
  session::SymbolValues symbols;
  solve_symbols(info, known, symbols);
  session::CallSizes sizes{session::shapes_of(info, symbols, kAdvice), {}};
  for (const auto& symbol : symbols) sizes.symbols.push_back(symbol.value_or(0));
  return sizes;
}

PreparedCall prepare(ModuleState& module, std::size_t function, const std::vector<Argument>& arguments,
                     Lifetime lifetime) {
  const std::shared_ptr<DeviceState>& state = module.device;
  const FunctionInfo& info = module.compiled.manifest().functions[function];
  const std::vector<const Argument*> matched = match_parameters(info, arguments);
  check_devices(*state, info, matched);
  const session::CallSizes sizes = is_ready(info, matched) ? session::CallSizes() : find_sizes(info, matched);

  PreparedCall prepared;
  prepared.wire.function = info.name;
  prepared.wire.arguments.reserve(matched.size());
  prepared.tensors.reserve(matched.size());
  std::vector<ArgumentShape> checked;
  checked.reserve(matched.size());
  for (std::size_t p = 0; p < matched.size(); ++p) {
    const ParameterInfo& parameter = info.parameters[p];
    rpc::Argument wire;
    wire.dtype = parameter.dtype;
    DeviceTensor tensor;
    if (parameter.kind == ParameterKind::scalar) {
      const auto* scalar = std::get_if<Argument::Scalar>(&matched[p]->value());
      if (scalar == nullptr) refuse(info, p, std::string("a number of ") + dtype_name(parameter.dtype), "a tensor");
      wire.is_scalar = true;
      wire.scalar_bits = session::scalar_bits(info, p, *scalar);
    } else {
      tensor = matched[p] == nullptr ? make_output(module, parameter, sizes.shapes[p], sizes.symbols)
                                     : to_device(module, info, p, *matched[p], sizes.shapes, lifetime);
      wire = wire_argument(tensor);
    }
    checked.push_back({parameter.kind, wire.dtype, wire.shape, static_cast<std::int64_t>(wire.scalar_bits)});
    prepared.wire.arguments.push_back(std::move(wire));
    prepared.tensors.push_back(std::move(tensor));
  }
  const BoundCall bound = value_or_throw(bind_call(info, checked));
  check_strides(info, prepared.tensors, bound.symbols);
  prepared.wire.module = module.loaded();
  prepared.instance = instance_for(module, function, prepared.tensors);
  if (prepared.instance != nullptr) prepared.wire.instance = prepared.instance->handle;
  for (std::size_t p = 0; p < prepared.tensors.size(); ++p)
    if (info.parameters[p].kind == ParameterKind::tensor && info.parameters[p].direction != Direction::in)
      ++*Access::state(prepared.tensors[p]).version;
  return prepared;
}

void explain_failure(const ModuleState& module, std::span<const PreparedCall> calls, const Error& error) {
  for (const PreparedCall& call : calls)
    if (call.instance != nullptr) check_bound(*call.instance);
  const std::string cause = other_cause(module, error.what());
  if (!cause.empty()) throw Error(error.code(), error.what() + cause);
}

}  // namespace ferry::detail
