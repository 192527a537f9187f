#include "host/client/measure_wire.h"
#include "host/client/pending_calls.h"
#include "host/client/prepared_call.h"

namespace ferry {

namespace {

using detail::PreparedCall;

std::vector<DeviceTensor> outputs_of(const FunctionInfo& info, PreparedCall& prepared) {
  std::vector<DeviceTensor> outputs;
  for (std::size_t p = 0; p < prepared.tensors.size(); ++p) {
    if (info.parameters[p].direction != Direction::in) outputs.push_back(std::move(prepared.tensors[p]));
  }
  return outputs;
}

// Sends a request that runs a call of the module and returns the answer.
template <class Request>
auto ask(const detail::ModuleState& module, const PreparedCall& call, const Request& request) {
  try {
    return module.device->client->call(request);
  } catch (const Error& error) {
    detail::explain_failure(module, std::span(&call, 1), error);
    throw;
  }
}

}  // namespace

session::CallSizes session::sizes_of_call(const FunctionInfo& function, const std::vector<Argument>& arguments) {
  return detail::find_sizes(function, detail::match_parameters(function, arguments));
}

std::vector<Timing> measure_in_turns(const std::vector<TimedCall>& calls, const BenchOptions& options) {
  if (calls.empty()) return {};
  return session::send_measurement(calls, options).get();
}

Function::Function(std::shared_ptr<detail::ModuleState> module, std::size_t index)
    : module_(std::move(module)), index_(index) {}

const FunctionInfo& Function::info() const { return module_->compiled.manifest().functions[index_]; }

std::string Function::signature() const { return signature_text(info()); }

std::uint64_t Function::last_elapsed_ns() const { return module_->last_elapsed_ns; }

std::vector<Argument> Function::on_device(const std::vector<Argument>& arguments) const {
  const std::vector<const Argument*> matched = detail::match_parameters(info(), arguments);
  PreparedCall prepared = detail::prepare(*module_, index_, arguments, detail::Lifetime::unknown);
  std::vector<Argument> all;
  for (std::size_t p = 0; p < matched.size(); ++p)
    all.push_back(prepared.wire.arguments[p].is_scalar ? *matched[p] : Argument(std::move(prepared.tensors[p])));
  return all;
}

std::vector<DeviceTensor> Function::call(const std::vector<Argument>& arguments) const {
  PreparedCall prepared = detail::prepare(*module_, index_, arguments);
  module_->last_elapsed_ns = ask(*module_, prepared, prepared.wire).elapsed_ns;
  return outputs_of(info(), prepared);
}

TimedOutputs Function::call_timed(const std::vector<Argument>& arguments, const StepOptions& options) const {
  PreparedCall prepared = detail::prepare(*module_, index_, arguments);
  try {
    const rpc::TimeSteps request{prepared.wire, options.repeat, options.cold, options.cores, options.threads};
    rpc::StepTimes times = ask(*module_, prepared, request);
    module_->last_elapsed_ns = times.elapsed_ns;
    return {outputs_of(info(), prepared), session::steps_of(std::move(times.steps), options.repeat)};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
  }
  // The server may be too old for this message; if anything else is unsupported, the call reports it.
  return {call(arguments), {}};
}

Timing Function::measure(const std::vector<Argument>& arguments, const BenchOptions& options) const {
  return std::move(measure_in_turns({{*this, arguments}}, options).front());
}

DeviceTensor Function::only_output(std::vector<DeviceTensor> outputs) const {
  if (outputs.size() == 1) return std::move(outputs.front());
  throw Error(ErrorCode::invalid_argument,
              info().name + " has " + std::to_string(outputs.size()) + " outputs: expected call({...}) for it");
}

}  // namespace ferry
