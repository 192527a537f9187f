#include "host/cli/commands/check_foreign.h"

#include <cstdio>

#include "host/cli/commands/check_report.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/terminal.h"
#include "host/cli/output/style.h"
#include "host/verify/check_sanitized.h"

namespace ferry::cli {

int check_foreign(const KernelCommand& kernel, const CallOptions& call, const CheckOptions& options,
                  const std::string& against, bool json, JUnitReport& report) {
  const Observer observer = terminal(kernel.deadline);
  const verify::CheckedPair kernels = verify::read_checked_pair(kernel, against, observer);
  const verify::SanitizedCheck found =
      verify::check_sanitized(kernels, kernel.function, call, options.limits, observer);
  const foreign::SanitizedRun& result = found.run;
  report.cases.push_back({.name = found.info.name + " under sanitizers", .failure = result.mistake});
  add_cases(found.checks, report);
  add_cases(found.compared, against, report);
  if (json) {
    Json checks = Json::array(), compared = Json::array();
    for (const verify::CheckResult& check : found.checks) checks.push_back(check_json(check));
    for (const verify::OutputComparison& output : found.compared) compared.push_back(comparison_json(output));
    print_json({{"schema", "ferry.check/1"},
                {"function", found.info.name},
                {"target", "host"},
                {"fine", found.fine()},
                {"mistake", result.mistake.empty() ? Json(nullptr) : Json(result.mistake)},
                {"report", result.report},
                {"check", checks},
                {"compared", compared}});
  } else if (result.mistake.empty()) {
    for (const verify::CheckResult& check : found.checks) printf("%s\n", to_text(check).c_str());
    for (const verify::OutputComparison& output : found.compared) printf("%s\n", to_text(output, against).c_str());
    printf("%s: %s: clang's sanitizers found nothing with these inputs\n", found.info.name.c_str(),
           painted(stdout, Color::green, "fine").c_str());
  }
  fflush(stdout);
  if (!result.mistake.empty()) {
    if (!json) fputs(result.report.c_str(), stderr);
    print_error(found.info.name + ": " + result.mistake);
  }
  print_mistakes(found.checks);
  if (const std::string difference = verify::difference_text(found.compared); !difference.empty())
    print_error(kernels.source.name + " and " + against + " differ: " + difference);
  return found.fine() ? kExitFine : kExitWrongResult;
}

}  // namespace ferry::cli
