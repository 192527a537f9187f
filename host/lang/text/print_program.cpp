#include "host/lang/text/print_program.h"

#include "crosscompile/ir/printer.h"
#include "host/lang/stage.h"

namespace ferry::lang {
namespace {

template <class Items, class Text>
std::string joined(const Items& items, const Text& text) {
  std::string all;
  for (const auto& item : items) {
    if (!all.empty()) all += ", ";
    all += text(item);
  }
  return all;
}

std::string parameter_text(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::scalar) return ir::to_text(parameter.scalar.type()) + " " + parameter.name;
  const char* direction = parameter.direction == Direction::in    ? (parameter.constant ? "const " : "in ")
                          : parameter.direction == Direction::out ? "out "
                                                                  : "inout ";
  const auto size = [](const Expr& extent) { return ir::to_text(extent); };
  const std::vector<Expr>& strides = strides_of(parameter);
  return direction + std::string(dtype_name(parameter.tensor.dtype())) + "[" + joined(parameter.tensor.shape(), size) +
         "] " + parameter.name + (strides.empty() ? "" : " strides(" + joined(strides, size) + ")");
}

std::string axis_text(const ir::Axis& axis) {
  const Expr end = ir::is_constant(axis.min, 0) ? axis.extent : axis.min + axis.extent;
  return ir::to_text(axis.var) + " in " + ir::to_text(axis.min) + ":" + ir::to_text(end);
}

std::string value_text(const Expr& value) {
  const auto* reduce = value.as<ir::Reduce>();
  if (reduce == nullptr) return ir::to_text(value);
  std::string text = reduce->reducer->name + "(" +
                     joined(reduce->sources, [](const Expr& source) { return ir::to_text(source); }) + "; " +
                     joined(reduce->axes, axis_text);
  if (reduce->condition.defined()) text += "; where " + ir::to_text(reduce->condition);
  if (!reduce->init.empty()) {
    text += "; from " + joined(reduce->init, [](const Expr& start) { return ir::to_text(start); });
  }
  text += ")";
  return reduce->sources.size() == 1 ? text : text + "." + std::to_string(reduce->component);
}

}  // namespace

std::string to_text(const Program& program) {
  std::string text = program.name + "(" + joined(program.parameters, parameter_text) + ")\n";
  for (const ir::Requirement& requirement : program.requirements) {
    text += "  require " + ir::to_text(requirement.condition) + "\n";
  }
  for (const Tensor& tensor : computed_tensors(program)) {
    const Stage& stage = *tensor.stage();
    std::vector<Expr> place;
    for (const ir::Axis& axis : stage.axes) place.push_back(axis.var);
    if (stage.sequence != nullptr && stage.sequence->is_scatter()) place = stage.sequence->place;
    text += "  " + tensor.name() + "(" + joined(place, [](const Expr& index) { return ir::to_text(index); }) +
            ") = " + value_text(stage.values[tensor.buffer()->component]);
    if (stage.sequence != nullptr) text += " along " + ir::to_text(stage.axes[stage.sequence->axis].var);
    text += "\n";
  }
  return text;
}

}  // namespace ferry::lang
