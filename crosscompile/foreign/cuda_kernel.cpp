#include "crosscompile/foreign/cuda_kernel.h"

#include <algorithm>

#include "crosscompile/foreign/cuda_compiler.h"
#include "crosscompile/foreign/cuda_functions.h"
#include "crosscompile/foreign/prototype.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/needed_features.h"
#include "ferry/runtime_api.h"
#include "module/module_file.h"

namespace ferry::foreign {
namespace {

using codegen::cuda::CudaCode;
using codegen::cuda::CudaForm;

void check_is_cuda(const ForeignKernel& kernel, const Target& target) {
  if (target.gpus.empty())
    throw CompileError(kernel.file + " is CUDA C: expected a target such as 'cuda -arch=sm_90', got '" + target.text +
                       "'");
  if (target.cuda_compiler == CudaCompiler::llvm)
    throw CompileError(kernel.file + " is compiled by NVRTC alone: expected a target without -compiler=llvm, got '" +
                       target.text + "'");
}

std::string ptx_text(const CudaCode& ptx) {
  std::string text(ptx.bytes.begin(), ptx.bytes.end());
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

ValueIndex value(FunctionInfo& function, const ManifestExpr& expr) {
  return add_value(function.plan, function.symbols.size(), expr);
}

Plan launch_plan(const Signature& signature, const std::string& symbol) {
  FunctionInfo function = signature.function;
  function.plan = {};
  LaunchStep step;
  step.kernel = symbol;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    step.grid[axis] = value(function, signature.launch->grid[axis]);
    step.block[axis] = value(function, signature.launch->block[axis]);
  }
  step.shared_bytes = value(function, signature.launch->shared);
  for (const codegen::PassedArgument& argument : signature.passed) {
    const auto index = static_cast<std::uint32_t>(argument.index);
    // CUDA reads as many bytes of a size as the kernel's parameter has, its low ones.
    const OperandKind kind = argument.is_size                                           ? OperandKind::value
                             : function.parameters[index].kind == ParameterKind::tensor ? OperandKind::argument
                                                                                        : OperandKind::scalar;
    step.operands.push_back({kind, index, kNoValue});
  }
  function.plan.steps.emplace_back(std::move(step));
  return std::move(function.plan);
}

// Compiles to PTX, and finds the kernel of each signature.
struct Found {
  std::string ptx;
  std::vector<CudaFunction> functions;  // one for each signature
};
Found find_kernels(const ForeignKernel& kernel, const Target& target) {
  Found found;
  found.ptx = cuda_ptx(kernel, target);
  const std::vector<CudaFunction> all = kernels_in_ptx(found.ptx);
  for (const Signature& signature : kernel.signatures) found.functions.push_back(find_kernel(all, kernel, signature));
  return found;
}

}  // namespace

std::string cuda_ptx(const ForeignKernel& kernel, const Target& target) {
  check_is_cuda(kernel, target);
  return ptx_text(
      compile_cuda_file(kernel.file, kernel.source, kernel.flags, {{target.gpus.front(), CudaForm::ptx}}).front());
}

std::vector<std::uint8_t> compile_cuda_kernel(const ForeignKernel& kernel, const Target& target) {
  const Found found = find_kernels(kernel, target);
  std::vector<CudaTask> tasks;
  CudaTask& declaring = tasks.emplace_back(CudaTask{target.gpus.front(), CudaForm::ptx, declaring_text()});
  for (const CudaFunction& one : found.functions) declaring.expressions.push_back(declaring_expression(one));
  for (const std::string& gpu : target.gpus) tasks.push_back({gpu});
  const std::vector<CudaCode> codes = compile_cuda_file(kernel.file, kernel.source, kernel.flags, tasks);
  ModuleFile module;
  module.manifest.abi_version = FERRY_ABI_VERSION;
  module.manifest.devices = {{device_kind_name(target.device.kind), "", needed_features(target)}};
  module.manifest.target = target.text;
  for (std::size_t i = 0; i < kernel.signatures.size(); ++i) {
    const Signature& signature = kernel.signatures[i];
    if (!signature.launch) throw CompileError(kernel.file + ": expected the launch of " + signature.c_name);
    check_prototype(declaration_in(codes.front().symbols.at(i), found.functions[i], kernel.source, kernel.file),
                    signature, kernel.file);
    module.manifest.functions.push_back(signature.function);
    module.manifest.functions.back().plan = launch_plan(signature, found.functions[i].symbol);
  }
  if (const Status status = check_manifest(module.manifest); !status.is_ok())
    throw CompileError("signature: " + status.message());
  for (std::size_t g = 0; g < target.gpus.size(); ++g)
    module.images.push_back({ImageKind::cubin, codes[g + 1].bytes, 0, target.gpus[g]});
  if (target.cuda_compiler == CudaCompiler::both)
    module.images.push_back({ImageKind::ptx, {found.ptx.begin(), found.ptx.end()}, 0, target.gpus.front()});
  module.source = kernel.source;
  return write_module(module);
}

}  // namespace ferry::foreign
