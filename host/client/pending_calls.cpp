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

// Adds the handles of the tensors that are no constants.
void add_buffers(const FunctionInfo& info, const rpc::Call& call, std::vector<std::uint64_t>& buffers) {
  for (std::size_t p = 0; p < call.arguments.size(); ++p)
    if (!call.arguments[p].is_scalar && !info.parameters[p].is_constant) buffers.push_back(call.arguments[p].buffer);
}

// Adds what such a call has in place of the timed one's: numbers, and the handles and shapes of tensors.
void add_other_sizes(const FunctionInfo& info, const rpc::Call& call, std::vector<std::uint64_t>& words) {
  for (std::size_t p = 0; p < call.arguments.size(); ++p) {
    if (info.parameters[p].is_constant) continue;
    const rpc::Argument& argument = call.arguments[p];
    words.push_back(argument.is_scalar ? argument.scalar_bits : argument.buffer);
    words.insert(words.end(), argument.shape.begin(), argument.shape.end());
  }
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
  evaluate.options.witness_buffers = evaluate.options.check_buffers = evaluate.options.check_calls = {};
  std::vector<PreparedCall> prepared;  // keeps unused outputs alive until they have been written
  const auto add = [&](const Function& function, const std::vector<Argument>& arguments) {
    prepared.push_back(prepare(function, arguments));
    evaluate.calls.push_back(prepared.back().wire);
  };
  for (const TimedCall& call : calls) add(call.function, call.arguments);
  const auto add_beside = [&](std::vector<std::vector<Argument>> TimedCall::* beside, std::size_t first, auto& add_one,
                              std::vector<std::uint64_t>& words) {
    for (std::size_t i = first; i < (calls.front().*beside).size(); ++i) {
      for (const TimedCall& call : calls) {
        prepared.push_back(prepare(call.function, (call.*beside)[i]));
        add_one(call.function.info(), prepared.back().wire, words);
      }
    }
  };
  const auto is_alike = [&](const TimedCall& call) {
    return call.witnesses.size() == calls.front().witnesses.size() &&
           call.checks.size() == calls.front().checks.size() &&
           call.other_sizes.size() == calls.front().other_sizes.size();
  };
  if (!std::ranges::all_of(calls, is_alike))
    throw Error(ErrorCode::invalid_argument, "expected as many witnesses and checks of each call");
  if (options.isolated && !calls.front().witnesses.empty()) {
    for (const TimedCall& call : calls) add(call.function, call.witnesses.front());
    evaluate.options.witnesses = static_cast<std::uint32_t>(calls.size());
    add_beside(&TimedCall::witnesses, 1, add_buffers, evaluate.options.witness_buffers);
  }
  if (options.isolated) {
    add_beside(&TimedCall::checks, 0, add_buffers, evaluate.options.check_buffers);
    add_beside(&TimedCall::other_sizes, 0, add_other_sizes, evaluate.options.check_calls);
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
