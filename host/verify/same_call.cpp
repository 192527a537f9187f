#include "host/verify/same_call.h"

#include <algorithm>

#include "base/throw_status.h"
#include "ferry/error.h"
#include "host/client/bind.h"

namespace ferry::verify {

namespace {

using session::SymbolValues;

// Infers the sizes of `b` from the shapes of its tensors.
SymbolValues sizes_of(const FunctionInfo& b, const CallPlan& call) {
  std::vector<session::PartialArgument> partial(b.parameters.size());
  for (std::size_t p = 0; p < b.parameters.size(); ++p) {
    partial[p].dtype = call.dtypes[p];
    if (b.parameters[p].kind == ParameterKind::tensor) partial[p].shape = call.shapes[p];
  }
  SymbolValues sizes;
  solve_symbols(b, partial, sizes);
  return sizes;
}

// Returns the value of the symbol for which the expression, linear in it, is `extent`. Nothing if another symbol of it
// is not known, or if no value or several give this extent.
std::optional<std::int64_t> solution(const ManifestExpr& expr, std::size_t symbol, std::int64_t extent,
                                     const SymbolValues& known) {
  for (const ManifestInstruction& instruction : expr.code) {
    if (instruction.op != ManifestOp::symbol) continue;
    const auto index = static_cast<std::size_t>(instruction.value);
    if (index != symbol && !known[index]) return std::nullopt;
  }
  std::vector<std::int64_t> values;
  for (const auto& value : known) values.push_back(value.value_or(0));
  const auto at = [&](std::int64_t value) {
    values[symbol] = value;
    return evaluate(expr, values);
  };
  const Result<std::int64_t> at_0 = at(0), at_1 = at(1), at_2 = at(2);
  if (!at_0.is_ok() || !at_1.is_ok() || !at_2.is_ok()) return std::nullopt;
  const __int128 first = at_0.value(), slope = at_1.value() - first, rest = extent - first;
  if (slope == 0 || at_2.value() - first != 2 * slope || rest % slope != 0) return std::nullopt;
  const __int128 value = rest / slope;
  if (value != static_cast<std::int64_t>(value)) return std::nullopt;
  const Result<std::int64_t> again = at(static_cast<std::int64_t>(value));
  return again.is_ok() && again.value() == extent ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

// Returns the size that some tensor of `b` determines, though no dimension is exactly this symbol: 3 for s where a
// dimension is 5*s and its extent 15.
std::optional<std::int64_t> solved_size(const FunctionInfo& b, const CallPlan& call, std::size_t symbol,
                                        const SymbolValues& known) {
  for (std::size_t p = 0; p < b.parameters.size(); ++p) {
    const std::vector<ManifestExpr>& shape = b.parameters[p].shape;
    for (std::size_t d = 0; d < shape.size() && shape.size() == call.shapes[p].size(); ++d)
      if (const auto value = solution(shape[d], symbol, call.shapes[p][d], known)) return value;
  }
  return std::nullopt;
}

// The size of this name in the call of `a`, which it has as a size or as a number.
std::optional<std::int64_t> size_in(const FunctionInfo& a, const CallPlan& plan, const std::string& name) {
  const auto symbol = std::find(a.symbols.begin(), a.symbols.end(), name);
  if (symbol == a.symbols.end()) return std::nullopt;
  return plan.symbols[static_cast<std::size_t>(symbol - a.symbols.begin())];
}

// Sizes that neither tensors nor `a` determine stay unknown.
void complete(const FunctionInfo& b, const CallPlan& call, const FunctionInfo& a, const CallPlan& plan,
              SymbolValues& sizes) {
  // One that is found may let another be solved.
  for (bool has_learnt = true; has_learnt;) {
    has_learnt = false;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      if (sizes[s]) continue;
      sizes[s] = solved_size(b, call, s, sizes);
      has_learnt = has_learnt || sizes[s].has_value();
    }
  }
  for (std::size_t s = 0; s < sizes.size(); ++s)
    if (!sizes[s]) sizes[s] = size_in(a, plan, b.symbols[s]);
}

void fill_sizes(const FunctionInfo& b, CallPlan& call, const FunctionInfo& a, const CallPlan& plan) {
  SymbolValues sizes = sizes_of(b, call);
  complete(b, call, a, plan, sizes);
  for (std::size_t p = 0; p < b.parameters.size(); ++p) {
    if (!is_size(b, p)) continue;
    const auto symbol = std::find(b.symbols.begin(), b.symbols.end(), b.parameters[p].name);
    const auto& size = sizes[static_cast<std::size_t>(symbol - b.symbols.begin())];
    if (!size)
      throw UsageError(b.name + ": the tensors do not say what " + b.parameters[p].name + " is, and " + a.name +
                       " has no size of this name");
    call.scalars[p] = *size;
  }
}

}  // namespace

ParameterPairs expect_same_parameters(const FunctionInfo& a, const FunctionInfo& b, const std::string& what) {
  Result<ParameterPairs> pairs = pair_parameters(a, b);
  if (!pairs.is_ok()) throw UsageError(what + ": " + pairs.status().message());
  return std::move(pairs.value());
}

CallPlan plan_same_call(const FunctionInfo& b, const FunctionInfo& a, const CallPlan& plan,
                        const ParameterPairs& pairs) {
  const std::size_t count = b.parameters.size();
  CallPlan call;
  call.shapes.resize(count);
  call.dtypes.resize(count);
  call.contents.resize(count);
  call.scalars.resize(count);
  for (std::size_t p = 0; p < count; ++p) call.dtypes[p] = b.parameters[p].dtype;
  for (const auto& [from, to] : pairs) {
    call.shapes[to] = plan.shapes[from];
    call.contents[to] = plan.contents[from];
    call.scalars[to] = plan.scalars[from];
  }
  fill_sizes(b, call, a, plan);
  bind_plan(b, call);
  for (const auto& [from, to] : pairs) {
    if (plan.strides[from] == call.strides[to]) continue;
    throw UsageError(a.name + " and " + b.name + " keep the elements of " + b.parameters[to].name +
                     " at different strides: expected the same, to give both the same tensor");
  }
  return call;
}

}  // namespace ferry::verify
