#include "host/cli/commands/check_foreign.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "crosscompile/foreign/sanitized_run.h"
#include "host/cli/commands/check_against.h"
#include "host/cli/commands/same_call.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/terminal.h"
#include "host/session/scalar.h"

namespace ferry::cli {

namespace {

const foreign::Signature& signature_named(const foreign::ForeignKernel& kernel, const std::string& name) {
  return *std::find_if(kernel.signatures.begin(), kernel.signatures.end(),
                       [&](const foreign::Signature& signature) { return signature.function.name == name; });
}

std::vector<foreign::SanitizedArgument> arguments_of(const FunctionInfo& info, const CallPlan& plan) {
  std::vector<foreign::SanitizedArgument> arguments(info.parameters.size());
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (plan.scalars[p]) {
      arguments[p].scalar_bits = session::scalar_bits(info, p, *plan.scalars[p]);
    } else if (info.parameters[p].direction == Direction::out) {
      arguments[p].bytes.resize(static_cast<std::size_t>(plan.bytes(p)));
    } else {
      arguments[p].bytes = plan.host_copy(p);
    }
  }
  return arguments;
}

foreign::SanitizedRun run(const KernelSource& source, const FunctionInfo& info, const CallPlan& plan,
                          const Observer& observer) {
  const Scope step = observer.begin("running " + info.name + " under sanitizers");
  Scope compilation = observer.begin_compilation(source.name);
  const foreign::SanitizedProgram program(*source.foreign, signature_named(*source.foreign, info.name),
                                          arguments_of(info, plan), plan.symbols);
  compilation.reset();
  return program.run();
}

struct Held {
  std::vector<CheckResult> checks;
  std::vector<verify::OutputComparison> compared;
  bool fine() const {
    return std::all_of(checks.begin(), checks.end(), [](const CheckResult& result) { return result.wrong == 0; }) &&
           difference_text(compared).empty();
  }
};

Held hold_against(const KernelSource& against, const RanKernel& ran, const CheckOptions& options,
                  const Observer& observer) {
  if (has_definition(against)) return {check_against_definition(against, ran, options), {}};
  if (!against.foreign) throw UsageError(against.name + ": expected a kernel's text to check against, got a module");
  const FunctionInfo other = function_of(against, "");
  const verify::ParameterPairs pairs = expect_same_parameters(ran.info, other, "--check-against");
  const CallPlan plan = plan_same_call(other, ran.info, ran.plan, pairs);
  const foreign::SanitizedRun result = run(against, other, plan, observer);
  if (!result.mistake.empty()) throw UsageError(against.name + " cannot be checked against: " + result.mistake);
  return {{},
          compare_all_outputs(ran.info, ran.plan, ran.outputs, result.outputs, pairs, {options.rtol, options.atol})};
}

}  // namespace

int check_foreign(const KernelCommand& kernel, const CallOptions& call, const CheckOptions& options,
                  const std::string& against, bool json) {
  const Observer observer = terminal(kernel.deadline);
  const CheckedPair kernels = read_checked_pair(kernel, against, observer);
  const KernelSource& source = kernels.source;
  const std::optional<KernelSource>& other = kernels.against;
  const FunctionInfo info = function_of(source, kernel.function);
  const CallPlan plan = plan_call(info, call);
  const foreign::SanitizedRun result = run(source, info, plan, observer);
  Held held;
  if (result.mistake.empty() && other) held = hold_against(*other, {info, plan, result.outputs}, options, observer);
  const bool fine = result.mistake.empty() && held.fine();
  if (json) {
    Json checks = Json::array(), compared = Json::array();
    for (const CheckResult& check : held.checks) checks.push_back(check_json(check));
    for (const verify::OutputComparison& output : held.compared) compared.push_back(comparison_json(output));
    print_json({{"function", info.name},
                {"target", "host"},
                {"fine", fine},
                {"mistake", result.mistake.empty() ? Json(nullptr) : Json(result.mistake)},
                {"report", result.report},
                {"check", checks},
                {"compared", compared}});
  } else if (result.mistake.empty()) {
    for (const CheckResult& check : held.checks) printf("%s\n", to_text(check).c_str());
    for (const verify::OutputComparison& output : held.compared) printf("%s\n", to_text(output, against).c_str());
    printf("%s: clang's sanitizers found nothing with these inputs\n", info.name.c_str());
  }
  fflush(stdout);
  if (!result.mistake.empty()) {
    if (!json) fputs(result.report.c_str(), stderr);
    fprintf(stderr, "ferry: %s: %s\n", info.name.c_str(), result.mistake.c_str());
  }
  for (const CheckResult& check : held.checks)
    if (check.wrong > 0) fprintf(stderr, "ferry: wrong result: %s\n", check.first_wrong.c_str());
  if (const std::string difference = difference_text(held.compared); !difference.empty())
    fprintf(stderr, "ferry: %s and %s differ: %s\n", source.name.c_str(), against.c_str(), difference.c_str());
  return fine ? kExitFine : kExitWrongResult;
}

}  // namespace ferry::cli
