#include "crosscompile/ir/interpreter.h"

#include "crosscompile/ir/interpreter_code.h"

#include <algorithm>

namespace ferry::ir {
namespace {

using namespace interp;

constexpr std::int64_t kMaxWorkspace = std::int64_t{1} << 30;

Value read_scalar(DType type, const void* from) {
  Value value;
  std::memcpy(&value.bits, from, dtype_bytes(type));
  return value;
}

void bind_tensor(Frame& frame, const FunctionParameter& parameter, BoundBuffer& bound, const ShapeCode& shape,
                 void* data) {
  shape.eval(frame, bound);
  bound.data = static_cast<std::byte*>(data);
  bound.read_only = parameter.direction == Direction::in;
  if (bound.read_only) return;
  // The kernel must not read what an output holds before the call.
  bound.born = parameter.direction == Direction::out ? 1 : 0;
  bound.shadows.resize(static_cast<std::size_t>(bound.count));
  bound.shadow = bound.shadows.data();
}

void make_workspace(WorkspaceBlock& block, Frame& frame, const CodePtr& bytes) {
  if (bytes == nullptr) return;
  const std::int64_t size = std::max<std::int64_t>(0, index_of(bytes->eval(frame, 0)));
  if (size > kMaxWorkspace) throw InterpreterLimit("a workspace is too large to interpret");
  block.bytes.resize(static_cast<std::size_t>(size));
  block.shadows.resize(static_cast<std::size_t>(size));
}

}  // namespace

std::int32_t interpret(const Function& function, void* const* arguments) {
  Layout layout;
  layout.flat = function.flat;
  for (const Expr& symbol : function.symbols) layout.define(symbol);
  for (const FunctionParameter& parameter : function.parameters) {
    if (parameter.kind == ParameterKind::scalar) layout.define(parameter.scalar);
  }
  std::vector<std::pair<std::size_t, ShapeCode>> shapes;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const FunctionParameter& parameter = function.parameters[i];
    if (parameter.kind == ParameterKind::tensor) shapes.emplace_back(i, ShapeCode(*parameter.buffer, layout));
  }
  std::vector<CodePtr> requirements;
  for (const Requirement& requirement : function.requirements)
    requirements.push_back(compile(requirement.condition, layout));
  const auto optional = [&](const Expr& expr) { return expr.defined() ? compile(expr, layout) : nullptr; };
  const CodePtr call_bytes = optional(function.call_workspace);
  const CodePtr thread_bytes = optional(function.thread_workspace);
  const ActionPtr body = function.body.defined() ? compile(function.body, layout) : nullptr;

  Frame frame;
  frame.slots = layout.slots();
  const auto set = [&](const Expr& var, const void* from) {
    frame.slots[layout.slot_of(*var.as<Var>())] = read_scalar(var.type().code, from);
  };
  const std::size_t parameters = function.parameters.size();
  for (std::size_t i = 0; i < function.symbols.size(); ++i) set(function.symbols[i], arguments[parameters + i]);
  for (std::size_t i = 0; i < parameters; ++i) {
    if (function.parameters[i].kind == ParameterKind::scalar) set(function.parameters[i].scalar, arguments[i]);
  }
  for (const auto& [i, shape] : shapes) {
    // Allocates slots for unused parameters, too.
    const std::size_t slot = layout.buffer(*function.parameters[i].buffer);
    if (frame.buffers.size() < layout.buffer_count()) frame.buffers.resize(layout.buffer_count());
    bind_tensor(frame, function.parameters[i], frame.buffers[slot], shape, arguments[i]);
  }
  frame.buffers.resize(layout.buffer_count());
  for (std::size_t i = 0; i < requirements.size(); ++i) {
    if (!is_true(requirements[i]->eval(frame, 0))) {
      throw InterpreterError(function.name +
                             ": the arguments break the requirement: " + function.requirements[i].message);
    }
  }
  make_workspace(frame.workspaces.call, frame, call_bytes);
  make_workspace(frame.workspaces.thread, frame, thread_bytes);
  return body == nullptr ? 0 : body->run(frame);
}

}  // namespace ferry::ir
