#include "bench/kernels/ferry_kernel.h"

#include <stdexcept>

#include "device-runtime/device/cpu_device.h"
#include "device-runtime/plan/plan_call.h"
#include "module/preparation.h"

namespace ferry::bench {
namespace {

template <class T>
T take(Result<T> result) {
  if (!result.is_ok()) throw std::runtime_error(result.status().message());
  return std::move(result.value());
}

}  // namespace

struct FerryKernel::State {
  device::MemoryBudget budget{UINT64_MAX};
  device::CpuDevice device;
  ModuleFile module;
  CallersFunction function;
  std::vector<std::vector<std::int64_t>> shapes;
  std::unique_ptr<device::Program> program;
  std::unique_ptr<device::Workload> call;

  State(std::span<const std::uint8_t> bytes, unsigned threads)
      : device(ComputeDevice{}, threads, budget),
        module(take(read_module(bytes))),
        function(take(callers_functions(module.manifest)).at(0)),
        shapes(take(infer_shapes(function.info, {}))),
        program(take(device.load(module, {}))) {}

  std::unique_ptr<device::Workload> bind(std::size_t index, const std::vector<void*>& memory) {
    const FunctionInfo& info = module.manifest.functions.at(index);
    const auto sizes = take(infer_shapes(info, {}));
    std::vector<ArgumentShape> given;
    std::vector<device::DeviceArgument> arguments;
    for (std::size_t p = 0; p < memory.size(); ++p) {
      given.push_back({ParameterKind::tensor, info.parameters.at(p).dtype, sizes[p]});
      arguments.push_back({false, memory[p], 0});
    }
    return take(device::PlanCall::prepare(device, *program, info, arguments, take(bind_call(info, given))));
  }

  // Computes the call's additional arguments from its constant ones.
  std::vector<void*> prepare_constants(const std::vector<void*>& memory) {
    const std::optional<FunctionInfo>& preparation = function.preparation;
    if (!preparation) return {};
    const std::vector<ParameterInfo>& parameters = function.info.parameters;
    const auto sizes = take(infer_shapes(*preparation, {}));
    std::vector<void*> arguments, made;
    for (std::size_t p = 0; p < preparation->parameters.size(); ++p) {
      const ParameterInfo& parameter = preparation->parameters[p];
      if (parameter.direction == Direction::out) {
        made.push_back(take(device.allocate(dense_bytes(parameter.dtype, sizes[p]).value())));
        arguments.push_back(made.back());
        continue;
      }
      for (std::size_t given = 0; given < parameters.size(); ++given)
        if (parameters[given].name == parameter.name) arguments.push_back(memory[given]);
    }
    const std::unique_ptr<device::Workload> once = bind(function.preparation_index, arguments);
    if (once->run() != 0) throw std::runtime_error(preparation->name + " failed");
    return made;
  }
};

FerryKernel::FerryKernel(std::span<const std::uint8_t> module, unsigned threads)
    : state_(std::make_unique<State>(module, threads)) {}

FerryKernel::~FerryKernel() = default;

const FunctionInfo& FerryKernel::info() const { return state_->function.info; }

const std::vector<std::vector<std::int64_t>>& FerryKernel::shapes() const { return state_->shapes; }

void FerryKernel::set_arguments(const std::vector<void*>& memory) {
  std::vector<void*> all = memory;
  for (void* constant : state_->prepare_constants(memory)) all.push_back(constant);
  state_->call = state_->bind(state_->function.index, all);
}

void FerryKernel::run() {
  if (const std::int32_t result = state_->call->run(); result != 0) {
    throw std::runtime_error("the kernel returned " + std::to_string(result));
  }
}

}  // namespace ferry::bench
