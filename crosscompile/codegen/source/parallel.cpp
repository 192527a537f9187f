#include "crosscompile/codegen/source/parallel.h"

#include "crosscompile/analysis/work_estimate.h"
#include "crosscompile/codegen/source/expressions.h"
#include "crosscompile/codegen/source/statements.h"
#include "crosscompile/codegen/source/workspace.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <utility>

namespace ferry::codegen::source {
namespace {

// A value passed to the body: the declaration of the closure's field, the value outside, and its name in the body.
struct Field {
  std::string declaration, outside, name;
};

std::string pointer_type(const FunctionState& state, const ir::Buffer& buffer) {
  const auto& parameters = state.source.parameters;
  const auto is_input = [&](const ir::FunctionParameter& parameter) {
    return parameter.buffer.get() == &buffer && parameter.direction == Direction::in;
  };
  const bool read_only = std::any_of(parameters.begin(), parameters.end(), is_input);
  return (read_only ? "const " : "") + memory_type(buffer.dtype) + "*";
}

// `first` receives the first iteration with " + ", or stays empty for 0: a number, or an outer value that becomes a
// field.
std::vector<Field> make_fields(FunctionState& outer, FunctionState& inner, const ir::For& node, std::string& first) {
  const BlockUse use = block_use(node.body, true);
  std::vector<Field> fields;
  if (use.thread) fields.push_back({"const ferry_runtime_api* rt", "rt", "rt"});
  for (const ir::BufferRef& buffer : ir::used_buffers(node.body)) {
    const std::string outside = outer.names.of(*buffer), name = inner.names.declare(buffer.get(), outside);
    fields.push_back({pointer_type(outer, *buffer) + " " + name, outside, name});
  }
  for (const ir::Expr& var : ir::free_vars(node.body)) {
    if (!outer.names.knows(var.get())) continue;  // defined in the loop
    const std::string outside = outer.names.of(*var.as<ir::Var>()), name = inner.names.declare(var.get(), outside);
    fields.push_back({value_type(var.type().code) + " " + name, outside, name});
  }
  if (!ir::is_constant(node.min, 0)) {
    first = print_index(outer, node.min, Binding::sum);
    if (ir::as_int(node.min) == nullptr) {
      const std::string name = inner.names.fresh(node.var.as<ir::Var>()->name + "_begin");
      fields.push_back({"int64_t " + name, first, name});
      first = name;
    }
    first += " + ";
  }
  if (use.call && !outer.call_block.empty()) {
    inner.call_block = inner.names.fresh(outer.call_block);
    fields.push_back({"char* " + inner.call_block, outer.call_block, inner.call_block});
  }
  return fields;
}

// Returns "const float* const A = from->A;" for "const float* A".
std::string unpacked(const FunctionState& state, const Field& field) {
  const std::size_t space = field.declaration.rfind(' ');
  const std::string type = field.declaration.substr(0, space);
  const bool shares = field.name == "rt" || type == "char*" || type.back() != '*';
  const std::string qualified = type.back() == '*' ? type + " const" : "const " + type;
  return (shares ? qualified : type + " " + std::string(state.unit.dialect.restrict)) + " " + field.name + " = from->" +
         field.name + ";";
}

void print_body(FunctionState& inner, const ir::For& node, const std::vector<Field>& fields, const std::string& first,
                const std::string& closure_type) {
  if (fields.empty()) {
    inner.line("(void)closure;");
  } else {
    inner.line("const " + closure_type + "* const from = closure;");
    for (const Field& field : fields) inner.line(unpacked(inner, field));
  }
  print_workspace_blocks(inner, node.body);
  print_loop(inner, node, first + "begin", first + "end");
  inner.line("return 0;");
}

std::string closure_text(const std::string& type, const std::vector<Field>& fields) {
  if (fields.empty()) return "";
  std::string text = type + " {\n";
  for (const Field& field : fields) text += "  " + field.declaration + ";\n";
  return text + "};\n\n";
}

ir::Expr grain_of(const FunctionState& state, const ir::For& node) {
  const ir::Expr one(1);
  const ir::Expr work = ir::max(analysis::work_of_iteration(node, state.unit.target), one);
  return passes::simplify(ir::max(ir::Expr(analysis::kWorkPerChunk) / work, one));
}

void print_call(FunctionState& state, const ir::For& node, const std::string& body, const std::vector<Field>& fields,
                const std::string& extent) {
  std::string closure = "NULL";
  if (!fields.empty()) {
    std::string values;
    for (const Field& field : fields) values += (values.empty() ? "" : ", ") + field.outside;
    state.line("struct " + body + "_closure closure = {" + values + "};");
    closure = "&closure";
  }
  const ir::Expr grain = grain_of(state, node);
  std::string iterations = print_index(state, grain);
  if (ir::as_int(grain) == nullptr) {
    const std::string text = std::exchange(iterations, state.names.fresh("worth_a_thread"));
    state.line("const int64_t " + iterations + " = " + text + ";");
  }
  state.line("const int32_t status = rt->parallel_for(rt, " + extent + ", " + iterations + ", " + body + ", " +
             closure + ");");
  state.line("if (status != 0) return status;");
}

}  // namespace

void print_parallel(FunctionState& state, const ir::For& node) {
  const std::string name = node.var.as<ir::Var>()->name;
  const std::string function = state.unit.names.fresh(state.symbol + "_" + name);

  FunctionState inner(state.unit, state.source);
  inner.symbol = state.symbol;
  inner.in_parallel = true;
  inner.known = state.known;
  inner.assumed = state.assumed;
  inner.names.fresh("from");
  std::string first;
  const std::vector<Field> fields = make_fields(state, inner, node, first);
  const std::string closure_type = "struct " + function + "_closure";
  print_body(inner, node, fields, first, closure_type);
  state.unit.functions.push_back(closure_text(closure_type, fields) + "static int32_t " + function +
                                 "(int64_t begin, int64_t end, void* closure) {\n" + inner.text + "}\n");

  const std::int64_t* known = ir::as_int(node.extent);
  const bool is_name = node.extent.as<ir::Var>() != nullptr || known != nullptr;
  std::string count = print_index(state, node.extent);
  if (!is_name) {
    const std::string once = state.names.fresh(name + "_count");
    state.line("const int64_t " + once + " = " + count + ";");
    count = once;
  }
  state.line(known != nullptr && *known > 0 ? "{" : "if (" + count + " > 0) {");
  ++state.indent;
  state.names.open();
  print_call(state, node, function, fields, count);
  state.names.close();
  --state.indent;
  state.line("}");
}

}  // namespace ferry::codegen::source
