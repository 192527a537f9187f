// The body of a function that runs on a GPU, as a straight-line list of steps. Sizes and offsets are expressions over
// the function's symbols, so one plan serves every call.
#pragma once

#include "module/manifest_expr.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry {

inline constexpr std::size_t kMaxSteps = 4096;
inline constexpr std::size_t kMaxOperands = 128;

enum class OperandKind : std::uint8_t {
  argument = 1,        // the memory of a tensor parameter
  call_workspace = 2,  // the block that is valid for the duration of the call
  scalar = 3,          // the value of a scalar parameter
  symbol = 4,          // a size, int64
};

// An operand of a step.
struct Operand {
  OperandKind kind = OperandKind::argument;
  std::uint32_t index = 0;  // index of the parameter or symbol; 0 for the workspace
  ManifestExpr offset;      // for memory: byte offset from its start; empty code: 0
  bool operator==(const Operand&) const = default;
};

// Runs a kernel of the module's image with grid * block threads; the operands are in the order of its parameters.
struct Launch {
  std::string kernel;
  // Extents along x, y and z; empty code: 1. Nothing runs if an extent of the grid is below 1.
  std::array<ManifestExpr, 3> grid, block;
  ManifestExpr shared_bytes;  // in addition to what the kernel declares itself; empty code: 0
  std::vector<Operand> operands;
  bool operator==(const Launch&) const = default;
};

// Unlisted tags are reserved for calls of native code, copies, fills, streams, events, conditions and loops.
enum class StepKind : std::uint8_t { launch = 2 };

struct Step {
  StepKind kind = StepKind::launch;
  Launch launch;
  bool operator==(const Step&) const = default;
};

using Plan = std::vector<Step>;

}  // namespace ferry
