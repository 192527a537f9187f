// Reductions that are products of matrices underneath: each result adds up products of an element of one tensor, which
// all results of a column share, and one of another, which all results of a row share. Convolutions are such products.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <optional>
#include <set>
#include <string>

namespace ferry::schedule {

struct Product {
  const ir::Load* row_load = nullptr;     // differs from row to row, not from column to column
  const ir::Load* column_load = nullptr;  // differs from column to column, not from row to row
  std::size_t row = 0, column = 0;        // axes of the stage; the innermost over rows, or their number
  std::size_t row_dimension = 0;          // of row_load's tensor: the one that is the row and nothing else, or its rank
  std::size_t column_dimension = 0;       // of column_load's tensor: the one that is the column and nothing else
  std::int64_t rows = 1, columns = 1;     // over all axes of rows
  std::int64_t depth = 1;                 // products a result
  std::int64_t row_bytes = 0, column_bytes = 0;  // of the two tensors, whole
  bool is_column_contiguous = false;             // in column_load's tensor
  bool is_column_constant = false;  // column_load's tensor is: a copy of it is made once, not in every call
};

// Names of the parameters that are constant.
using Constants = std::set<std::string>;

// Nothing unless all extents are constants; of several ways to see rows and columns the one whose columns fill vectors
// of `lanes` best and are contiguous.
std::optional<Product> find_product(const ScheduledStage& stage, std::int64_t lanes, const Constants& constants);

// Bytes between two elements of the tensor along the dimension; 0 when that is not a constant.
std::int64_t stride_bytes(const ir::Buffer& tensor, std::size_t dimension);

}  // namespace ferry::schedule
