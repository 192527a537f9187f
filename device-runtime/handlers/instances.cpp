#include "device-runtime/handlers/instances.h"

#include "base/format.h"
#include "device-runtime/handlers/blobs.h"
#include "device-runtime/handlers/calls.h"
#include "device-runtime/handlers/find_call.h"
#include "device-runtime/handlers/isolated_init.h"

namespace ferry::device {
namespace {

Status check_persistent_buffer_limit(const SessionState& state, const FunctionInfo& info) {
  std::size_t buffers = info.persistent.size();
  state.instances.for_each(
      [&](rpc::Handle, const Instance& instance) { buffers += instance.persistent.blocks().size(); });
  if (buffers <= kMaxPersistentBuffers) return {};
  return {ErrorCode::resource_exhausted, format("%s: expected at most %zu persistent buffers a session, got %zu",
                                                info.name.c_str(), kMaxPersistentBuffers, buffers)};
}

// Returns at least as many bytes as the server keeps for an instance besides its persistent buffers, until it is freed.
std::uint64_t kept_bytes(const FunctionInfo& info, const std::vector<rpc::Argument>& arguments) {
  std::uint64_t bytes = sizeof(Instance) + info.persistent.size() * sizeof(MemoryBlock);
  for (const rpc::Argument& argument : arguments)
    bytes += sizeof argument + argument.shape.size() * sizeof(std::int64_t);
  return bytes + KeptCall::most_bytes(info);
}

// Returns one argument for each parameter.
Result<std::vector<rpc::Argument>> arguments_of(const FunctionInfo& info, const std::vector<rpc::Argument>& constants) {
  std::vector<rpc::Argument> arguments(info.parameters.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!info.parameters[i].is_constant) continue;
    if (count < constants.size()) arguments[i] = constants[count];
    ++count;
  }
  if (count == constants.size()) return arguments;
  return Status(ErrorCode::invalid_argument,
                format("%s: expected %zu constants, got %zu", info.name.c_str(), count, constants.size()));
}

// The constants that calls do not read are there only in here.
Result<rpc::CallReply> run_init_plan(SessionState& state, RequestContext& context, const CheckedCall& call,
                                     std::span<const MemoryBlock> persistent) {
  const Module& module = *call.module;
  const std::span<const MemoryBlock> known = module.constants->blocks();
  ConstantMemory constants(module.devices, {known.begin(), known.end()});
  FERRY_TRY(add_constants_to_bind(state, context, module.manifest, call.info().init, constants));
  if (auto reply = run_isolated_init(state, context, call, persistent, constants)) return std::move(*reply);
  FERRY_ASSIGN(const auto workload, PlanCall::prepare_init(module.devices, *module.program, call.info(), call.arguments,
                                                           call.bound, {persistent, constants.blocks()}, &constants));
  return run_once(state, context, call, *workload);
}

}  // namespace

Result<rpc::CallReply> handle_bind(SessionState& state, RequestContext& context, const rpc::Bind& request) {
  FERRY_TRY(state.instances.check_new(request.instance));
  FERRY_ASSIGN(CheckedCall call, find_call(state, context, request.module, request.function));
  const FunctionInfo& info = call.info();
  FERRY_TRY(check_persistent_buffer_limit(state, info));
  FERRY_ASSIGN(auto arguments, arguments_of(info, request.constants));
  FERRY_TRY(check_arguments(state, context, arguments, GivenArguments::constants, call));
  FERRY_ASSIGN(MemoryCharge charge, MemoryCharge::take(state.budget, kept_bytes(info, arguments)));
  FERRY_ASSIGN(MemoryBlocks persistent, allocate_persistent(call.module->devices, info, call.bound.symbols));
  FERRY_ASSIGN(const rpc::CallReply reply, run_init_plan(state, context, call, persistent.blocks()));
  call.module->blobs_to_bind.clear();
  state.blobs.release(call.module->manifest);
  state.instances.define(request.instance, std::make_unique<Instance>(call.module, call.function, std::move(arguments),
                                                                      std::move(persistent), std::move(charge)));
  return reply;
}

}  // namespace ferry::device
