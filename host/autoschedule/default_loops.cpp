#include "host/autoschedule/default_loops.h"

#include "crosscompile/ir/visitor.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Loop;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// With fewer element operations a parallel loop costs more than it saves.
constexpr std::int64_t kWorthThreads = 16384;

class WidestType : public Visitor {
 public:
  std::uint32_t bytes = 1;

 protected:
  void note(Type type) {
    // Narrow floats are computed as float32.
    bytes = std::max(bytes, type.is_narrow_float() ? 4U : static_cast<std::uint32_t>(dtype_bytes(type.code)));
  }
  // The indices of a load are index arithmetic, not data: only the element counts.
  void visit_node(const Load& node) override { note(node.type); }
  void visit_node(const Cast& node) override {
    note(node.type);
    Visitor::visit_node(node);
  }
  void visit_node(const Call& node) override {
    note(node.type);
    Visitor::visit_node(node);
  }
  // Divisions are computed lane by lane, in code that grows with the lanes of the narrowest type; by a constant they
  // are multiplications.
  void visit_node(const Binary& node) override {
    const bool divides = node.op == BinaryOp::div || node.op == BinaryOp::mod;
    if (divides && as_int(node.right) == nullptr) note(node.type);
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;
};

}  // namespace

std::int64_t constant_extent(const Expr& extent) {
  const std::int64_t* value = as_int(extent);
  return value ? std::max<std::int64_t>(*value, 0) : 0;
}

std::int64_t constant_bytes(const Buffer& tensor) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  for (const Expr& size : tensor.shape)
    if (__builtin_mul_overflow(bytes, constant_extent(size), &bytes)) return 0;
  return bytes;
}

std::vector<Expr> sources_of(const ScheduledStage& stage) {
  if (const Reduce* reduce = stage.reduction()) return reduce->sources;
  return stage.values;
}

std::int64_t native_lanes(const ScheduledStage& stage, const Target& target) {
  WidestType widest;
  widest.bytes = static_cast<std::uint32_t>(dtype_bytes(stage.values[0].type().code));
  for (const Expr& source : sources_of(stage)) widest.visit(source);
  return std::max(1U, target.lanes(widest.bytes));
}

std::int64_t l1_bytes(const Target& target) {
  constexpr std::int64_t kCommon = 32 << 10;
  return target.l1_bytes == 0 ? kCommon : static_cast<std::int64_t>(target.l1_bytes);
}

std::int64_t l2_bytes(const Target& target) {
  constexpr std::int64_t kCommon = 512 << 10;
  return target.l2_bytes == 0 ? kCommon : static_cast<std::int64_t>(target.l2_bytes);
}

const ScheduledStage& stage_of(const Schedule& schedule, const StageHandle& handle) {
  return *find_stage(schedule.stages(), handle.name());
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> names_in_order(const StageLoops& loops) {
  std::vector<std::string> names;
  for (std::size_t id : loops.order()) names.push_back(loops.loop(id).name);
  return names;
}

std::string fuse_all(StageHandle handle, const std::vector<std::string>& names) {
  std::string all = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) all = handle.fuse(all, names[i]);
  return all;
}

bool is_worth_threads(const StageLoops& loops) {
  std::int64_t work = 1;
  for (std::size_t id : loops.order()) {
    const std::int64_t extent = constant_extent(loops.loop(id).extent);
    if (extent == 0 && !is_constant(loops.loop(id).extent, 0))
      work = kWorthThreads;  // unknown: assume enough work
    else if (work < kWorthThreads)
      work *= std::max<std::int64_t>(extent, 1);
  }
  return work >= kWorthThreads;
}

bool has_known_extents(const ScheduledStage& stage, const schedule::Stages* at_any_size) {
  if (at_any_size == nullptr) return true;
  const ScheduledStage* open = find_stage(*at_any_size, stage.name);
  if (open == nullptr || open->axes.size() != stage.axes.size()) return false;
  for (std::size_t a = 0; a < stage.axes.size(); ++a)
    if (as_int(open->axes[a].extent) == nullptr && !is_constant(stage.axes[a].extent, 1)) return false;
  return true;
}

bool has_open_extent(const ScheduledStage& stage, std::initializer_list<std::size_t> axes) {
  return std::ranges::any_of(axes, [&](std::size_t axis) { return constant_extent(stage.axes[axis].extent) == 0; });
}

std::vector<std::string> loops_to_share(const StageLoops& loops, const std::vector<std::string>& names,
                                        const Target& target) {
  constexpr std::int64_t kCommonThreads = 2, kMany = 8;  // with so many iterations each, one more is little
  const std::int64_t threads = target.threads == 0 ? kCommonThreads : static_cast<std::int64_t>(target.threads);
  std::vector<std::string> shared;
  std::int64_t iterations = 1;
  for (const std::string& name : names) {
    const Expr& extent = loops.loop(*loops.find(name)).extent;
    if (shared.empty() && is_constant(extent, 1)) continue;
    shared.push_back(name);
    iterations *= constant_extent(extent);
    if (iterations % threads == 0 || iterations >= kMany * threads) break;
  }
  return shared;
}

void make_parallel(const Schedule& schedule, StageHandle handle) {
  const StageLoops& loops = stage_of(schedule, handle).loops;
  if (!is_worth_threads(loops)) return;
  for (std::size_t id : loops.order()) {
    const Loop& loop = loops.loop(id);
    if (loop.reduces || loop.dependence != schedule::Dependence::none || loop.kind != ForKind::serial) return;
    if (is_constant(loop.extent, 1)) continue;
    handle.parallel(loop.name);
    return;
  }
}

}  // namespace ferry::autoschedule
