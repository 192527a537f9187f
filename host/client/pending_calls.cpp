#include "host/client/pending_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/client/measure_wire.h"

namespace ferry::session {

namespace {

using detail::Access;
using detail::DeviceState;
using detail::PreparedCall;
using detail::TensorState;

void expect_one_session(const std::vector<FunctionCall>& calls) {
  const auto name = [](const FunctionCall& call) {
    return call.module->compiled.manifest().functions[call.function].name;
  };
  const FunctionCall& first = calls.front();
  for (const FunctionCall& call : calls) {
    const DeviceState &device = *first.module->device, &other = *call.module->device;
    if (&device == &other) continue;
    throw Error(ErrorCode::invalid_argument, "expected calls of one device to measure in turns, got " + name(first) +
                                                 " on " + device.name + " and " + name(call) + " on " + other.name +
                                                 (device.name == other.name ? ", another session" : ""));
  }
}

}  // namespace

std::shared_ptr<detail::ModuleState> send_module(const Device& device, const CompiledModule& module) {
  return std::make_shared<detail::ModuleState>(device.state(), module, detail::Upload::at_once);
}

PendingCall send_call(const FunctionCall& call) {
  std::vector<PreparedCall> prepared{detail::prepare(*call.module, call.function, call.arguments)};
  auto pending = call.module->device->client->send(prepared.front().wire);
  return PendingCall({call.module, std::move(prepared), std::move(pending)});
}

PendingTimings send_measurement(const std::vector<FunctionCall>& calls, const BenchOptions& options) {
  expect_one_session(calls);
  rpc::Evaluate evaluate;
  evaluate.options = options;
  evaluate.options.witnesses = 0;
  std::vector<PreparedCall> prepared;  // keeps unused outputs alive until they have been written
  const auto add = [&](const FunctionCall& call, const std::vector<Argument>& arguments) {
    prepared.push_back(detail::prepare(*call.module, call.function, arguments));
    evaluate.calls.push_back(prepared.back().wire);
  };
  for (const FunctionCall& call : calls) add(call, call.arguments);
  const auto has_witness = [](const FunctionCall& call) { return !call.witness.empty(); };
  if (options.isolated && std::ranges::all_of(calls, has_witness)) {
    for (const FunctionCall& call : calls) add(call, call.witness);
    evaluate.options.witnesses = static_cast<std::uint32_t>(calls.size());
  }
  const std::shared_ptr<detail::ModuleState>& module = calls.front().module;
  auto pending = module->device->client->send(evaluate);
  return {{module, std::move(prepared), std::move(pending)}, calls.size()};
}

std::vector<Timing> PendingTimings::get() {
  Evaluation found = calls_.get();
  // A server of an earlier version measures the witnesses too.
  if (found.calls.size() > timed_) found.calls.resize(timed_);
  return timings_of(std::move(found), timed_);
}

PendingDifference send_comparison(const DeviceTensor& a, const DeviceTensor& b, double rtol, double atol) {
  const TensorState &one = Access::state(a), &other = Access::state(b);
  const rpc::Compare request{one.handle, one.offset, other.handle, other.offset, one.dtype, a.elements(), rtol, atol};
  return {one.device->client->send(request), a.elements()};
}

std::optional<ContentDifference> PendingDifference::get() {
  try {
    return difference_of(pending_.get(), elements_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return std::nullopt;
  }
}

void send_fill(const DeviceTensor& tensor, FillKind kind, std::uint64_t seed) {
  const TensorState& state = Access::state(tensor);
  ++*state.version;
  state.device->client->post(rpc::Fill{state.handle, kind, state.dtype, tensor.elements(), seed});
}

}  // namespace ferry::session
