#include "crosscompile/passes/gpu/thread_group.h"

#include "crosscompile/ir/shuffle.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <bit>

namespace ferry::passes {

using namespace ir;

ThreadNest thread_nest(const For& outermost) {
  ThreadNest nest;
  nest.innermost = &outermost;
  while (true) {
    const For& loop = *nest.innermost;
    nest.axes.push_back({loop.for_kind, loop.var, *as_int(loop.extent)});
    const For* inner = loop.body.as<For>();
    if (inner == nullptr || !is_thread(inner->for_kind)) return nest;
    nest.innermost = inner;
  }
}

Stmt with_body(const For& outermost, const For& innermost, Stmt body) {
  if (&outermost != &innermost) body = with_body(*outermost.body.as<For>(), innermost, std::move(body));
  return For::make(outermost.var, outermost.min, outermost.extent, outermost.for_kind, std::move(body));
}

bool ThreadGroup::fits_warps() const {
  if (!is_consecutive) return false;
  return groups == 1 || size % kWarp == 0 || kWarp % size == 0;
}

ThreadGroup group_of(std::span<const ThreadAxis> axes, std::span<const Expr> vars) {
  std::vector<ThreadAxis> sorted(axes.begin(), axes.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const ThreadAxis& a, const ThreadAxis& b) { return gpu_axis(a.kind) < gpu_axis(b.kind); });
  ThreadGroup group{Expr(0), Expr(0)};
  group.is_consecutive = true;
  for (const ThreadAxis& axis : sorted) {
    if (axis.extent == 1) continue;
    const bool is_inside =
        std::any_of(vars.begin(), vars.end(), [&](const Expr& var) { return var.same_as(axis.var); });
    if (is_inside && group.groups > 1) group.is_consecutive = false;
    std::int64_t& count = is_inside ? group.size : group.groups;
    Expr& number = is_inside ? group.member : group.group;
    number = axis.var * Expr(count) + number;
    count *= axis.extent;
  }
  group.member = simplify(group.member);
  group.group = simplify(group.group);
  return group;
}

}  // namespace ferry::passes
