#include "crosscompile/passes/pipeline.h"

#include "crosscompile/intrinsics/lower_intrinsics.h"
#include "crosscompile/ir/validator.h"
#include "crosscompile/passes/gpu/copy_async.h"
#include "crosscompile/passes/gpu/gpu_limits.h"
#include "crosscompile/passes/gpu/insert_barriers.h"
#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/passes/gpu/reduce_threads.h"
#include "crosscompile/passes/gpu/split_vthreads.h"
#include "crosscompile/passes/legalize/legalize_floats.h"
#include "crosscompile/passes/loops/drop_unread.h"
#include "crosscompile/passes/loops/partition_loops.h"
#include "crosscompile/passes/loops/specialize_full_tiles.h"
#include "crosscompile/passes/loops/unroll_loops.h"
#include "crosscompile/passes/loops/unroll_registers.h"
#include "crosscompile/passes/lower_math/lower_math.h"
#include "crosscompile/passes/memory/flatten.h"
#include "crosscompile/passes/memory/plan_workspace.h"
#include "crosscompile/passes/report_checks.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/select_instructions.h"
#include "crosscompile/passes/vector/scalarize.h"
#include "crosscompile/passes/vector/vectorize.h"

#include <string>
#include <utility>

namespace ferry::passes {
namespace {

using ir::Function;

constexpr Pass kPipeline[] = {
    {"simplify", [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"map_threads", [](Function f, const Target&) { return map_threads(std::move(f)); }},
    {"reduce_threads", [](Function f, const Target& target) { return reduce_threads(std::move(f), target); }},
    {"split_vthreads", [](Function f, const Target&) { return split_vthreads(std::move(f)); }},
    {"simplify_threads", [](Function f, const Target&) { return has_gpu_loops(f.body) ? simplify(std::move(f)) : f; }},
    {"select_instructions", [](Function f, const Target& target) { return select_instructions(std::move(f), target); }},
    {"insert_barriers", [](Function f, const Target&) { return insert_barriers(std::move(f)); }},
    {"copy_async", [](Function f, const Target& target) { return copy_async(std::move(f), target); }},
    {"specialize_full_tiles",
     [](Function f, const Target& target) { return target.is_gpu() ? specialize_full_tiles(std::move(f)) : f; }},
    {"unroll_registers",
     [](Function f, const Target& target) { return target.is_gpu() ? unroll_registers(std::move(f)) : f; }},
    {"partition_loops",
     [](Function f, const Target& target) { return target.keeps_loops ? f : partition_loops(std::move(f), target); }},
    {"unroll_loops",
     [](Function f, const Target& target) { return target.keeps_loops ? f : unroll_loops(std::move(f)); }},
    {"simplify_loops", [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"vectorize",
     [](Function f, const Target& target) { return target.keeps_loops ? f : vectorize(std::move(f), target); }},
    {"simplify_vectors", [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"lower_intrinsics", [](Function f, const Target& target) { return lower_intrinsics(std::move(f), target); }},
    {"legalize_floats", [](Function f, const Target& target) { return legalize_floats(std::move(f), target); }},
    {"lower_math", [](Function f, const Target& target) { return lower_math(std::move(f), target); }},
    {"drop_unread", [](Function f, const Target& target) { return target.is_gpu() ? drop_unread(std::move(f)) : f; }},
    {"plan_workspace",
     [](Function f, const Target& target) {
       return plan_workspace(std::move(f), target.is_gpu() ? kGpuWorkspaceAlignment : kWorkspaceAlignment);
     }},
    {"report_checks",
     [](Function f, const Target& target) { return target.is_gpu() ? report_checks(std::move(f)) : f; }},
    {"flatten", [](Function f, const Target&) { return flatten(std::move(f)); }},
    {"simplify_addresses", [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"scalarize", [](Function f, const Target& target) { return target.is_source ? scalarize(std::move(f)) : f; }},
    {"check_gpu_limits",
     [](Function f, const Target& target) {
       if (target.is_gpu()) check_gpu_limits(f, target);
       return f;
     }},
};

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

ir::Function run_pipeline(ir::Function function, const Target& target,
                          const std::function<void(std::string_view pass, const ir::Function&)>& after) {
  for (const Pass& pass : pipeline()) {
    function = pass.run(std::move(function), target);
#ifndef NDEBUG
    ir::validate(function, std::string(pass.name));
#endif
    if (after) after(pass.name, function);
  }
  return function;
}

}  // namespace ferry::passes
