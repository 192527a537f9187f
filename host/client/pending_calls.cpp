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

const DeviceState& device_of(const TimedCall& call) { return *Access::module(call.function)->device; }

void expect_one_session(const std::vector<TimedCall>& calls) {
  const TimedCall& first = calls.front();
  for (const TimedCall& call : calls) {
    const DeviceState &device = device_of(first), &other = device_of(call);
    if (&device == &other) continue;
    throw Error(ErrorCode::invalid_argument, "expected calls of one device to measure in turns, got " +
                                                 first.function.info().name + " on " + device.name + " and " +
                                                 call.function.info().name + " on " + other.name +
                                                 (device.name == other.name ? ", another session" : ""));
  }
}

PreparedCall prepare(const Function& function, const std::vector<Argument>& arguments) {
  return detail::prepare(*Access::module(function), Access::index(function), arguments);
}

}  // namespace

Function send_function(const Device& device, const CompiledModule& module, const std::string& name) {
  const auto& functions = module.manifest().functions;
  const auto found = std::ranges::find(functions, name, &FunctionInfo::name);
  if (found == functions.end()) throw Error(ErrorCode::not_found, "expected a module with the function '" + name + "'");
  return Access::make(std::make_shared<detail::ModuleState>(device.state(), module, detail::Upload::at_once),
                      static_cast<std::size_t>(found - functions.begin()));
}

PendingCall send_call(const Function& function, const std::vector<Argument>& arguments) {
  const std::shared_ptr<detail::ModuleState>& module = Access::module(function);
  std::vector<PreparedCall> prepared{prepare(function, arguments)};
  auto pending = module->device->client->send(prepared.front().wire);
  return PendingCall({module, std::move(prepared), std::move(pending)});
}

PendingTimings send_measurement(const std::vector<TimedCall>& calls, const BenchOptions& options) {
  expect_one_session(calls);
  rpc::Evaluate evaluate;
  evaluate.options = options;
  evaluate.options.witnesses = 0;
  std::vector<PreparedCall> prepared;  // keeps unused outputs alive until they have been written
  const auto add = [&](const Function& function, const std::vector<Argument>& arguments) {
    prepared.push_back(prepare(function, arguments));
    evaluate.calls.push_back(prepared.back().wire);
  };
  for (const TimedCall& call : calls) add(call.function, call.arguments);
  const auto has_witness = [](const TimedCall& call) { return !call.witness.empty(); };
  if (options.isolated && std::ranges::all_of(calls, has_witness)) {
    for (const TimedCall& call : calls) add(call.function, call.witness);
    evaluate.options.witnesses = static_cast<std::uint32_t>(calls.size());
  }
  const std::shared_ptr<detail::ModuleState>& module = Access::module(calls.front().function);
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
  const std::uint64_t elements = a.elements();
  const rpc::Compare request = compare_request(Access::state(a), 0, Access::state(b), elements, rtol, atol);
  return {Access::state(a).device->client->send(request), elements};
}

std::optional<ContentDifference> PendingDifference::get() {
  const auto reply = if_supported([&] { return pending_.get(); });
  return reply ? std::optional(difference_of(*reply, elements_)) : std::nullopt;
}

void send_fill(const DeviceTensor& tensor, FillKind kind, std::uint64_t seed) {
  const TensorState& state = Access::state(tensor);
  ++*state.version;
  state.device->client->post(rpc::Fill{state.handle, kind, state.dtype, tensor.elements(), seed});
}

}  // namespace ferry::session
