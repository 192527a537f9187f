#include "host/compiler/llvm/interpreted_kernel.h"

#include <utility>

#include "crosscompile/compile.h"
#include "crosscompile/intrinsics/lower_intrinsics.h"
#include "crosscompile/ir/gpu_loops.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "host/compiler/llvm/scheduled_programs.h"
#include "host/lower/lower.h"

namespace ferry {

InterpretedKernel interpreted_kernel(const Scheduled& scheduled, const Target* target) {
  const Target scheduled_for = target != nullptr ? *target : resolve_target("host");
  const std::vector<schedule::Schedule> schedules = scheduled_programs(scheduled, scheduled_for, false).schedules;
  const ir::Function lowered =
      lower::lower(scheduled.programs.front(), schedules.front(), lower::FunctionsOfC::left_as_loops);
  // A schedule that binds loops to threads is for a GPU.
  const bool is_for_gpu = target == nullptr && ir::has_gpu_loops(lowered.body);
  InterpretedKernel kernel;
  kernel.target = is_for_gpu ? resolve_target("opencl") : scheduled_for;
  ScheduleNotes notes(scheduled, schedules, std::span(&lowered, 1), kernel.target);
  ir::Function threads;  // before tensors are flattened, with one index for each dimension
  const ir::Function finished =
      passes::run_pipeline(lowered, kernel.target, [&](std::string_view pass, const ir::Function& now) {
        if (pass == passes::kLastGpuPass) threads = passes::lower_intrinsics(now, kernel.target);
        notes.after(0, pass, now);
      });
  kernel.notes = notes.texts();
  kernel.info = describe_function(finished);
  kernel.run = [threads = std::move(threads), messages = kernel.info.messages](void* const* arguments) -> std::string {
    try {
      const std::int32_t code = ir::interpret(threads, arguments);
      return code == 0 ? "" : messages.at(static_cast<std::size_t>(code - 1));
    } catch (const ir::InterpreterError& error) {
      return error.what();
    }
  };
  return kernel;
}

}  // namespace ferry
