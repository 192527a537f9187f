#include "device-runtime/handlers/call_arguments.h"

#include <algorithm>

#include "base/format.h"
#include "device-runtime/handlers/find_call.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kViewAlignment = 64;

ArgumentShape shape_of(const rpc::Argument& argument) {
  return {argument.is_scalar ? ParameterKind::scalar : ParameterKind::tensor, argument.dtype, argument.shape,
          static_cast<std::int64_t>(argument.scalar_bits)};
}

std::string argument_label(const FunctionInfo& info, std::size_t index) {
  return format("%s: argument %zu '%s'", info.name.c_str(), index + 1, info.parameters[index].name.c_str());
}

struct View {
  const Buffer* buffer = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Result<View> find_view(SessionState& state, RequestContext& context, const rpc::Argument& argument, std::uint64_t bytes,
                       const FunctionInfo& info, std::size_t index) {
  if (argument.buffer == 0 && bytes == 0) return View{};
  FERRY_ASSIGN(const Buffer* buffer, state.buffers.find(context, argument.buffer));
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  if (argument.offset % kViewAlignment != 0) {
    return Status(ErrorCode::invalid_argument,
                  format("%s: expected an offset that is a multiple of %llu, got %llu",
                         argument_label(info, index).c_str(), number(kViewAlignment), number(argument.offset)));
  }
  if (argument.offset > buffer->bytes() || bytes > buffer->bytes() - argument.offset) {
    return Status(ErrorCode::invalid_argument,
                  format("%s: expected a buffer of at least %llu bytes, got %llu", argument_label(info, index).c_str(),
                         number(argument.offset) + number(bytes), number(buffer->bytes())));
  }
  if (info.parameters[index].direction != Direction::out) {
    FERRY_TRY(buffer->check_contents(context, argument.buffer, argument.offset, bytes));
  }
  return View{buffer, argument.offset, argument.offset + bytes};
}

// Kernels are compiled under the assumption that memory they write is not accessed through another argument.
Status check_overlaps(const FunctionInfo& info, const std::vector<View>& views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (std::size_t j = i + 1; j < views.size(); ++j) {
      if (views[i].buffer == nullptr || views[i].buffer != views[j].buffer) continue;
      if (std::max(views[i].begin, views[j].begin) >= std::min(views[i].end, views[j].end)) continue;
      const auto only_read = [&](std::size_t k) { return info.parameters[k].direction == Direction::in; };
      if (only_read(i) && only_read(j)) continue;
      return {
          ErrorCode::invalid_argument,
          format("%s: arguments %zu '%s' and %zu '%s' overlap, and the function writes one of them", info.name.c_str(),
                 i + 1, info.parameters[i].name.c_str(), j + 1, info.parameters[j].name.c_str())};
    }
  }
  return {};
}

}  // namespace

Status check_arguments(SessionState& state, RequestContext& context, std::span<const rpc::Argument> arguments,
                       GivenArguments given, CheckedCall& call) {
  const FunctionInfo& info = call.info();
  std::vector<ArgumentShape> shapes;
  shapes.reserve(arguments.size());
  for (const rpc::Argument& argument : arguments) shapes.push_back(shape_of(argument));
  FERRY_ASSIGN(call.bound, bind_call(info, shapes, given));

  std::vector<View> views(arguments.size());
  call.arguments.reserve(views.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const rpc::Argument& argument = arguments[i];
    if (argument.is_scalar) {
      call.arguments.push_back({true, nullptr, argument.scalar_bits});
      continue;
    }
    FERRY_ASSIGN(views[i], find_view(state, context, argument, call.bound.tensor_bytes[i], info, i));
    const Device& device = *call.module->devices[info.parameters[i].device];
    if (views[i].buffer != nullptr && &views[i].buffer->device() != &device) {
      return Status(ErrorCode::invalid_argument,
                    format("%s: expected memory of the device that the module is on (%s), got some of another (%s)",
                           argument_label(info, i).c_str(), device.describe().kind.c_str(),
                           views[i].buffer->device().describe().kind.c_str()));
    }
    std::uint8_t* memory = views[i].buffer == nullptr ? nullptr : static_cast<std::uint8_t*>(views[i].buffer->memory());
    call.arguments.push_back({false, memory == nullptr ? nullptr : memory + argument.offset, 0});
  }
  return check_overlaps(info, views);
}

Result<CheckedCall> check_call(SessionState& state, RequestContext& context, const rpc::Call& request) {
  FERRY_ASSIGN(CheckedCall call, find_call(state, context, request.module, request.function));
  FERRY_TRY(check_arguments(state, context, request.arguments, GivenArguments::all, call));
  FERRY_TRY(find_instance(state, context, request, call));
  return call;
}

KeptMemory CheckedCall::kept() const {
  return {instance == nullptr ? std::span<const MemoryBlock>() : instance->persistent.blocks(),
          module->constants->blocks()};
}

Result<std::unique_ptr<PlanCall>> prepare_call(const CheckedCall& call) {
  return PlanCall::prepare(call.module->devices, *call.module->program, call.info(), call.arguments, call.bound,
                           call.kept());
}

Status check_damage(const CheckedCall& call) {
  MemoryDamage damage;
  for (const Device* device : call.module->devices)
    if (damage.memory == nullptr) damage = device->memory_damage();
  if (damage.memory == nullptr) return {};
  std::string beside = "a tensor";
  for (std::size_t i = 0; i < call.arguments.size() && i < call.info().parameters.size(); ++i) {
    if (call.arguments[i].memory == damage.memory) beside = "'" + call.info().parameters[i].name + "'";
  }
  return {ErrorCode::invalid_argument,
          format("%s: the kernel wrote outside of its tensors, %s %s", call.info().name.c_str(),
                 damage.is_behind ? "behind" : "before", beside.c_str())};
}

void mark_outputs_written(SessionState& state, const rpc::Call& request, const CheckedCall& call) {
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    if (request.arguments[i].is_scalar || call.info().parameters[i].direction == Direction::in) continue;
    Buffer* buffer = state.buffers.find_quietly(request.arguments[i].buffer);
    if (buffer != nullptr) buffer->mark_written(request.arguments[i].offset, call.bound.tensor_bytes[i]);
  }
}

void mark_outputs_unwritten(SessionState& state, const rpc::Call& request, std::uint64_t cause) {
  const FunctionInfo* info = nullptr;
  if (const Module* module = state.modules.find_quietly(request.module)) {
    for (const FunctionInfo& function : module->manifest.functions) {
      if (function.name == request.function) info = &function;
    }
  }
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const rpc::Argument& argument = request.arguments[i];
    // If the function is unknown, every argument may be an output.
    const bool only_read =
        info != nullptr && i < info->parameters.size() && info->parameters[i].direction == Direction::in;
    if (argument.is_scalar || only_read) continue;
    Buffer* buffer = state.buffers.find_quietly(argument.buffer);
    if (buffer == nullptr) continue;
    // If the size is invalid, the whole buffer counts as unwritten.
    buffer->mark_unwritten(argument.offset, dense_bytes(argument.dtype, argument.shape).value_or(UINT64_MAX), cause);
  }
}

}  // namespace ferry::device
