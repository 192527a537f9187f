// Stages that GPUs compute as matrix products in tiles: what the rules for them need to know.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/types.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// One of the two operands.
struct GpuOperand {
  std::string tensor;
  DType type = DType::f32;
  // The axis along which its elements are contiguous, if an element's index there is the axis itself.
  enum class Contiguous : std::uint8_t { side, depth, other } contiguous = Contiguous::other;
  bool is_plain = false;  // each of its indices is an axis

  std::int64_t bytes() const { return static_cast<std::int64_t>(dtype_bytes(type)); }
};

// A contraction over one axis.
struct GpuContraction {
  std::size_t row = 0, column = 0;  // axes of the stage
  GpuOperand rows, columns;
  // Extents; 0 if they are known only at run time.
  std::int64_t row_extent = 0, column_extent = 0, depth_extent = 0;
};

// The stages of a scheduled contraction: sums in registers, results, and pieces of both operands in shared memory.
struct GpuProductStages {
  schedule::StageHandle sums, result, rows, columns;
  std::vector<std::string> batches;  // loops of the result over other axes than the row and the column
};

// Adds those that are missing. `last` is the last epilogue, whose results these are; empty: there is none.
GpuProductStages make_product_stages(schedule::Schedule& schedule, schedule::StageHandle contraction_stage,
                                     const GpuContraction& contraction, const std::string& last);

// Returns nothing for stages that are not contractions over one axis, and for those too small for tiling to pay off.
std::optional<GpuContraction> find_gpu_contraction(const schedule::ScheduledStage& stage);

}  // namespace ferry::autoschedule
