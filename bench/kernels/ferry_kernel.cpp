#include "bench/kernels/ferry_kernel.h"

#include <stdexcept>

#include "device-runtime/device/cpu_device.h"

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
  std::vector<std::vector<std::int64_t>> shapes;
  std::unique_ptr<device::Program> program;
  std::unique_ptr<device::Workload> call;

  explicit State(unsigned threads) : device(ComputeDevice{}, threads, budget) {}
};

FerryKernel::FerryKernel(std::span<const std::uint8_t> module, unsigned threads)
    : state_(std::make_unique<State>(threads)) {
  state_->module = take(read_module(module));
  state_->shapes = take(infer_shapes(info(), {}));
  state_->program = take(state_->device.load(state_->module, {}));
}

FerryKernel::~FerryKernel() = default;

const FunctionInfo& FerryKernel::info() const { return state_->module.manifest.functions.at(0); }

const std::vector<std::vector<std::int64_t>>& FerryKernel::shapes() const { return state_->shapes; }

void FerryKernel::set_arguments(const std::vector<void*>& memory) {
  std::vector<ArgumentShape> given;
  std::vector<device::DeviceArgument> arguments;
  for (std::size_t p = 0; p < memory.size(); ++p) {
    given.push_back({ParameterKind::tensor, info().parameters.at(p).dtype, state_->shapes[p]});
    arguments.push_back({false, memory[p], 0});
  }
  state_->call = take(state_->program->prepare(0, arguments, take(bind_call(info(), given))));
}

void FerryKernel::run() {
  if (const std::int32_t result = state_->call->run(); result != 0) {
    throw std::runtime_error("the kernel returned " + std::to_string(result));
  }
}

}  // namespace ferry::bench
