#include "host/cli/commands/check_foreign.h"

#include <cstdio>

#include "host/cli/commands/check_report.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/terminal.h"
#include "host/verify/check_sanitized.h"

namespace ferry::cli {

int check_foreign(const KernelCommand& kernel, const CallOptions& call, const CheckOptions& options,
                  const std::string& against, bool json) {
  const Observer observer = terminal(kernel.deadline);
  const verify::CheckedPair kernels = verify::read_checked_pair(kernel, against, observer);
  const verify::SanitizedCheck found =
      verify::check_sanitized(kernels, kernel.function, call, options.limits, observer);
  const foreign::SanitizedRun& result = found.run;
  if (json) {
    Json checks = Json::array(), compared = Json::array();
    for (const verify::CheckResult& check : found.checks) checks.push_back(check_json(check));
    for (const verify::OutputComparison& output : found.compared) compared.push_back(comparison_json(output));
    print_json({{"function", found.info.name},
                {"target", "host"},
                {"fine", found.fine()},
                {"mistake", result.mistake.empty() ? Json(nullptr) : Json(result.mistake)},
                {"report", result.report},
                {"check", checks},
                {"compared", compared}});
  } else if (result.mistake.empty()) {
    for (const verify::CheckResult& check : found.checks) printf("%s\n", to_text(check).c_str());
    for (const verify::OutputComparison& output : found.compared) printf("%s\n", to_text(output, against).c_str());
    printf("%s: clang's sanitizers found nothing with these inputs\n", found.info.name.c_str());
  }
  fflush(stdout);
  if (!result.mistake.empty()) {
    if (!json) fputs(result.report.c_str(), stderr);
    fprintf(stderr, "ferry: %s: %s\n", found.info.name.c_str(), result.mistake.c_str());
  }
  for (const verify::CheckResult& check : found.checks)
    if (check.wrong > 0) fprintf(stderr, "ferry: wrong result: %s\n", check.first_wrong.c_str());
  if (const std::string difference = verify::difference_text(found.compared); !difference.empty())
    fprintf(stderr, "ferry: %s and %s differ: %s\n", kernels.source.name.c_str(), against.c_str(), difference.c_str());
  return found.fine() ? kExitFine : kExitWrongResult;
}

}  // namespace ferry::cli
