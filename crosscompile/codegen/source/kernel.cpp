#include "crosscompile/codegen/source/kernel.h"

#include "crosscompile/codegen/source/statements.h"
#include "crosscompile/codegen/source/workspace.h"
#include "crosscompile/ir/passed_parameters.h"
#include "crosscompile/ir/print_context.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/symbol.h"
#include "crosscompile/ir/uses.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace ferry::codegen::source {
namespace {

// Sizes of tensors are assumed to be below this where only intermediate overflow is in question.
constexpr std::int64_t kAssumedSize = std::int64_t{1} << 31;

std::string declaration(const ir::FunctionParameter& parameter, ir::PrintNames& names) {
  if (parameter.kind == ParameterKind::scalar)
    return std::string(dtype_name(parameter.scalar.type().code)) + " " + parameter.name;
  const char* direction = parameter.direction == Direction::in    ? "in "
                          : parameter.direction == Direction::out ? "out "
                                                                  : "inout ";
  std::string shape;
  for (const ir::Expr& extent : parameter.buffer->shape)
    shape += (shape.empty() ? "" : ", ") + expr_text(extent, names);
  return direction + std::string(dtype_name(parameter.buffer->dtype)) + "[" + shape + "] " + parameter.name;
}

}  // namespace

std::string comment(const ir::Function& function) {
  ir::PrintNames names;
  for (const ir::Expr& symbol : function.symbols) names.of(*symbol.as<ir::Var>());
  std::string text = "/* " + function.name + "(", arguments;
  const std::vector<bool> passed = ir::passed_parameters(function);
  for (std::size_t p = 0; p < passed.size(); ++p) {
    const ir::FunctionParameter& parameter = function.parameters[p];
    text += (p == 0 ? "" : ", ") + declaration(parameter, names);
    if (passed[p]) arguments += (arguments.empty() ? "" : ", ") + parameter.name;
  }
  text += ")";
  for (const ir::Expr& symbol : function.symbols)
    arguments += (arguments.empty() ? "" : ", ") + names.of(*symbol.as<ir::Var>());
  text += "\n   args: " + (arguments.empty() ? "none" : arguments);
  for (const ir::Requirement& requirement : function.requirements)
    text += "\n   requires " + expr_text(requirement.condition, names) + ": " + requirement.message;
  const auto workspace = [&](const char* kind, const ir::Expr& bytes) {
    if (bytes.defined()) text += std::string("\n   ") + kind + " workspace: " + expr_text(bytes, names) + " bytes";
  };
  workspace("call", function.call_workspace);
  workspace("thread", function.thread_workspace);
  for (std::size_t i = 0; i < function.messages.size(); ++i)
    text += "\n   returns " + std::to_string(i + 1) + ": " + function.messages[i];
  // A message may contain the end of a comment.
  for (std::size_t at = 2; (at = text.find("*/", at)) != std::string::npos;) text.replace(at, 2, "* /");
  return text + " */\n";
}

void note_sizes(FunctionState& state) {
  for (const ir::FunctionParameter& parameter : state.source.parameters) {
    if (parameter.kind != ParameterKind::tensor) continue;
    for (const ir::Expr& extent : parameter.buffer->shape) {
      if (extent.as<ir::Var>() == nullptr) continue;
      // A symbol that is a dimension of an input is a size, and so not negative.
      const bool is_size = parameter.direction != Direction::out;
      if (is_size) state.known[extent.get()].min = 0;
      const auto [entry, is_new] =
          state.assumed.try_emplace(extent.get(), analysis::ValueRange{-kAssumedSize, kAssumedSize});
      if (is_size) entry->second.min = 0;
    }
  }
}

namespace {

bool contains(const std::vector<ir::Expr>& variables, const ir::Expr& var) {
  return std::any_of(variables.begin(), variables.end(), [&](const ir::Expr& one) { return one.get() == var.get(); });
}

void print_scalar(FunctionState& state, const ir::Expr& var, const std::string& name, std::size_t index) {
  const DType type = var.type().code;
  const std::string value = "*(const " + memory_type(type) + "*)args[" + std::to_string(index) + "]";
  state.line("const " + value_type(type) + " " + name + " = " + value + (type == DType::boolean ? " != 0;" : ";"));
}

// Prints the arguments that the body uses. Sizes and scalars get their names first, because readers know them.
void print_arguments(FunctionState& state) {
  const ir::Function& function = state.source;
  const std::vector<ir::BufferRef> buffers = ir::used_buffers(function.body);
  const std::vector<ir::Expr> variables = ir::free_vars(function.body);
  std::unordered_set<const void*> declared;
  const auto name_of = [&](const ir::Expr& var) {
    declared.insert(var.get());
    return state.names.declare(var);
  };
  const std::vector<bool> passed = ir::passed_parameters(function);
  std::size_t index = 0;
  for (std::size_t p = 0; p < passed.size(); ++p) {
    if (!passed[p]) continue;
    const ir::FunctionParameter& parameter = function.parameters[p];
    const std::size_t place = index++;
    if (parameter.kind == ParameterKind::scalar) {
      if (contains(variables, parameter.scalar) && !declared.contains(parameter.scalar.get()))
        print_scalar(state, parameter.scalar, name_of(parameter.scalar), place);
      continue;
    }
    const ir::BufferRef& buffer = parameter.buffer;
    if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) continue;
    const std::string name = state.names.declare(buffer.get(), parameter.name);
    const std::string constant = parameter.direction == Direction::in ? "const " : "";
    state.line(constant + memory_type(buffer->dtype) + "* " + std::string(state.unit.dialect.restrict) + " " + name +
               " = args[" + std::to_string(place) + "];  " + shape_comment(*buffer));
  }
  for (const ir::Expr& symbol : function.symbols) {
    const std::size_t place = index++;
    if (contains(variables, symbol) && !declared.contains(symbol.get()))
      print_scalar(state, symbol, name_of(symbol), place);
  }
}

bool mentions(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

}  // namespace

std::string symbol_of(const ir::Function& function) { return identifier(ir::function_symbol(function)); }

void print_kernel(Unit& unit, const ir::Function& function) {
  FunctionState state(unit, function);
  state.symbol = symbol_of(function);
  note_sizes(state);
  print_arguments(state);
  print_workspace_blocks(state, function.body);
  print_stmt(state, function.body);
  state.line("return 0;");
  if (!mentions(state.text, "rt->")) state.text = "  (void)rt;\n" + state.text;
  if (!mentions(state.text, "args[")) state.text = "  (void)args;\n" + state.text;
  unit.functions.push_back(comment(function) + "int32_t " + state.symbol +
                           "(void* const* args, const ferry_runtime_api* rt) {\n" + state.text + "}\n");
}

}  // namespace ferry::codegen::source
