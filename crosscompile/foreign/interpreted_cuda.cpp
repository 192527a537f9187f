#include "crosscompile/foreign/interpreted_cuda.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "base/quantity_text.h"
#include "crosscompile/foreign/cuda_compiler.h"
#include "crosscompile/foreign/cuda_functions.h"
#include "crosscompile/foreign/cuda_kernel.h"
#include "crosscompile/foreign/prototype.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ptx/launch.h"
#include "ferry/types.h"

namespace ferry::foreign {
namespace {

// Tensors lie far apart, so that an address is that of the nearest, and are aligned as on a GPU.
constexpr ptx::Word kTensorDistance = ptx::Word{1} << 40;

ptx::Word address_of(std::size_t parameter) { return (parameter + 1) * kTensorDistance; }

// The memory of one call: a region for each tensor.
std::vector<ptx::Region> regions_of(const FunctionInfo& function, std::vector<SanitizedArgument>& memory) {
  std::vector<ptx::Region> regions;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (parameter.kind != ParameterKind::tensor) continue;
    std::vector<std::uint8_t>& bytes = memory[p].bytes;
    ptx::Region region{.address = address_of(p), .bytes = bytes.size(), .content = bytes.data()};
    region.name = parameter.name;
    region.element_bytes = dtype_bytes(parameter.dtype);
    region.is_result = parameter.direction != Direction::in;
    region.is_constant = parameter.direction == Direction::in;
    if (parameter.direction == Direction::out) region.unwritten.assign(bytes.size(), 1);
    regions.push_back(std::move(region));
  }
  return regions;
}

// Returns the first element of a result that the kernel has not written; empty if there is none.
std::string missing_result(const std::vector<ptx::Region>& regions) {
  for (const ptx::Region& region : regions) {
    if (!region.is_result) continue;
    const auto missing = std::find(region.unwritten.begin(), region.unwritten.end(), 1);
    if (missing == region.unwritten.end()) continue;
    const auto offset = static_cast<ptx::Word>(missing - region.unwritten.begin());
    return "never writes " + ptx::place_in(region, region.address + offset);
  }
  return "";
}

}  // namespace

struct InterpretedCuda::Loaded {
  ptx::Program program;
  const ptx::Function* kernel = nullptr;
  std::vector<std::uint8_t> variables;  // as the program defines them
  std::mutex running;
};

InterpretedCuda::InterpretedCuda(const ForeignKernel& kernel, const Signature& signature, const Target& target)
    : signature_(signature), loaded_(std::make_unique<Loaded>()) {
  if (!signature.launch) throw CompileError(kernel.file + ": expected the launch of " + signature.c_name);
  const std::string text = cuda_ptx(kernel, target);
  const CudaFunction function = find_kernel(kernels_in_ptx(text), kernel, signature);
  const std::vector<codegen::cuda::CudaCode> declared = compile_cuda_file(
      kernel.file, kernel.source, kernel.flags,
      {{target.gpus.front(), codegen::cuda::CudaForm::ptx, declaring_text(), {declaring_expression(function)}}});
  check_prototype(declaration_in(declared.front().symbols.at(0), function, kernel.source, kernel.file), signature,
                  kernel.file);
  try {
    loaded_->program = ptx::parse(text);
  } catch (const ptx::ParseError& error) {
    throw CompileError(kernel.file + " cannot be checked: " + error.what());
  }
  const auto found = loaded_->program.functions.find(function.symbol);
  if (found == loaded_->program.functions.end())
    throw InternalError(kernel.file + ": its PTX has no '" + function.symbol + "'");
  loaded_->kernel = found->second.get();
  loaded_->variables = loaded_->program.memory;
}

InterpretedCuda::~InterpretedCuda() = default;

SanitizedRun InterpretedCuda::run(const std::vector<SanitizedArgument>& arguments,
                                  const std::vector<std::int64_t>& symbols, double deadline) const {
  const std::scoped_lock lock(loaded_->running);
  const FunctionInfo& function = signature_.function;
  const LaunchExtents extents = launch_extents(*signature_.launch, function, symbols);
  loaded_->program.memory = loaded_->variables;
  std::vector<SanitizedArgument> memory = arguments;
  ptx::Launch launch{
      .program = &loaded_->program, .kernel = loaded_->kernel, .grid = extents.grid, .block = extents.block};
  launch.dynamic_bytes = extents.shared_bytes;
  launch.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                           std::chrono::duration<double>(deadline));
  const std::vector<ptx::Parameter>& parameters = loaded_->kernel->parameters;
  if (parameters.size() != signature_.passed.size()) throw InternalError(function.name + ": other parameters in PTX");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const codegen::PassedArgument& argument = signature_.passed[i];
    const bool is_tensor = !argument.is_size && function.parameters[argument.index].kind == ParameterKind::tensor;
    const std::uint64_t bits = argument.is_size ? static_cast<std::uint64_t>(symbols[argument.index])
                               : is_tensor      ? address_of(argument.index)
                                                : memory[argument.index].scalar_bits;
    launch.parameters.resize(std::max(launch.parameters.size(), parameters[i].offset + parameters[i].bytes));
    std::memcpy(launch.parameters.data() + parameters[i].offset, &bits, std::min(sizeof bits, parameters[i].bytes));
  }
  SanitizedRun run;
  run.outputs.resize(function.parameters.size());
  try {
    std::vector<ptx::Region> regions = regions_of(function, memory);
    const bool is_empty = extents.grid[0] == 0 || extents.grid[1] == 0 || extents.grid[2] == 0;
    if (!is_empty) regions = ptx::run(launch, std::move(regions));
    run.mistake = missing_result(regions);
  } catch (const ptx::Fault& fault) {
    run.mistake = fault.kind == ptx::FaultKind::endless
                      ? "the call took longer than its deadline of " + seconds_text(deadline)
                      : fault.what();
  }
  for (std::size_t p = 0; p < memory.size() && run.mistake.empty(); ++p)
    if (function.parameters[p].kind == ParameterKind::tensor && function.parameters[p].direction != Direction::in)
      run.outputs[p] = std::move(memory[p].bytes);
  return run;
}

}  // namespace ferry::foreign
