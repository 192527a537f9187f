#include "host/gate/run/count_sides.h"

#include "host/kernel/retry.h"
#include "host/measure/code_layout.h"
#include "host/measure/instructions.h"
#include "host/measure/measure.h"

namespace ferry::gate {

namespace {

// Calls `work` with the device, the loaded function and its arguments, in a session of its own.
template <class Work>
auto with_function(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side, Side which,
                   const Observer& observer, const Work& work) {
  const CompiledModule module = bench::module_in_layout(measured.compiler, side.module, bench::kFirstLayout);
  const auto call = [&] {
    ConnectOptions connection;
    connection.devices = measured.devices;
    const Device device = open(connection);
    return work(device, device.load(module), make_arguments(side.info, side.plan, device, observer));
  };
  return run_side(which, [&] { return with_retries(observer, call); });
}

}  // namespace

CountedSides count_sides(const OpenSession& open, const RunSettings& measured, const PerSide<MeasuredSide>& sides,
                         const Observer& observer) {
  CountedSides counted;
  Instructions instructions;
  for (const Side side : kSides) {
    const bench::InstructionCount count =
        with_function(open, measured, sides[side], side, observer,
                      [&](const Device& device, const Module& module, const std::vector<Argument>& arguments) {
                        return bench::count_instructions(device, module[sides[side].info.name], arguments,
                                                         {.cores = measured.sampling.bench.cores});
                      });
    if (!count.per_call) {
      counted.reason = count.reason;
      return counted;
    }
    instructions.counts[side] = *count.per_call;
    counted.is_exact = count.is_exact;
  }
  counted.instructions = instructions;
  return counted;
}

void judge_by_instructions(const CountedSides& counted, double tolerance, CaseResult& result) {
  result.instructions = counted.instructions;
  result.by_instructions = true;
  if (!counted.instructions) {
    result.verdict = Verdict::cannot_tell;
    result.reason = "the board is emulated, and " + counted.reason;
    return;
  }
  const double ratio = counted.instructions->ratio();
  result.verdict = ratio > 1 + tolerance         ? Verdict::slower
                   : ratio < 1 / (1 + tolerance) ? Verdict::faster
                                                 : Verdict::no_change;
  result.reason.clear();
}

std::optional<double> share_of_peak(const OpenSession& open, const RunSettings& measured, const MeasuredSide& current,
                                    const Observer& observer) {
  bench::MeasureOptions options;
  options.sampling = measured.sampling;
  return with_function(open, measured, current, Side::current, observer,
                       [&](const Device& device, const Module& module, const std::vector<Argument>& arguments) {
                         return bench::measure(measured.compiler, device, module, current.info.name, arguments, options,
                                               observer)
                             .share_of_flops();
                       });
}

}  // namespace ferry::gate
