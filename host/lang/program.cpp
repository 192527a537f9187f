#include "ferry/lang/program.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "host/lang/names.h"
#include "host/lang/sizes.h"
#include "host/lang/stage.h"
#include "host/lang/stages.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace ferry::lang {
namespace {

using Vars = std::unordered_set<const ir::ExprNode*>;

const std::string& name_of(const Expr& variable) { return variable.as<ir::Var>()->name; }

Tensor input_of(const Parameter& parameter) {
  if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) return {};
  return parameter.direction == Direction::in ? parameter.tensor : parameter.initial;
}

std::vector<Tensor> outputs_of(const Program& program) {
  std::vector<Tensor> outputs;
  for (const Parameter& parameter : program.parameters) {
    if (parameter.kind == ParameterKind::tensor && parameter.direction != Direction::in) {
      outputs.push_back(parameter.tensor);
    }
  }
  return outputs;
}

class Check {
 public:
  explicit Check(const Program& program) : program_(program) {}

  void run() {
    check_name(program_.name, "a kernel");
    for (const Parameter& parameter : program_.parameters) check_parameter(parameter);
    for (const Parameter& parameter : program_.parameters) bind_sizes(parameter);
    for (const Parameter& parameter : program_.parameters) {
      if (const Tensor input = input_of(parameter); input.buffer() != nullptr) check_shape(input);
      check_strides(parameter);
    }
    const std::vector<Tensor> outputs = outputs_of(program_);
    if (outputs.empty()) throw error("expected at least one output");
    const RequiredTensors needed = tensors_required_by(outputs);
    for (const Tensor& tensor : needed.placeholders) {
      if (inputs_.find(tensor.buffer().get()) == inputs_.end()) {
        throw error("'" + tensor.name() + "' is read, but it is neither a parameter nor computed");
      }
    }
    for (const Tensor& tensor : needed.computed) check_stage(tensor);
    for (const ir::Requirement& requirement : program_.requirements) {
      if (!requirement.condition.defined() || requirement.condition.type() != ir::kBool) {
        throw error("expected a condition in the requirement '" + requirement.message + "'");
      }
      check_sizes_only(requirement.condition, "the requirement '" + requirement.message + "'");
    }
  }

 private:
  CompileError error(const std::string& text) const { return CompileError(program_.name + ": " + text); }

  void claim(const std::string& name) {
    if (!names_.insert(name).second) throw error("expected different names, got two things called '" + name + "'");
  }

  void check_parameter(const Parameter& parameter) {
    check_name(parameter.name, "a parameter");
    claim(parameter.name);
    if (parameter.kind == ParameterKind::scalar) {
      if (parameter.scalar.as<ir::Var>() == nullptr) {
        throw error("expected a variable as the scalar parameter '" + parameter.name + "'");
      }
      scalars_.insert(parameter.scalar.get());
      if (parameter.scalar.type() == ir::kIndex) sizes_.insert(parameter.scalar.get());
      return;
    }
    if (parameter.tensor.buffer() == nullptr) throw error("'" + parameter.name + "': expected a tensor");
    if (parameter.constant && parameter.direction != Direction::in)
      throw error("expected '" + parameter.name + "' to be an input, as it is constant");
    const bool computed = parameter.tensor.stage() != nullptr;
    if (parameter.direction == Direction::in && computed) {
      throw error("'" + parameter.name + "' is computed, so it cannot be an input");
    }
    if (parameter.direction != Direction::in && !computed) {
      throw error("'" + parameter.name + "' is an output, but nothing computes it");
    }
    if (parameter.direction == Direction::inout) check_inout(parameter);
    if (const Tensor input = input_of(parameter); input.buffer() != nullptr) inputs_.insert(input.buffer().get());
    if (computed && !outputs_.insert(parameter.tensor.buffer().get()).second) {
      throw error("'" + parameter.name + "' is an output twice");
    }
  }

  void check_inout(const Parameter& parameter) {
    const Tensor& before = parameter.initial;
    if (before.buffer() == nullptr || before.stage() != nullptr) {
      throw error("'" + parameter.name + "': expected a placeholder to start from");
    }
    bool same = before.dtype() == parameter.tensor.dtype() && before.rank() == parameter.tensor.rank();
    for (std::size_t i = 0; same && i < before.rank(); ++i) {
      same = ir::equal(before.shape()[i], parameter.tensor.shape()[i]);
    }
    if (!same) throw error("'" + parameter.name + "': expected the updated tensor to keep its dtype and shape");
  }

  void bind_sizes(const Parameter& parameter) {
    const Tensor input = input_of(parameter);
    if (input.buffer() == nullptr) return;
    for (const Expr& extent : input.shape()) {
      if (extent.as<ir::Var>() == nullptr || !sizes_.insert(extent.get()).second) continue;
      claim(name_of(extent));
    }
  }

  void check_strides(const Parameter& parameter) {
    if (parameter.kind != ParameterKind::tensor) return;
    for (const Expr& stride : strides_of(parameter)) check_sizes_only(stride, "a stride of '" + parameter.name + "'");
  }

