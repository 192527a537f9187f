#include "host/verify/same_call.h"

#include <algorithm>

#include "base/throw_status.h"
#include "ferry/error.h"
#include "host/session/bind.h"

namespace ferry::verify {

namespace {

// Infers the sizes of `b` from the shapes of its tensors.
session::SymbolValues sizes_of(const FunctionInfo& b, const CallPlan& call) {
  std::vector<session::PartialArgument> partial(b.parameters.size());
  for (std::size_t p = 0; p < b.parameters.size(); ++p) {
    partial[p].dtype = call.dtypes[p];
    if (b.parameters[p].kind == ParameterKind::tensor) partial[p].shape = call.shapes[p];
  }
  session::SymbolValues sizes;
  solve_symbols(b, partial, sizes);
  return sizes;
}

void fill_sizes(const FunctionInfo& b, CallPlan& call) {
  const session::SymbolValues sizes = sizes_of(b, call);
  for (std::size_t p = 0; p < b.parameters.size(); ++p) {
    if (!is_size(b, p)) continue;
    const auto symbol = std::find(b.symbols.begin(), b.symbols.end(), b.parameters[p].name);
    const auto& size = sizes[static_cast<std::size_t>(symbol - b.symbols.begin())];
    if (!size) throw UsageError(b.name + ": the tensors do not say what " + b.parameters[p].name + " is");
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
  fill_sizes(b, call);
  bind_plan(b, call);
  for (const auto& [from, to] : pairs) {
    if (plan.strides[from] == call.strides[to]) continue;
    throw UsageError(a.name + " and " + b.name + " keep the elements of " + b.parameters[to].name +
                     " at different strides: expected the same, to give both the same tensor");
  }
  return call;
}

}  // namespace ferry::verify
