// Recognises matrix products of bytes for which the target has dot instructions, and those of bfloat16 for which it has
// AMX's tiles, whatever the layouts of the operands.
#pragma once

#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "ferry/target/target.h"
#include "host/autoschedule/contraction.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// One operand of a product: the tensor, its rank, and which of its dimensions two axes alone index.
struct DotOperand {
  std::string tensor;
  std::size_t rank = 0;
  std::size_t depth_dimension = 0;  // indexed by the axis of the sum
  std::size_t own_dimension = 0;    // indexed by the rows or by the columns; columns only: rows may have none
  std::int64_t bytes = 0;           // 0: known only at run time
  bool is_constant = false;
  bool is_contiguous = false;  // along the sum
};

// A sum over one axis of products of an element that varies along `columns`, the innermost axis of the results, and one
// that does not. Extents are 0 where they are known only at run time.
struct DotProduct {
  DotOperand rows, columns;
  std::size_t row_axis = 0;             // the innermost axis that only the rows vary along; the number of axes if none
  std::vector<std::size_t> outer_axes;  // axes that only the rows vary along, except for row_axis
  std::vector<std::size_t> batch_axes;  // other axes, except for that of the columns
  std::int64_t row_extent = 0, all_rows = 1;  // the extent of row_axis; the product of those of all axes of rows
  std::int64_t column_extent = 0, depth = 0;
  const passes::DotInstruction* instruction = nullptr;
  bool flips_columns = false;  // the instruction takes the columns' bytes in the other type
  bool is_float = false;       // factors are bfloat16, sums float32
  std::int64_t bytes_of_element = 1;
};

// Returns the load of an int8 or uint8 that the factor converts to int32, or null.
const ir::Load* byte_of(const ir::Expr& factor);

bool is_indexed_by(const ir::Load& load, const ir::Expr& var);

// Returns nothing if the stage is no such product, or if the target has no instruction for it.
std::optional<DotProduct> find_dot_product(const schedule::ScheduledStage& stage, std::int64_t lanes,
                                           const Target& target, const ConstantNames& constants);

}  // namespace ferry::autoschedule
