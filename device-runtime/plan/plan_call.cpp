#include "device-runtime/plan/plan_call.h"

#include <algorithm>
#include <limits>

#include "device-runtime/threads/float_mode.h"

namespace ferry::device {
namespace {

// Turns the result of a step into one of the function. The runtime's own results are negative.
std::int32_t function_result(std::int32_t result, std::uint32_t first_message) {
  if (result <= 0) return result;
  const std::int64_t all = std::int64_t{result} + first_message;
  return all <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(all) : result;
}

}  // namespace

Result<std::unique_ptr<PlanCall>> PlanCall::make(std::span<Device* const> devices, Program& program,
                                                 const FunctionInfo& function, const Plan& plan,
                                                 std::span<const std::int64_t> symbols, PlanMemory memory) {
  std::unique_ptr<PlanCall> call(new PlanCall(devices));
  std::vector<std::int64_t> evaluated;
  std::span<const std::int64_t> values = symbols;
  if (!plan.values.empty()) {
    FERRY_ASSIGN(evaluated, evaluate_values(function, plan, symbols));
    values = evaluated;
  }
  for (const Workspace& workspace : plan.workspaces) {
    FERRY_ASSIGN(const std::uint64_t bytes, size_of(function, values, workspace.bytes));
    FERRY_TRY(call->workspaces_.add(workspace.device, bytes));
  }
  memory.workspaces = call->workspaces_.blocks();
  FERRY_ASSIGN(call->stream_, program.open_stream(function));
  FERRY_ASSIGN(call->bound_, bind_plan(function, plan, values, memory, *call->stream_));
  return call;
}

Result<std::unique_ptr<PlanCall>> PlanCall::prepare(std::span<Device* const> devices, Program& program,
                                                    const FunctionInfo& function,
                                                    std::span<const DeviceArgument> arguments, const BoundCall& bound,
                                                    const KeptMemory& kept) {
  return make(devices, program, function, function.plan, bound.symbols,
              {arguments, bound.tensor_bytes, {}, kept.persistent, kept.constants});
}

Result<std::unique_ptr<PlanCall>> PlanCall::prepare_init(std::span<Device* const> devices, Program& program,
                                                         const FunctionInfo& function,
                                                         std::span<const DeviceArgument> arguments,
                                                         const BoundCall& bound, const KeptMemory& kept,
                                                         const ConstantMemory* read_once) {
  auto call = make(devices, program, function, function.init, bound.symbols,
                   {arguments, bound.tensor_bytes, {}, kept.persistent, kept.constants});
  // A stream omits launches of nothing.
  if (call.is_ok() && read_once != nullptr &&
      call.value()->bound_.first_messages.size() == function.init.steps.size()) {
    call.value()->init_ = &function.init;
    call.value()->read_once_ = read_once;
  }
  return call;
}

std::int32_t PlanCall::run_init() {
  for (std::size_t i = 0; i < init_->steps.size(); ++i) {
    if (const std::int32_t result = stream_->run(i, true); result != 0) return ended(result, i);
    for_each_operand(init_->steps[i], [&](const Operand& operand) {
      if (operand.kind == OperandKind::constant) read_once_->drop_pages(operand.index);
    });
  }
  return 0;
}

std::int32_t PlanCall::run_steps(std::uint64_t times, bool traced) {
  if (!bound_.repeats.empty()) {
    std::int32_t result = 0;
    for (; times > 0 && result == 0; --times) result = run_between(0, bound_.first_messages.size(), {}, {traced, {}});
    return result;
  }
  const Outcome outcome = stream_->run_all(bound_.first_messages.size(), times, traced);
  return outcome.result == 0 ? 0 : ended(outcome.result, outcome.step);
}

std::int32_t PlanCall::ended(std::int32_t result, std::size_t step) {
  if (result != kLaunchFailed) return function_result(result, bound_.first_messages[step]);
  const std::int32_t of_launch = finish();
  return of_launch != 0 ? of_launch : result;
}

std::int32_t PlanCall::run_between(std::size_t step, std::size_t end, Next next, const RepeatRun& how) {
  while (step < end) {
    std::int32_t result = 0;
    if (next.repeat < bound_.repeats.size() && bound_.repeats[next.repeat].begin == step) {
      const BoundRepeat& repeat = bound_.repeats[next.repeat];
      result = run_repeat(repeat, how);
      next = {repeat.last_inner, repeat.last_operand};
      step = repeat.end;
    } else {
      for (; next.operand < bound_.operands.size() && bound_.operands[next.operand].step == step; ++next.operand) {
        const LoopOperand& operand = bound_.operands[next.operand];
        result = stream_->set(step, operand.operand, operand.base + bound_.values[operand.value]);
        if (result != 0) return result;
      }
      result = run_step(step++, how);
    }
    if (result != 0) return result;
  }
  return 0;
}

std::int32_t PlanCall::run_repeat(const BoundRepeat& repeat, const RepeatRun& how) {
  const auto inner = static_cast<std::size_t>(&repeat - bound_.repeats.data()) + 1;
  std::int64_t done = 0;
  std::int32_t result = 0;
  bool holds = true;
  for (; done < repeat.count && result == 0; ++done) {
    if (repeat.condition.memory != nullptr) result = read_condition(repeat.condition, holds);
    if (result != 0 || !holds) break;
    result = run_between(repeat.begin, repeat.end, {inner, repeat.first_operand}, how);
    // The next iteration would overwrite them.
    if (result == 0 && repeat.first_result != repeat.last_result) {
      result = finish(repeat.first_result, repeat.last_result);
    }
    for (const auto& [value, stride] : repeat.strides) bound_.values[value] += stride;
  }
  for (const auto& [value, stride] : repeat.strides) {
    bound_.values[value] -= static_cast<std::uint64_t>(done) * stride;
  }
  if (done > 0 || result != 0) return result;
  // The results of launches are read behind the repeat even where none has run.
  constexpr std::uint8_t kNone[sizeof(std::int32_t)] = {};
  for (std::size_t i = repeat.first_result; i < repeat.last_result; ++i) {
    failure_ = devices_[bound_.results[i].device]->write(bound_.results[i].memory, 0, kNone);
    if (!failure_.is_ok()) return -1;
  }
  return 0;
}

std::int32_t PlanCall::read_condition(const MemoryBlock& condition, bool& holds) {
  Device& device = *devices_[condition.device];
  // Calls on a CPU have ended.
  if (!device.uses_host_memory()) {
    if (const std::int32_t result = stream_->wait(); result != 0) return result;
  }
  std::uint8_t found = 0;
  failure_ = device.read(condition.memory, 0, {&found, 1});
  holds = found != 0;
  return failure_.is_ok() ? 0 : -1;
}

std::int32_t PlanCall::run_step(std::size_t step, const RepeatRun& how) {
  const bool is_timed = !how.elapsed_ns.empty();
  std::int32_t result = is_timed ? stream_->start_timing(step) : 0;
  if (result == 0) result = stream_->run(step, how.traced);
  if (result != 0) return ended(result, step);
  if (!is_timed) return 0;
  std::int64_t elapsed_ns = 0;
  result = stream_->end_timing(step);
  if (result == 0) result = stream_->wait();
  if (result == 0) result = stream_->elapsed(step, elapsed_ns);
  how.elapsed_ns[step] += elapsed_ns;
  return result;
}

std::int32_t PlanCall::finish(std::size_t first, std::size_t last) {
  if (const std::int32_t result = stream_->wait(); result != 0) return result;
  for (const ResultPlace& place : std::span(bound_.results).subspan(first, last - first)) {
    std::int32_t found = 0;
    failure_ = devices_[place.device]->read(place.memory, 0, {reinterpret_cast<std::uint8_t*>(&found), sizeof found});
    if (!failure_.is_ok()) return -1;
    if (found != 0) return function_result(found, place.first_message);
  }
  return 0;
}

std::int32_t PlanCall::run() {
  const FloatModeGuard guard;
  const std::int32_t result = init_ != nullptr ? run_init() : run_steps(1, true);
  return result != 0 ? result : finish();
}

std::int32_t PlanCall::sample(std::uint64_t calls, std::int64_t& elapsed_ns) {
  const FloatModeGuard guard;
  std::int32_t result = stream_->start_timing(0);
  if (result == 0) result = run_steps(calls, false);
  if (result == 0) result = stream_->end_timing(0);
  if (result == 0) result = finish();
  return result != 0 ? result : stream_->elapsed(0, elapsed_ns);
}

std::int32_t PlanCall::run_calls(std::uint64_t calls) {
  const std::int32_t result = run_steps(calls, false);
  return result != 0 ? result : finish();
}

std::int32_t PlanCall::run_alone(std::size_t step) {
  const std::int32_t result = run_step(step, {});
  return result != 0 ? result : finish();
}

std::vector<StepTime> PlanCall::steps() const {
  std::vector<StepTime> steps;
  for (std::size_t i = 0; i < bound_.first_messages.size(); ++i) steps.push_back(stream_->describe(i));
  return steps;
}

std::int32_t PlanCall::run_timed(std::span<std::int64_t> elapsed_ns) {
  const FloatModeGuard guard;
  if (!bound_.repeats.empty()) {
    std::ranges::fill(elapsed_ns, 0);
    const std::int32_t result = run_between(0, elapsed_ns.size(), {}, {true, elapsed_ns});
    return result == 0 ? finish() : result;
  }
  for (std::size_t i = 0; i < elapsed_ns.size(); ++i) {
    std::int32_t result = stream_->start_timing(i);
    if (result == 0) result = stream_->run(i, true);
    if (result != 0) return ended(result, i);
    if (result = stream_->end_timing(i); result != 0) return result;
  }
  const std::int32_t result = finish();
  for (std::size_t i = 0; i < elapsed_ns.size() && result == 0; ++i) {
    if (const std::int32_t failed = stream_->elapsed(i, elapsed_ns[i]); failed != 0) return failed;
  }
  return result;
}

}  // namespace ferry::device
