#include "tests/support/kernel_arguments.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/fill.h"
#include "ferry/operators.h"

#include <algorithm>
#include <stdexcept>

namespace ferry::test {

using namespace ir;

KernelArguments::KernelArguments(const Function& function, const std::map<std::string, std::int64_t>& sizes,
                                 std::uint64_t seed) {
  Substitution values;
  for (const Expr& symbol : function.symbols) {
    const auto found = sizes.find(symbol.as<Var>()->name);
    if (found == sizes.end()) throw std::runtime_error("test gives no size for " + symbol.as<Var>()->name);
    values[symbol.get()] = Expr(found->second);
    symbols_.push_back(std::make_unique<std::int64_t>(found->second));
  }
  for (const FunctionParameter& parameter : function.parameters) {
    auto memory = std::make_unique<Memory>();
    memory->name = parameter.name;
    if (parameter.kind == ParameterKind::scalar) {
      const DType type = parameter.scalar.type().code;
      memory->bytes.resize(8);
      memory->elements = 1;
      const auto given = sizes.find(parameter.name);
      if (type == DType::i64 && given != sizes.end())
        *reinterpret_cast<std::int64_t*>(memory->bytes.data()) = given->second;
      else
        fill(FillKind::random, seed++, type, 0, 1, memory->bytes.data());
    } else {
      memory->elements = 1;
      const auto evaluated = [&](const Expr& expr) {
        const Expr value = passes::simplify(substitute(expr, values));
        if (!as_int(value)) throw std::runtime_error("a dimension of " + parameter.name + " is not known");
        return *as_int(value);
      };
      const std::vector<Expr>&shape = parameter.buffer->shape, &strides = parameter.buffer->strides;
      for (const Expr& dimension : shape) memory->elements *= evaluated(dimension);
      if (!strides.empty() && memory->elements > 0) {
        memory->elements = 1;
        for (std::size_t d = 0; d < shape.size(); ++d)
          memory->elements += (evaluated(shape[d]) - 1) * evaluated(strides[d]);
      }
      const DType type = parameter.buffer->dtype;
      memory->bytes.assign(static_cast<std::size_t>(memory->elements) * dtype_bytes(type) + 64, 0xa5);
      if (parameter.direction != Direction::out)
        fill(FillKind::random, seed++, type, 0, static_cast<std::uint64_t>(memory->elements), memory->bytes.data());
    }
    pointers_.push_back(memory->bytes.data());
    memory_.push_back(std::move(memory));
  }
  for (const auto& symbol : symbols_) pointers_.push_back(symbol.get());
}

KernelArguments::Memory& KernelArguments::find(const std::string& parameter) {
  const auto found =
      std::find_if(memory_.begin(), memory_.end(), [&](const auto& memory) { return memory->name == parameter; });
  if (found == memory_.end()) throw std::runtime_error("no parameter " + parameter);
  return **found;
}

}  // namespace ferry::test
