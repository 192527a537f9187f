#include "host/autoschedule/dot_product.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using schedule::ScheduledStage;

namespace {

// Numbers of bytes that instructions multiply and add at once, the better ones first.
constexpr std::uint32_t kGroups[] = {4, 2};
constexpr std::uint32_t kBfloatsAtOnce = 2;

// Returns the dimension that the variable alone indexes; nothing if others depend on it too.
std::optional<std::size_t> only_dimension_of(const Load& load, const Expr& var) {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    if (!uses_var(load.indices[d], var)) continue;
    if (found || !load.indices[d].same_as(var)) return std::nullopt;
    found = d;
  }
  return found;
}

std::optional<DotOperand> operand_of(const Load& load, const Expr& depth, const ConstantNames& constants) {
  const auto dimension = only_dimension_of(load, depth);
  if (!dimension) return std::nullopt;
  return DotOperand{.tensor = load.buffer->name,
                    .rank = load.indices.size(),
                    .depth_dimension = *dimension,
                    .own_dimension = load.indices.size(),
                    .bytes = constant_bytes(*load.buffer),
                    .is_constant = constants.contains(load.buffer->name),
                    .is_contiguous = access_stride(load, depth) == AccessStride::contiguous};
}

// Returns the load of a bfloat16 that the factor converts to float32, or null.
const Load* bfloat_of(const Expr& factor) {
  const auto* cast = factor.as<Cast>();
  if (cast == nullptr || cast->type.code != DType::f32) return nullptr;
  const auto* load = cast->value.as<Load>();
  return load != nullptr && load->type.code == DType::bf16 ? load : nullptr;
}

DType other_byte(DType type) { return type == DType::u8 ? DType::i8 : DType::u8; }

// Finds the instruction with the largest group that takes the bytes as they are, or with the columns flipped.
void choose_instruction(DotProduct& product, DType rows, DType columns, std::int64_t lanes, const Target& target) {
  for (const std::uint32_t group : kGroups) {
    for (const bool flips : {false, true}) {
      const DType right = flips ? other_byte(columns) : columns;
      for (const auto& [first, second] : {std::pair(rows, right), std::pair(right, rows)}) {
        const auto* found =
            passes::find_dot(target, DType::i32, first, second, static_cast<std::uint32_t>(lanes), group);
        if (found == nullptr || lanes % found->lanes != 0) continue;
        product.instruction = found;
        product.flips_columns = flips;
        return;
      }
    }
  }
}

}  // namespace

const Load* byte_of(const Expr& factor) {
  const auto* cast = factor.as<Cast>();
  if (cast == nullptr || cast->type.code != DType::i32) return nullptr;
  const auto* load = cast->value.as<Load>();
  return load != nullptr && (load->type.code == DType::i8 || load->type.code == DType::u8) ? load : nullptr;
}

bool is_indexed_by(const Load& load, const Expr& var) {
  return std::ranges::any_of(load.indices, [&](const Expr& index) { return uses_var(index, var); });
}

std::optional<DotProduct> find_dot_product(const ScheduledStage& stage, std::int64_t lanes, const Target& target,
                                           const ConstantNames& constants) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || stage.axes.empty() || stage.outputs.size() != 1 || stage.sequence != nullptr ||
      reduce->sources.size() != 1 || reduce->reducer->op != ReduceOp::sum || reduce->condition.defined() ||
      reduce->axes.size() != 1)
    return std::nullopt;
  const auto* source = reduce->sources[0].as<Binary>();
  if (source == nullptr || source->op != BinaryOp::mul) return std::nullopt;
  const Load *rows = byte_of(source->left), *columns = byte_of(source->right);
  const bool is_float = rows == nullptr && columns == nullptr && target.capabilities.amx_bf16;
  if (is_float) {
    rows = bfloat_of(source->left);
    columns = bfloat_of(source->right);
  }
  if (rows == nullptr || columns == nullptr || rows->buffer == columns->buffer) return std::nullopt;
  const std::size_t column_axis = stage.axes.size() - 1;
  const Expr &column = stage.axes[column_axis].var, &depth = reduce->axes[0].var;
  if (is_indexed_by(*rows, column)) std::swap(rows, columns);
  if (is_indexed_by(*rows, column)) return std::nullopt;

  DotProduct product;
  const auto row_operand = operand_of(*rows, depth, constants), column_operand = operand_of(*columns, depth, constants);
  const auto column_dimension = only_dimension_of(*columns, column);
  if (!row_operand || !column_operand || !column_dimension) return std::nullopt;
  product.rows = *row_operand;
  product.columns = *column_operand;
  product.columns.own_dimension = *column_dimension;
  product.column_extent = constant_extent(stage.axes[column_axis].extent);
  product.depth = constant_extent(reduce->axes[0].extent);
  product.row_axis = stage.axes.size();
  for (std::size_t a = column_axis; a-- > 0;) {
    const Expr& var = stage.axes[a].var;
    const std::int64_t extent = constant_extent(stage.axes[a].extent);
    if (is_indexed_by(*columns, var) || !is_indexed_by(*rows, var)) {
      product.batch_axes.insert(product.batch_axes.begin(), a);
      continue;
    }
    product.all_rows *= extent;
    if (product.row_axis == stage.axes.size()) {
      product.row_axis = a;
      product.row_extent = extent;
      if (const auto dimension = only_dimension_of(*rows, var)) product.rows.own_dimension = *dimension;
    } else {
      product.outer_axes.insert(product.outer_axes.begin(), a);
    }
  }
  product.is_float = is_float;
  product.bytes_of_element = static_cast<std::int64_t>(dtype_bytes(rows->type.code));
  if (is_float)
    product.instruction = passes::find_dot(target, DType::f32, DType::bf16, DType::bf16,
                                           static_cast<std::uint32_t>(lanes), kBfloatsAtOnce);
  else
    choose_instruction(product, rows->type.code, columns->type.code, lanes, target);
  if (product.instruction == nullptr) return std::nullopt;
  return product;
}

}  // namespace ferry::autoschedule