  void check_shape(const Tensor& tensor) {
    for (const Expr& extent : tensor.shape()) check_sizes_only(extent, "the shape of '" + tensor.name() + "'");
  }

  void check_sizes_only(const Expr& expr, const std::string& where) {
    if (!loads_of(expr).empty()) throw error(where + " depends on a tensor's elements");
    for (const Expr& variable : ir::free_vars(expr)) {
      if (sizes_.find(variable.get()) != sizes_.end()) continue;
      if (scalars_.find(variable.get()) != scalars_.end()) {
        throw error(where + " uses '" + name_of(variable) + "': expected an int64 parameter, got " +
                    ir::to_text(variable.type()));
      }
      throw error(where + " uses '" + name_of(variable) +
                  "', which is neither a whole dimension of an input nor a scalar parameter");
    }
  }

  void check_numbers(const ExternFunction& function, const Tensor& tensor) const {
    for (const ExternArgument& argument : function.arguments) {
      if (!argument.number.defined()) continue;
      for (const Expr& variable : ir::free_vars(argument.number)) {
        if (sizes_.count(variable.get()) + scalars_.count(variable.get()) > 0) continue;
        throw error("'" + tensor.name() + "' hands '" + name_of(variable) + "' to '" + function.name +
                    "', which is neither a size of an input nor a scalar parameter");
      }
    }
  }

  void check_stage(const Tensor& tensor) {
    if (outputs_.find(tensor.buffer().get()) == outputs_.end()) claim(tensor.name());
    check_shape(tensor);
    const Stage& stage = *tensor.stage();
    Vars axes;
    for (const ir::Axis& axis : stage.axes) axes.insert(axis.var.get());
    if (stage.external != nullptr) check_numbers(*stage.external, tensor);
    for (const Expr& value : stage.values) {
      if (const auto* reduce = value.as<ir::Reduce>()) {
        for (const ir::Axis& axis : reduce->axes) {
          const std::string range = "'" + tensor.name() + "': the range of '" + name_of(axis.var) + "'";
          check_sizes_only(axis.min, range);
          check_sizes_only(axis.extent, range);
        }
      }
      check_variables(tensor, value, axes);
    }
    if (stage.sequence == nullptr) return;
    for (const Expr& index : stage.sequence->place) check_variables(tensor, index, axes);
  }

  void check_variables(const Tensor& tensor, const Expr& value, const Vars& axes) const {
    for (const Expr& variable : ir::free_vars(value)) {
      if (axes.count(variable.get()) + sizes_.count(variable.get()) + scalars_.count(variable.get()) > 0) continue;
      throw error("'" + tensor.name() + "' uses '" + name_of(variable) +
                  "', which is neither one of its axes, a size of an input nor a scalar parameter");
    }
  }

  const Program& program_;
  std::set<std::string> names_;
  Vars sizes_, scalars_;
  std::unordered_set<const ir::Buffer*> inputs_, outputs_;
};

// Adds a scalar parameter for each variable of strides that is neither a dimension of an input nor a scalar parameter.
void add_stride_parameters(Program& program) {
  Vars known;
  for (const Parameter& parameter : program.parameters) {
    if (parameter.kind == ParameterKind::scalar) known.insert(parameter.scalar.get());
    const Tensor input = input_of(parameter);
    if (input.buffer() == nullptr) continue;
    for (const Expr& extent : input.shape()) {
      if (extent.as<ir::Var>() != nullptr) known.insert(extent.get());
    }
  }
  const std::vector<Parameter> given = program.parameters;
  for (const Parameter& parameter : given) {
    if (parameter.kind != ParameterKind::tensor) continue;
    for (const Expr& stride : strides_of(parameter)) {
      for (const Expr& variable : ir::free_vars(stride)) {
        if (known.insert(variable.get()).second) program.parameters.push_back(scalar(variable));
      }
    }
  }
}

// Whether the dimensions nest: from the innermost to the outermost, each stride exceeds the offset of the last element
// of the dimensions inside it.
Expr nested(const std::vector<Expr>& shape, const std::vector<Expr>& strides, bool last_innermost) {
  Expr apart = ir::constant(ir::kBool, std::int64_t{1}), reach = 0;
  for (std::size_t step = 0; step < shape.size(); ++step) {
    const std::size_t d = last_innermost ? shape.size() - 1 - step : step;
    apart = apart && (shape[d] <= 1 || strides[d] > reach);
    reach = reach + (shape[d] - 1) * strides[d];
  }
  return apart;
}

void require_places_apart(Program& program) {
  for (const Parameter& parameter : program.parameters) {
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::in) continue;
    const std::vector<Expr>& strides = strides_of(parameter);
    if (strides.empty() || parameter.tensor.buffer() == nullptr) continue;
    const std::vector<Expr>& shape = parameter.tensor.shape();
    program.requirements.push_back(
        require(nested(shape, strides, true) || nested(shape, strides, false),
                "the strides of '" + parameter.name + "' leave each of its elements a place of its own"));
  }
}

