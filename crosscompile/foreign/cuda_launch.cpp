#include "crosscompile/foreign/cuda_launch.h"

#include <algorithm>

#include "base/format.h"
#include "base/suggest.h"
#include "crosscompile/foreign/text_cursor.h"
#include "crosscompile/ir/error.h"

namespace ferry::foreign {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", the same for all since 3.0 but for
// shared memory, of which this is the most of any.
constexpr std::array<std::int64_t, 3> kMostBlocks = {2'147'483'647, 65'535, 65'535}, kMostThreads = {1024, 1024, 64};
constexpr std::int64_t kMostInBlock = 1024, kMostShared = 227 * 1024;

class LaunchParser {
 public:
  LaunchParser(std::string_view text, const FunctionInfo& function) : cursor_(text, "launch"), function_(function) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    launch_.text = text.substr(begin);
  }

  KernelLaunch parse() {
    do {
      cursor_.skip_spaces();
      const std::size_t begin = cursor_.column();
      const std::string key = cursor_.word("grid, block or shared");
      const bool is_again = (key == "grid" && launch_.grid[0].code.size() > 0) ||
                            (key == "block" && launch_.block[0].code.size() > 0) ||
                            (key == "shared" && launch_.shared.code.size() > 0);
      if (is_again) cursor_.refuse_at(begin, key + " once");
      if (key != "grid" && key != "block" && key != "shared") cursor_.refuse_at(begin, "grid, block or shared");
      cursor_.expect('=');
      if (key == "shared") {
        launch_.shared = size();
      } else {
        extents(key == "grid" ? launch_.grid : launch_.block);
      }
    } while (cursor_.take(','));
    if (!cursor_.is_at_end()) cursor_.refuse("',' or the end");
    for (const auto& [extents, name] : {std::pair(&launch_.grid, "grid"), std::pair(&launch_.block, "block")})
      if ((*extents)[0].code.empty()) cursor_.refuse(std::string(", ") + name + "=");
    return std::move(launch_);
  }

 private:
  ManifestExpr size() {
    return cursor_.size([this](const std::string& name, std::size_t column) {
      const auto found = std::find(function_.symbols.begin(), function_.symbols.end(), name);
      if (found == function_.symbols.end())
        cursor_.refuse_at(column, function_.symbols.empty() ? "a number, because the signature has no size"
                                                            : "a size of the signature: " + joined(function_.symbols));
      return static_cast<std::uint32_t>(found - function_.symbols.begin());
    });
  }

  // "E", or "(E, E)" and "(E, E, E)": a parenthesis begins either an expression or a list.
  void extents(std::array<ManifestExpr, 3>& into) {
    const bool is_parenthesis = cursor_.peek() == '(';
    const std::size_t begin = cursor_.column();
    if (is_parenthesis) {
      cursor_.expect('(');
      into[0] = size();
      if (cursor_.peek() == ',') {
        for (std::size_t axis = 1; cursor_.take(','); ++axis) {
          if (axis == into.size()) cursor_.refuse("at most three extents");
          into[axis] = size();
        }
        return cursor_.expect(')');
      }
      cursor_.go_back_to(begin);
    }
    into[0] = size();
  }

  TextCursor cursor_;
  const FunctionInfo& function_;
  KernelLaunch launch_;
};

ManifestExpr both(const ManifestExpr& a, const ManifestExpr& b) {
  return manifest_apply(ManifestOp::logical_and, {a, b});
}

ManifestExpr is_between(const ManifestExpr& value, std::int64_t least, std::int64_t most) {
  return both(manifest_apply(ManifestOp::le, {manifest_constant(least), value}),
              manifest_apply(ManifestOp::le, {value, manifest_constant(most)}));
}

// Whether all tensors that the function writes are empty.
ManifestExpr has_no_results(const FunctionInfo& function) {
  ManifestExpr all;
  for (const ParameterInfo& parameter : function.parameters) {
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::in) continue;
    ManifestExpr is_empty;
    for (const ManifestExpr& extent : parameter.shape) {
      ManifestExpr is_zero = manifest_apply(ManifestOp::eq, {extent, manifest_constant(0)});
      is_empty = is_empty.code.empty() ? is_zero : manifest_apply(ManifestOp::logical_or, {is_empty, is_zero});
    }
    if (is_empty.code.empty()) is_empty = manifest_constant(0);
    all = all.code.empty() ? is_empty : both(all, is_empty);
  }
  return all.code.empty() ? manifest_constant(0) : all;
}

