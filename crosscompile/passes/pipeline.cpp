#include "crosscompile/passes/pipeline.h"

#include "base/cancellation.h"
#include "base/parallel_for.h"
#include "crosscompile/intrinsics/lower_intrinsics.h"
#include "crosscompile/ir/gpu_loops.h"
#include "crosscompile/ir/validator.h"
#include "crosscompile/passes/gpu/copy_async.h"
#include "crosscompile/passes/gpu/gpu_limits.h"
#include "crosscompile/passes/gpu/insert_barriers.h"
#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/passes/gpu/reduce_threads.h"
#include "crosscompile/passes/gpu/split_vthreads.h"
#include "crosscompile/passes/legalize/legalize_floats.h"
#include "crosscompile/passes/loops/eliminate_dead_stores.h"
#include "crosscompile/passes/loops/partition_loops.h"
#include "crosscompile/passes/loops/specialize_full_tiles.h"
#include "crosscompile/passes/loops/trim_reductions.h"
#include "crosscompile/passes/loops/unroll_loops.h"
#include "crosscompile/passes/loops/unroll_registers.h"
#include "crosscompile/passes/lower_assertions.h"
#include "crosscompile/passes/lower_math/lower_math.h"
#include "crosscompile/passes/memory/flatten.h"
#include "crosscompile/passes/memory/plan_workspace.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/merge_dots.h"
#include "crosscompile/passes/tensorize/select_instructions.h"
#include "crosscompile/passes/tensorize/tile_sums.h"
#include "crosscompile/passes/vector/scalarize.h"
#include "crosscompile/passes/vector/vectorize.h"

#include <string>
#include <utility>

