// A function's body as a list of steps, some of which repeat those after them. Sizes and offsets are values, each
// defined once by an expression over the function's symbols and earlier values, so one plan serves every call.
#pragma once

#include "module/manifest_expr.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ferry {

inline constexpr std::size_t kMaxValues = 65'536;
inline constexpr std::size_t kMaxSteps = 65'536;
inline constexpr std::size_t kMaxOperands = 2048;
inline constexpr std::size_t kMaxWorkspaces = 1024;
inline constexpr std::size_t kMaxRepeatDepth = 4;
inline constexpr std::size_t kMaxLoopValues = 1024;

// Names a symbol of the function, or a value of the plan: the number of symbols plus the value's position.
using ValueIndex = std::uint32_t;
// In place of an index: 1 for an extent, otherwise 0.
inline constexpr ValueIndex kNoValue = UINT32_MAX;

enum class OperandKind : std::uint8_t {
  argument = 1,    // the memory of a tensor parameter
  workspace = 2,   // a block that is valid for the duration of the call
  scalar = 3,      // the value of a scalar parameter
  value = 4,       // a symbol or value, int64
  constant = 5,    // a range of a blob
  persistent = 6,  // memory of the instance, which the init plan writes
};

struct Operand {
  OperandKind kind = OperandKind::argument;
  std::uint32_t index = 0;       // the number of the parameter, workspace, value, constant or persistent buffer
  ValueIndex offset = kNoValue;  // for memory: byte offset from its start
  bool operator==(const Operand&) const = default;
};

// A place in a workspace, or none.
struct WorkspacePlace {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t workspace = kNone;
  ValueIndex offset = kNoValue;
  bool is_given() const { return workspace != kNone; }
  bool operator==(const WorkspacePlace&) const = default;
};

// Calls native code on a CPU. It receives a pointer for each operand, scalars and values by address.
struct CallStep {
  std::uint32_t device = 0;
  std::string symbol;
  std::vector<Operand> operands;
  WorkspacePlace workspace;                // what the runtime gives the code as the call's workspace
  ValueIndex thread_workspace = kNoValue;  // bytes for each thread
  std::uint32_t first_message = 0;         // a result r > 0 means the function's message first_message + r - 1
  bool operator==(const CallStep&) const = default;
};

// Runs a kernel of the device's image with grid * block threads; the operands are in the order of its parameters.
struct LaunchStep {
  std::uint32_t device = 0;
  std::string kernel;
  // Extents along x, y and z. Nothing runs if an extent of the grid is below 1.
  std::array<ValueIndex, 3> grid{kNoValue, kNoValue, kNoValue}, block{kNoValue, kNoValue, kNoValue};
  ValueIndex shared_bytes = kNoValue;  // in addition to what the kernel declares itself
  std::vector<Operand> operands;
  // The address of an i32, the result of this step and of the launches before it, valid after the step. It is read
  // before the next step on a CPU and at the end.
  WorkspacePlace result;
  std::uint32_t first_message = 0;
  bool operator==(const LaunchStep&) const = default;
};

// Copies bytes between two places that do not overlap.
struct CopyStep {
  Operand to, from;
  ValueIndex bytes = kNoValue;
  bool operator==(const CopyStep&) const = default;
};

// Repeats the low bytes of a pattern. `bytes` is a multiple of their number.
struct FillStep {
  Operand to;
  ValueIndex bytes = kNoValue;
  std::uint8_t pattern_bytes = 1;  // 1, 2 or 4
  std::uint32_t pattern = 0;
  bool operator==(const FillStep&) const = default;
};

// A value that grows by a stride from one iteration of a repeat to the next. It begins at what its expression says, and
// is that again after the repeat. Several repeats around a step may let the same value grow.
struct LoopValue {
  ValueIndex value = kNoValue, stride = kNoValue;
  bool operator==(const LoopValue&) const = default;
};

// Runs the steps that follow in the list `count` times, not at all below 1. Loop values may be offsets of operands, and
// operands. With a condition, the repeat ends before the first iteration at whose beginning that byte of memory is 0.
struct RepeatStep {
  ValueIndex count = kNoValue;
  std::uint32_t steps = 0;        // number of them, nested repeats and their steps included
  std::vector<LoopValue> values;  // in ascending order of the values
  std::optional<Operand> condition = {};
  bool operator==(const RepeatStep&) const = default;
};

// In the order of their tags, from 1 on. A repeat with a condition has a tag of its own behind them.
using Step = std::variant<CallStep, LaunchStep, CopyStep, FillStep, RepeatStep>;

// Calls visit(operand) for each operand of a step.
template <class Visit>
void for_each_operand(const Step& step, Visit visit) {
  if (const auto* call = std::get_if<CallStep>(&step)) {
    for (const Operand& operand : call->operands) visit(operand);
  } else if (const auto* launch = std::get_if<LaunchStep>(&step)) {
    for (const Operand& operand : launch->operands) visit(operand);
  } else if (const auto* copy = std::get_if<CopyStep>(&step)) {
    visit(copy->to);
    visit(copy->from);
  } else if (const auto* fill = std::get_if<FillStep>(&step)) {
    visit(fill->to);
  } else if (const auto* repeat = std::get_if<RepeatStep>(&step); repeat != nullptr && repeat->condition) {
    visit(*repeat->condition);
  }
}

struct Workspace {
  std::uint32_t device = 0;
  ValueIndex bytes = kNoValue;
  bool operator==(const Workspace&) const = default;
};

struct Plan {
  std::vector<ManifestExpr> values;
  std::vector<Workspace> workspaces;
  std::vector<Step> steps;
  bool operator==(const Plan&) const = default;
};

// Returns the index of this expression over symbols and earlier values, which is added to the plan if it has none yet.
// kNoValue for an expression without code.
ValueIndex add_value(Plan& plan, std::size_t symbol_count, ManifestExpr expr);

}  // namespace ferry