// Adds what stages require of sizes, which the caller may have required as well.
void require_elements(Program& program) {
  std::unordered_set<const Stage*> seen;
  for (const Tensor& tensor : tensors_required_by(outputs_of(program)).computed) {
    if (!seen.insert(tensor.stage()).second) continue;
    for (const ir::Requirement& needed : tensor.stage()->requirements) {
      const bool known =
          std::any_of(program.requirements.begin(), program.requirements.end(),
                      [&](const ir::Requirement& other) { return ir::equal(other.condition, needed.condition); });
      if (!known) program.requirements.push_back(needed);
    }
  }
}

}  // namespace

Program make_program(std::string name, std::vector<Parameter> parameters, std::vector<ir::Requirement> requirements,
                     std::shared_ptr<const Context> context) {
  Program program{std::move(name), std::move(parameters), std::move(requirements), std::move(context)};
  add_stride_parameters(program);
  require_places_apart(program);
  Check(program).run();
  require_elements(program);
  return program;
}

std::unordered_set<const ir::ExprNode*> sizes_of(const Program& program) {
  Vars sizes;
  const auto add = [&](const Expr& expr) {
    for (const Expr& variable : ir::free_vars(expr)) sizes.insert(variable.get());
  };
  for (const Parameter& parameter : program.parameters) {
    const Tensor input = input_of(parameter);
    if (input.buffer() == nullptr) continue;
    for (const Expr& extent : input.shape()) add(extent);
  }
  for (const Tensor& tensor : computed_tensors(program)) {
    for (const Expr& extent : tensor.shape()) add(extent);
    for (const ir::Axis& axis : tensor.stage()->axes) add(axis.extent);
    for (const Expr& value : tensor.stage()->values) {
      const auto* reduce = value.as<ir::Reduce>();
      if (reduce == nullptr) continue;
      for (const ir::Axis& axis : reduce->axes) {
        add(axis.min);
        add(axis.extent);
      }
    }
  }
  return sizes;
}

Parameter in(Tensor tensor) {
  Parameter parameter;
  parameter.name = tensor.buffer() == nullptr ? "" : tensor.name();
  parameter.tensor = std::move(tensor);
  return parameter;
}

Parameter constant(Tensor tensor) {
  Parameter parameter = in(std::move(tensor));
  parameter.constant = true;
  return parameter;
}

Parameter out(Tensor tensor, std::vector<Expr> strides) {
  Parameter parameter = in(std::move(tensor));
  parameter.direction = Direction::out;
  if (!strides.empty())
    parameter.strides = checked_strides(std::move(strides), parameter.tensor.rank(), parameter.name);
  return parameter;
}

ir::Requirement require(Expr condition, std::string message) { return {std::move(condition), std::move(message)}; }

const std::vector<Expr>& strides_of(const Parameter& parameter) {
  const Tensor input = input_of(parameter);
  return input.buffer() == nullptr ? parameter.strides : input.buffer()->strides;
}

Parameter inout(Tensor initial, Tensor result) {
  Parameter parameter = in(initial);
  parameter.direction = Direction::inout;
  parameter.tensor = std::move(result);
  parameter.initial = std::move(initial);
  return parameter;
}

Parameter scalar(Expr variable) {
  Parameter parameter;
  parameter.kind = ParameterKind::scalar;
  parameter.name = variable.as<ir::Var>() == nullptr ? "" : name_of(variable);
  parameter.scalar = std::move(variable);
  return parameter;
}

std::vector<Expr> symbols_of(const Program& program) {
  std::vector<Expr> symbols;
  Vars known;
  for (const Parameter& parameter : program.parameters) {
    const Tensor input = input_of(parameter);
    if (input.buffer() == nullptr) continue;
    for (const Expr& extent : input.shape()) {
      for (const Expr& variable : ir::free_vars(extent)) {
        if (known.insert(variable.get()).second) symbols.push_back(variable);
      }
    }
  }
  Vars used = sizes_of(program);
  const auto use = [&](const Expr& expr) {
    for (const Expr& variable : ir::free_vars(expr)) used.insert(variable.get());
  };
  for (const Parameter& parameter : program.parameters) {
    if (parameter.kind != ParameterKind::tensor) continue;
    for (const Expr& stride : strides_of(parameter)) use(stride);
  }
  for (const ir::Requirement& requirement : program.requirements) use(requirement.condition);
  for (const Parameter& parameter : program.parameters) {
    if (parameter.kind != ParameterKind::scalar || used.count(parameter.scalar.get()) == 0) continue;
    if (known.insert(parameter.scalar.get()).second) symbols.push_back(parameter.scalar);
  }
  return symbols;
}

std::vector<Tensor> computed_tensors(const Program& program) {
  return tensors_required_by(outputs_of(program)).computed;
}

}  // namespace ferry::lang