namespace ferry::passes {
namespace {

using ir::Function;

// Passes about blocks and threads that are in no group do nothing in functions without such loops.
constexpr Pass kPipeline[] = {
    {"simplify",
     "folds constants and index arithmetic, and removes conditions that always hold, loops that run once or never, and "
     "unused variables",
     [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"map_threads",
     "gives each kernel one grid and one block: all its loops over blocks and threads become one nest around it",
     [](Function f, const Target&) { return map_threads(std::move(f)); }},
    {"reduce_threads", "lets the threads of a block combine their partial results in a tree",
     [](Function f, const Target& target) { return reduce_threads(std::move(f), target); }},
    {"split_vthreads", "replaces virtual threads by loops around the innermost statements that depend on them",
     [](Function f, const Target&) { return split_vthreads(std::move(f)); }},
    {"simplify_threads", "simplifies again, since loops over threads have become one nest",
     [](Function f, const Target&) { return has_gpu_loops(f.body) ? simplify(std::move(f)) : f; }},
    {"select_instructions",
     "finds the arguments of the instructions that `tensorize` asks for; a target without one computes its definition",
     [](Function f, const Target& target) { return select_instructions(std::move(f), target); }},
    {"insert_barriers",
     "places barriers where a thread reads what another one wrote to shared memory, and nowhere else",
     [](Function f, const Target&) { return insert_barriers(std::move(f)); }},
    {"copy_async", "turns fetches that are ahead of their use into asynchronous copies, on CUDA from sm_80 on",
     [](Function f, const Target& target) { return copy_async(std::move(f), target); }},
    {"trim_reductions",
     "shortens a loop to the part in which it does something: where the terms of a sum may be other than 0, or a guard "
     "may hold",
     [](Function f, const Target&) { return trim_reductions(std::move(f)); }, &PassGroups::loops},
    {"specialize_full_tiles",
     "tests once whether a tile is full, and gives full tiles a copy of the code without guards",
     [](Function f, const Target&) { return specialize_full_tiles(std::move(f)); }, &PassGroups::gpu},
    {"unroll_registers", "unrolls the short loops that index a thread's own array, so that it can be kept in registers",
     [](Function f, const Target&) { return unroll_registers(std::move(f)); }, &PassGroups::gpu},
    {"partition_loops",
     "splits a loop into a part in which a condition always holds, which loses it, and the border with it",
     [](Function f, const Target& target) { return partition_loops(std::move(f), target); }, &PassGroups::loops},
    {"unroll_loops", "replaces unrolled loops of constant length by copies of their bodies",
     [](Function f, const Target&) { return unroll_loops(std::move(f)); }, &PassGroups::loops},
    {"simplify_loops", "simplifies again, since loop variables have become constants",
     [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"tile_sums", "keeps the sums of AMX's products in tile registers while loops add to them",
     [](Function f, const Target&) { return tile_sums(std::move(f)); }, &PassGroups::loops},
    {"merge_dots",
     "puts dots that add to the same sum into one statement, where their products can be added up before the sum",
     [](Function f, const Target&) { return merge_dots(std::move(f)); }, &PassGroups::loops},
    {"vectorize", "replaces vectorized loops of constant length by vectors, with masks where lanes are guarded",
     [](Function f, const Target& target) { return vectorize(std::move(f), target); }, &PassGroups::loops},
    {"simplify_vectors", "simplifies again, now with vectors",
     [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"lower_intrinsics", "replaces calls of the user's intrinsics by what their rules say",
     [](Function f, const Target& target) { return lower_intrinsics(std::move(f), target); }},
    {"legalize_floats", "computes `float16` and `bfloat16` in `float32` where the target cannot compute them",
     [](Function f, const Target& target) { return legalize_floats(std::move(f), target); }},
    {"lower_math", "expands the math functions of `float32` into arithmetic, for vectors and scalars alike",
     [](Function f, const Target& target) { return lower_math(std::move(f), target); }},
    {"eliminate_dead_stores", "removes buffers that nothing reads, and what is stored to them",
     [](Function f, const Target&) { return eliminate_dead_stores(std::move(f)); }, &PassGroups::gpu},
    {"plan_workspace",
     "gives each buffer its place in the workspace; those that are not needed at the same time share bytes",
     [](Function f, const Target& target) {
       return plan_workspace(std::move(f), target.pass_groups.gpu ? kGpuWorkspaceAlignment : kWorkspaceAlignment);
     }},
    {"lower_assertions",
     "moves checks between kernels into kernels: after one that fails, the following kernels do nothing",
     [](Function f, const Target&) { return lower_assertions(std::move(f)); }, &PassGroups::gpu},
    {"flatten", "replaces the indices of each access by one, the number of the element",
     [](Function f, const Target&) { return flatten(std::move(f)); }},
    {"simplify_addresses", "simplifies again, since addresses have become sums",
     [](Function f, const Target&) { return simplify(std::move(f)); }},
    {"scalarize", "writes vectors as loops over their lanes, for languages that have none",
     [](Function f, const Target&) { return scalarize(std::move(f)); }, &PassGroups::scalarize},
    {"check_gpu_limits", "refuses kernels with more threads or shared memory than the GPU has",
     [](Function f, const Target& target) {
       check_gpu_limits(f, target);
       return f;
     },
     &PassGroups::gpu},
};

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

ir::Function run_pass(const Pass& pass, ir::Function function, const Target& target) {
  const bool runs = pass.group == nullptr || target.pass_groups.*pass.group;
  return runs ? pass.run(std::move(function), target) : function;
}

ir::Function run_pipeline(ir::Function function, const Target& target,
                          const std::function<void(std::string_view pass, const ir::Function&)>& after) {
  for (const Pass& pass : pipeline()) {
    check_cancelled();
    function = run_pass(pass, std::move(function), target);
#ifndef NDEBUG
    ir::validate(function, std::string(pass.name));
#endif
    if (after) after(pass.name, function);
  }
  return function;
}

std::vector<Function> run_pipeline(std::span<const Function> lowered, const Target& target, const AfterPass& after) {
  std::vector<Function> functions(lowered.size());
  parallel_for(lowered.size(), [&](std::size_t i) {
    functions[i] = run_pipeline(lowered[i], target, [&](std::string_view pass, const Function& now) {
      if (after) after(i, pass, now);
    });
  });
  return functions;
}

}  // namespace ferry::passes