bool has_sizes(const ManifestExpr& expr) {
  return std::any_of(expr.code.begin(), expr.code.end(),
                     [](const ManifestInstruction& one) { return one.op == ManifestOp::symbol; });
}

std::int64_t value_of(const ManifestExpr& expr, const FunctionInfo& function, std::span<const std::int64_t> symbols) {
  const Result<std::int64_t> value = evaluate(expr, symbols);
  if (!value.is_ok()) throw CompileError(function.name + ": its launch: " + value.status().message());
  return value.value();
}

}  // namespace

std::size_t launch_in(std::string_view signature) {
  const std::size_t end = signature.rfind(')', signature.find('='));
  return signature.find('=') == std::string_view::npos || end == std::string_view::npos ? std::string_view::npos
                                                                                        : end + 1;
}

KernelLaunch parse_launch(std::string_view text, const FunctionInfo& function) {
  return LaunchParser(text, function).parse();
}

void add_launch_conditions(const KernelLaunch& launch, FunctionInfo& function) {
  // Expressions without sizes are known now.
  const auto require = [&](ManifestExpr condition, const std::string& what) {
    const std::string message = what + ", by the launch '" + launch.text + "'";
    if (has_sizes(condition))
      function.preconditions.push_back({std::move(condition), message});
    else if (value_of(condition, function, {}) == 0)
      throw CompileError(function.name + ": " + message);
  };
  const ManifestExpr is_empty = has_no_results(function);
  ManifestExpr threads;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string along = std::string(" along ") + "xyz"[axis];
    if (const ManifestExpr& blocks = launch.grid[axis]; !blocks.code.empty()) {
      const auto most = count_text(static_cast<std::uint64_t>(kMostBlocks[axis]));
      require(manifest_apply(ManifestOp::logical_or,
                             {is_between(blocks, 1, kMostBlocks[axis]),
                              both(is_empty, manifest_apply(ManifestOp::eq, {blocks, manifest_constant(0)}))}),
              "the grid must have 1 to " + most + " blocks" + along);
    }
    if (const ManifestExpr& extent = launch.block[axis]; !extent.code.empty()) {
      const auto most = count_text(static_cast<std::uint64_t>(kMostThreads[axis]));
      require(is_between(extent, 1, kMostThreads[axis]), "a block must have 1 to " + most + " threads" + along);
      threads = axis == 0 ? extent : manifest_apply(ManifestOp::mul, {threads, extent});
    }
  }
  if (!launch.block[1].code.empty())
    require(is_between(threads, 1, kMostInBlock), "a block must have at most " + count_text(kMostInBlock) + " threads");
  if (!launch.shared.code.empty())
    require(is_between(launch.shared, 0, kMostShared),
            "a block must have at most " + count_text(kMostShared) + " bytes of shared memory");
}

LaunchExtents launch_extents(const KernelLaunch& launch, const FunctionInfo& function,
                             std::span<const std::int64_t> symbols) {
  for (const Precondition& one : function.preconditions)
    if (value_of(one.condition, function, symbols) == 0)
      throw CompileError(function.name + ": " + one.message + symbols_text(one.condition, function.symbols, symbols));
  LaunchExtents extents;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!launch.grid[axis].code.empty())
      extents.grid[axis] = static_cast<unsigned>(value_of(launch.grid[axis], function, symbols));
    if (!launch.block[axis].code.empty())
      extents.block[axis] = static_cast<unsigned>(value_of(launch.block[axis], function, symbols));
  }
  if (!launch.shared.code.empty())
    extents.shared_bytes = static_cast<std::uint64_t>(value_of(launch.shared, function, symbols));
  return extents;
}

}  // namespace ferry::foreign
