#include "host/autoschedule/math_lanes.h"

#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/lower_math/lower_math.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/vector_axis.h"

namespace ferry::autoschedule {

using namespace ir;
using schedule::ScheduledStage;

namespace {

constexpr int kMostCalls = 4;

// The time of a function with vectors of so many registers, as a share of that with one register each.
struct Length {
  std::int64_t registers;
  double share;
};
// On Zen 1, ten functions took 0.80 to 0.98 of the time with two registers, and 0.74 to 0.93 with four.
constexpr Length kLengths[] = {{1, 1}, {2, 0.88}, {4, 0.8}};

class CallCount : public Visitor {
 public:
  explicit CallCount(const Target& target) : target_(target) {}
  int calls = 0;

 protected:
  void visit_node(const Call& node) override {
    calls += passes::is_expanded(node, target_) ? 1 : 0;
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;

 private:
  const Target& target_;
};

// Returns the time for so many elements, in that of one register.
double time_of(std::int64_t count, std::int64_t native, Length length, bool has_masks) {
  const std::int64_t lanes = native * length.registers, rest = count % lanes;
  const double vector = static_cast<double>(length.registers) * length.share;
  const double tail = rest == 0 ? 0 : has_masks ? vector : static_cast<double>(rest);
  return static_cast<double>(count / lanes) * vector + tail;
}

}  // namespace

bool has_long_chains(const ScheduledStage& stage, const Target& target) {
  CallCount count(target);
  for (const Expr& source : sources_of(stage)) count.visit(source);
  return count.calls > 0 && count.calls <= kMostCalls;
}

std::int64_t math_lanes_for(const ScheduledStage& stage, const Expr& extent, const Target& target) {
  const std::int64_t lanes = lanes_for(stage, extent, target), native = native_lanes(stage, target);
  const std::int64_t count = constant_extent(extent);
  if (count == 0 || lanes != native || native == 1 || !has_long_chains(stage, target)) return lanes;
  Length best = kLengths[0];
  for (const Length length : kLengths)
    if (time_of(count, native, length, target.capabilities.masks) <
        time_of(count, native, best, target.capabilities.masks))
      best = length;
  return best.registers * native;
}

}  // namespace ferry::autoschedule
