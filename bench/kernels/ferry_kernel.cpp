#include "bench/kernels/ferry_kernel.h"

#include <optional>
#include <stdexcept>

#include "base/throw_status.h"
#include "device-runtime/device/cpu_device.h"
#include "device-runtime/plan/plan_call.h"

namespace ferry::bench {
struct FerryKernel::State {
  device::MemoryBudget budget{UINT64_MAX};
  device::CpuDevice device;
  device::Device* devices[1] = {&device};
  ModuleFile module;
  const FunctionInfo& function;
  std::vector<std::vector<std::int64_t>> shapes;
  std::unique_ptr<device::Program> program;
  std::optional<device::MemoryBlocks> persistent;
  std::unique_ptr<device::PlanCall> call;

  State(std::span<const std::uint8_t> bytes, unsigned threads)
      : device(ComputeDevice{}, threads, budget),
        module(value_or_throw(read_module(bytes))),
        function(module.manifest.functions.at(0)),
        shapes(value_or_throw(infer_shapes(function, {}))),
        program(value_or_throw(device.load(module, {}))) {}
};

FerryKernel::FerryKernel(std::span<const std::uint8_t> module, unsigned threads)
    : state_(std::make_unique<State>(module, threads)) {}

FerryKernel::~FerryKernel() = default;

const FunctionInfo& FerryKernel::info() const { return state_->function; }

const std::vector<std::vector<std::int64_t>>& FerryKernel::shapes() const { return state_->shapes; }

void FerryKernel::set_arguments(const std::vector<void*>& memory) {
  State& state = *state_;
  const FunctionInfo& function = state.function;
  std::vector<ArgumentShape> given;
  std::vector<device::DeviceArgument> arguments;
  for (std::size_t p = 0; p < memory.size(); ++p) {
    given.push_back({ParameterKind::tensor, function.parameters.at(p).dtype, state.shapes[p]});
    arguments.push_back({false, memory[p], 0});
  }
  const BoundCall bound = value_or_throw(bind_call(function, given));
  state.call.reset();
  state.persistent.emplace(value_or_throw(device::allocate_persistent(state.devices, function, bound.symbols)));
  const auto persistent = state.persistent->blocks();
  const auto init = value_or_throw(
      device::PlanCall::prepare_init(state.devices, *state.program, function, arguments, bound, {persistent}));
  if (init->run() != 0) throw std::runtime_error("the init plan of " + function.name + " failed");
  state.call = value_or_throw(
      device::PlanCall::prepare(state.devices, *state.program, function, arguments, bound, {persistent}));
}

void FerryKernel::run() {
  if (const std::int32_t result = state_->call->run(); result != 0) {
    throw std::runtime_error("the kernel returned " + std::to_string(result));
  }
}

}  // namespace ferry::bench
