#include "host/kernel/memory_use.h"

#include <algorithm>
#include <set>

#include "base/suggest.h"
#include "ferry/error.h"

namespace ferry {

namespace {

// Returns the values of a plan for these sizes; nothing where one overflows.
std::optional<std::vector<std::int64_t>> values_of(const Plan& plan, const std::vector<std::int64_t>& symbols) {
  std::vector<std::int64_t> values = symbols;
  for (const ManifestExpr& expr : plan.values) {
    const Result<std::int64_t> value = evaluate(expr, values);
    if (!value.is_ok()) return std::nullopt;
    values.push_back(value.value());
  }
  return values;
}

// Adds the bytes that a value says. Returns false where there cannot be so many.
bool add_bytes(const std::vector<std::int64_t>& values, ValueIndex index, std::uint64_t& total) {
  if (index == kNoValue) return true;
  if (index >= values.size() || values[index] < 0) return false;
  return !__builtin_add_overflow(total, static_cast<std::uint64_t>(values[index]), &total);
}

void expect_preconditions(const FunctionInfo& function, const std::vector<std::int64_t>& symbols) {
  for (const Precondition& precondition : function.preconditions) {
    const Result<std::int64_t> holds = evaluate(precondition.condition, symbols);
    if (!holds.is_ok() || holds.value() == 0) {
      const std::string condition = to_text(precondition.condition, function.symbols);
      throw UsageError("expected sizes that a call can have: " +
                       (precondition.message.empty() ? condition : precondition.message));
    }
  }
}

}  // namespace

std::uint64_t MemoryUse::peak() const { return packed + std::max(weights + binding, in_place + arena + tensors); }

std::optional<MemoryUse> memory_use(const Manifest& manifest, const FunctionInfo& function,
                                    const std::map<std::string, std::int64_t>& sizes) {
  for (const auto& [name, size] : sizes) {
    if (std::ranges::find(function.symbols, name) == function.symbols.end())
      throw UsageError(unknown_name("size", name, function.symbols));
  }
  std::vector<std::int64_t> symbols;
  for (const std::string& symbol : function.symbols) {
    const auto given = sizes.find(symbol);
    if (given == sizes.end()) return std::nullopt;
    symbols.push_back(given->second);
  }
  expect_preconditions(function, symbols);
  const auto values = values_of(function.plan, symbols), init = values_of(function.init, symbols);
  const Result<std::vector<std::vector<std::int64_t>>> shapes = infer_shapes(function, symbols);
  if (!values || !init || !shapes.is_ok()) return std::nullopt;
  MemoryUse use;
  for (const Blob& blob : manifest.blobs) use.weights += blob.bytes;
  std::set<std::uint32_t> read;
  for (const Step& step : function.plan.steps) {
    for_each_operand(step, [&](const Operand& operand) {
      if (operand.kind == OperandKind::constant && read.insert(operand.index).second)
        use.in_place += manifest.constants.at(operand.index).bytes;
    });
  }
  bool fits = true;
  for (const PersistentBuffer& buffer : function.persistent) fits &= add_bytes(*init, buffer.bytes, use.packed);
  for (const Workspace& workspace : function.init.workspaces) fits &= add_bytes(*init, workspace.bytes, use.binding);
  for (const Workspace& workspace : function.plan.workspaces) fits &= add_bytes(*values, workspace.bytes, use.arena);
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (function.parameters[p].kind != ParameterKind::tensor) continue;
    const std::optional<std::uint64_t> bytes = dense_bytes(function.parameters[p].dtype, shapes.value()[p]);
    fits &= bytes && !__builtin_add_overflow(use.tensors, *bytes, &use.tensors);
  }
  return fits ? std::optional(use) : std::nullopt;
}

}  // namespace ferry
