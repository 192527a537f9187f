#include "host/lower/extern_stage.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"

namespace ferry::lower {

using namespace ir;

namespace {

Expr start_of(const BufferRef& buffer) { return address_of(buffer, std::vector<Expr>(buffer->shape.size(), Expr(0))); }

}  // namespace

Stmt extern_stage(const Nest& nest) {
  const lang::ExternFunction& function = *nest.stage->external;
  const BufferRef& result = nest.storage[0].buffer;
  if (!result->strides.empty())
    throw CompileError("'" + nest.name() + "': expected a dense result of the C function '" + function.name +
                       "', got one with strides");
  std::vector<Expr> arguments{start_of(result)};
  for (const lang::ExternArgument& argument : function.arguments)
    arguments.push_back(argument.number.defined() ? argument.number : start_of(argument.tensor.buffer()));
  return make_extern_call(function.name, std::move(arguments));
}

}  // namespace ferry::lower
