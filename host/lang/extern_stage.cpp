#include "ferry/lang/extern_stage.h"
#include "crosscompile/ir/expr.h"

#include "crosscompile/ir/error.h"
#include "host/lang/names.h"
#include "host/lang/stage.h"
#include "host/lang/stages.h"

#include <algorithm>

namespace ferry::lang {

namespace {

// Converts the number to the type it has in the C call.
Expr as_number(const Expr& number) { return number.type().is_int() ? ir::cast(DType::i64, number) : number; }

}  // namespace

Tensor extern_stage(std::vector<Expr> shape, const ElementFunction& definition, std::string function,
                    std::vector<ExternArgument> arguments, std::string name) {
  check_name(function, "a C function");
  const Tensor plain = compute(std::move(shape), definition, name);
  const std::string who = "'" + name + "': '" + function + "': ";
  std::vector<const ir::Buffer*> given;
  for (ExternArgument& argument : arguments) {
    if (argument.tensor.buffer() != nullptr) {
      if (!argument.tensor.buffer()->strides.empty())
        throw CompileError(who + "expected dense tensors, got '" + argument.tensor.name() + "', which has strides");
      given.push_back(argument.tensor.buffer().get());
      continue;
    }
    const bool is_number = argument.number.defined() && argument.number.type().is_scalar() &&
                           (argument.number.type().is_int() || argument.number.type().code == DType::f32 ||
                            argument.number.type().code == DType::f64);
    if (!is_number || !loads_of(argument.number).empty())
      throw CompileError(who + "expected tensors, and numbers made of sizes and scalar parameters, as arguments");
    argument.number = as_number(argument.number);
  }
  std::vector<const ir::Buffer*> read;
  for (const ir::Load* load : loads_of(*plain.stage())) {
    read.push_back(load->buffer.get());
    if (std::find(given.begin(), given.end(), read.back()) == given.end())
      throw CompileError(who + "expected '" + load->buffer->name +
                         "', which the result is made of, among the arguments");
  }
  for (const ExternArgument& argument : arguments) {
    if (argument.tensor.buffer() == nullptr) continue;
    if (std::find(read.begin(), read.end(), argument.tensor.buffer().get()) == read.end())
      throw CompileError(who + "expected the result to be made of '" + argument.tensor.name() +
                         "', which is among the arguments");
  }
  auto stage = std::make_shared<Stage>(*plain.stage());
  stage->external = std::make_shared<ExternFunction>(ExternFunction{std::move(function), std::move(arguments)});
  auto buffer = std::make_shared<ir::Buffer>(*plain.buffer());
  buffer->definition = std::move(stage);
  return Tensor(std::move(buffer));
}

}  // namespace ferry::lang
