#include "crosscompile/codegen/source/gpu_kernel.h"

#include "crosscompile/codegen/source/expressions.h"
#include "crosscompile/codegen/source/kernel.h"
#include "crosscompile/codegen/source/statements.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::codegen::source {
namespace {

using passes::GpuKernel;
using passes::KernelAxis;
using passes::KernelParameter;

constexpr std::size_t kAxes = 3;

std::int64_t threads(const GpuKernel& kernel, std::size_t axis) {
  const std::int64_t* known = ir::as_int(kernel.block[axis].extent);
  if (known == nullptr) throw InternalError("the number of threads is not constant");
  return *known;
}

// Declares a parameter of a kernel, for which OpenCL does not allow bool.
std::string parameter_text(FunctionState& state, const KernelParameter& parameter) {
  if (parameter.buffer == nullptr) {
    const std::string name = state.names.declare(parameter.variable);
    return "const " + memory_type(parameter.variable.type().code) + " " + name;
  }
  const ir::Buffer& buffer = *parameter.buffer;
  const Dialect& dialect = state.unit.dialect;
  const std::string name = state.names.declare(&buffer, buffer.name);
  const std::string constant = parameter.is_input ? "const " : "";
  // Parts of the workspace may overlap, so they are not restrict pointers.
  const std::string alone = parameter.offset.defined() ? "" : std::string(dialect.restrict) + " ";
  return std::string(dialect.global) + constant + memory_type(buffer.dtype) + "* " + alone + name;
}

std::string signature(FunctionState& state, const GpuKernel& kernel) {
  const Dialect& dialect = state.unit.dialect;
  std::string text(dialect.kernel), sizes;
  std::int64_t all = 1;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    all *= threads(kernel, axis);
    sizes += (axis > 0 ? ", " : "") + std::to_string(threads(kernel, axis));
  }
  if (dialect.language == Language::cuda)
    text += "void __launch_bounds__(" + std::to_string(all) + ") ";
  else
    text += "__attribute__((reqd_work_group_size(" + sizes + "))) void ";
  text += kernel.symbol + "(";
  const std::string indent(4, ' ');
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    text += (i > 0 ? ",\n" : "\n") + indent + parameter_text(state, kernel.parameters[i]);
  return text + ") {\n";
}

void print_axis(FunctionState& state, const KernelAxis& axis, std::string_view value) {
  if (!axis.var.defined()) return;
  const ir::For loop = *ir::For::make(axis.var, 0, axis.extent, ir::ForKind::serial, ir::Block::make({})).as<ir::For>();
  note_loop(state, loop);
  const std::string name = state.names.declare(axis.var);
  state.line("const int64_t " + name + " = " + std::string(value) + ";");
}

void print_shared(FunctionState& state, const GpuKernel& kernel) {
  const Dialect& dialect = state.unit.dialect;
  const bool at_launch = dialect.language == Language::cuda && kernel.shared_bytes > passes::kStaticSharedBytes;
  if (at_launch) state.line("extern __shared__ __align__(16) char shared_memory[];");
  for (const passes::SharedArray& array : kernel.shared) {
    const ir::Buffer& buffer = *array.buffer;
    const std::string type = memory_type(buffer.dtype), name = state.names.declare(&buffer, buffer.name);
    const std::string comment = buffer.shape.size() > 1 ? "  " + shape_comment(buffer) : "";
    if (at_launch) {
      state.line(type + "* const " + name + " = (" + type + "*)(shared_memory + " + std::to_string(array.offset) +
                 ");" + comment);
    } else {
      state.line(std::string(dialect.shared) + type + " " + name + "[" +
                 std::to_string(std::max<std::int64_t>(array.elements, 1)) + "];" + comment);
    }
  }
}

// Returns "/* ((M + 63) / 64, 1, 1) blocks of (64, 1, 1) threads */", for example.
std::string launch_comment(FunctionState& state, const GpuKernel& kernel) {
  const auto list = [&](const std::array<KernelAxis, kAxes>& axes) {
    std::string text;
    for (const KernelAxis& axis : axes) text += (text.empty() ? "" : ", ") + print_index(state, axis.extent);
    return text;
  };
  return "/* (" + list(kernel.grid) + ") blocks of (" + list(kernel.block) + ") threads */\n";
}

void print_kernel(Unit& unit, const ir::Function& function, const GpuKernel& kernel) {
  FunctionState state(unit, function);
  state.symbol = kernel.symbol;
  state.names.fresh("shared_memory");
  note_sizes(state);
  const std::string head = signature(state, kernel);
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    print_axis(state, kernel.grid[axis], unit.dialect.block_index[axis]);
    print_axis(state, kernel.block[axis], unit.dialect.thread_index[axis]);
  }
  print_shared(state, kernel);
  print_stmt(state, kernel.body);
  FunctionState outside(unit, function);
  note_sizes(outside);
  for (const ir::Expr& symbol : function.symbols) outside.names.declare(symbol);
  for (const ir::FunctionParameter& parameter : function.parameters)
    if (parameter.kind == ParameterKind::scalar && !outside.names.knows(parameter.scalar.get()))
      outside.names.declare(parameter.scalar);
  unit.functions.push_back(launch_comment(outside, kernel) + head + state.text + "}\n");
}

}  // namespace

void print_gpu_kernels(Unit& unit, const ir::Function& function) {
  const std::vector<GpuKernel> kernels = passes::extract_kernels(function);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    print_kernel(unit, function, kernels[i]);
    if (i == 0) unit.functions.back() = comment(function) + unit.functions.back();
  }
}

}  // namespace ferry::codegen::source
