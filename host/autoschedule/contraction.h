// Recognises reductions that are matrix products: each result sums up products of an element of one tensor, which all
// results of a column share, and an element of another, which all results of a row share. Convolutions are such
// products.
#pragma once

#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// Columns in blocks of one vector: the axis of the stage over the blocks, and the dimension of column_load's tensor
// that it alone indexes.
struct ColumnBlocks {
  std::size_t axis = 0, dimension = 0;
};

// The products of one sum that an instruction for dots (crosscompile/passes/tensorize/dot_instructions.h) adds at once.
struct ProductGroup {
  std::size_t axis = 0;       // the reduction's last axis
  std::size_t dimension = 0;  // the last dimension of column_load's tensor, which it alone indexes
  std::int64_t size = 1;
  // Whether two dots of one sum, the next group being the second's, take fewer instructions than each by itself
  // (crosscompile/passes/tensorize/merge_dots.h).
  bool merges = false;
  std::int64_t temporaries = 0;  // registers that the instruction needs besides its operands
};

struct Contraction {
  // The stage's values when the contraction was found. They own the two loads, which packing replaces in the stage.
  std::vector<ir::Expr> values;
  const ir::Load* row_load = nullptr;     // varies from row to row, not from column to column
  const ir::Load* column_load = nullptr;  // varies from column to column, not from row to row
  std::size_t row = 0, column = 0;        // axes of the stage; `row` is the innermost over rows, or the number of axes
  std::optional<std::size_t> outer_row;   // the axis over rows outside of `row`, with more than one iteration
  std::size_t row_dimension = 0;          // dimension of row_load's tensor indexed by the row alone, or its rank
  std::size_t column_dimension = 0;       // dimension of column_load's tensor indexed by the column alone
  // The axis that enumerates vectors of columns where the axis `column` is only one vector long, as in NCHWc.
  std::optional<ColumnBlocks> blocks;
  std::optional<ProductGroup> group;             // if the columns are in blocks, and the target adds such products
  std::int64_t rows = 1, columns = 1;            // over all axes of rows; over `column` and `blocks`
  std::int64_t depth = 1;                        // number of products in each result
  std::int64_t row_bytes = 0, column_bytes = 0;  // sizes of the two whole tensors
  bool is_column_contiguous = false;             // in column_load's tensor
  bool is_column_constant = false;  // whether column_load's tensor is constant: it is packed once, not in every call
  bool is_column_inlined = false;   // whether it is an inlined stage, whose elements come from elsewhere in any order
};

// Names of the constant parameters and of the stages that are computed from them alone.
using ConstantNames = std::set<std::string>;

// Whether the target has an instruction that adds the products of groups, one group for each column of a block: whether
// the last axis of the reduction moves along contiguous elements of both tensors, and the column along whole groups.
std::optional<ProductGroup> find_group(const schedule::ScheduledStage& stage, const Contraction& contraction,
                                       std::int64_t lanes, const Target& target);

// Returns nothing unless all extents are constants. Chooses rows and columns so that the columns are contiguous and
// fill vectors of `lanes` best.
std::optional<Contraction> find_contraction(const schedule::ScheduledStage& stage, std::int64_t lanes,
                                            const ConstantNames& constants);

// Returns the contraction of these rows and columns, the latter along an axis of the stage, or nothing if it is none.
// Sizes that are open are 0.
std::optional<Contraction> contraction_with_columns(const schedule::ScheduledStage& stage, const ir::Load* rows,
                                                    const ir::Load* columns, std::size_t column);

// Returns the number of bytes between two elements of the tensor along the dimension; 0 when it is not a constant.
std::int64_t stride_bytes(const ir::Buffer& tensor, std::size_t dimension);

}  // namespace ferry::autoschedule
