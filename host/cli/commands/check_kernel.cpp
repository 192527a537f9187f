#include <cstdio>
#include <memory>
#include <string>

#include "host/cli/commands/check_foreign.h"
#include "host/cli/commands/check_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/junit_option.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/output/style.h"
#include "host/verify/check_interpreted.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  CallOptions call;
  CheckOptions check;
  std::string target;
  std::string against;  // path of a file
  std::string junit;    // path of a file
  bool json = false;
  bool verbose = false;
};

int run_check(const Options& options, JUnitReport& report) {
  if (foreign::is_foreign(options.kernel.file)) {
    if (!options.target.empty() && options.target != "host")
      throw UsageError(options.kernel.file + " is run under sanitizers on this machine: expected no --target");
    return check_foreign(options.kernel, options.call, options.check, options.against, options.json, report);
  }
  const Observer observer = terminal(options.kernel.deadline);
  const KernelSource source = read_kernel(options.kernel, observer);
  if (source.module)
    throw UsageError(source.name + " is compiled already: expected a kernel in ferry's own notation, or in C or C++");
  if (!options.against.empty())
    throw UsageError("--check-against: expected a kernel in C or C++; " + source.name +
                     " is checked against its own definition");
  const verify::InterpretedCheck finding = verify::check_interpreted(source, options.kernel.function, options.target,
                                                                     options.call, options.check.limits, observer);
  report.cases.push_back({.name = finding.info.name + " thread by thread", .failure = finding.mistake});
  add_cases(finding.checks, report);
  if (options.json) {
    Json checks = Json::array();
    for (const verify::CheckResult& result : finding.checks) checks.push_back(check_json(result));
    print_json({{"schema", "ferry.check/1"},
                {"function", finding.info.name},
                {"target", finding.target.text},
                {"fine", finding.fine()},
                {"mistake", finding.mistake.empty() ? Json(nullptr) : Json(finding.mistake)},
                {"check", checks}});
  } else {
    for (const verify::CheckResult& result : finding.checks) printf("%s\n", to_text(result).c_str());
    if (finding.mistake.empty())
      printf("%s: %s: no race, and every index inside of its tensor, as compiled for %s\n", finding.info.name.c_str(),
             painted(stdout, Color::green, "fine").c_str(), target_text(finding.target.text, options.verbose).c_str());
  }
  if (finding.fine()) return kExitFine;
  if (!finding.mistake.empty()) print_error(finding.info.name + ": " + finding.mistake);
  print_mistakes(finding.checks);
  return kExitWrongResult;
}

}  // namespace

void add_check(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("check", "Run a kernel's loops, blocks and threads step by step and look for mistakes");
  add_kernel_options(command, options->kernel, "The kernel: K.tc, K.c, K.cpp, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  command
      .add_option("--target", options->target,
                  "What it is compiled for (default: opencl when the schedule binds loops to threads, else this "
                  "machine); see 'ferry targets'")
      ->type_name("TARGET");
  add_call_options(command, options->call);
  add_tolerance_options(command, options->check);
  add_check_against_option(command, options->against);
  add_json_option(command, options->json);
  add_junit_option(command, options->junit);
  add_verbose_option(command, options->verbose);
  command.footer(
      "Nothing runs on a device: each thread runs from barrier to barrier, every index is checked against its tensor,\n"
      "every value must have been written before it is read, and no two threads may meet at an element that one of\n"
      "them writes. Then the results are compared with the definition. Small sizes find most mistakes; this is "
      "slow.\n"
      "A kernel in C or C++ runs on this machine, compiled with clang's sanitizers of addresses and undefined "
      "behaviour.\n\n"
      "Exit codes: 0 no mistake; 1 a race, an index outside, a wrong result; others as of every command.\n\n"
      "Examples:\n"
      "  ferry check mm.tc --schedule gpu.schedule --size M=33,N=65,K=17\n"
      "  ferry check mm.tc --schedule gpu.schedule --size M=64,N=64,K=64 --target 'cuda -arch=sm_80'\n"
      "  ferry check mine.c --size M=33,N=65,K=17 --check-against mm.tc");
  command.callback([options, &chosen] {
    chosen = [options] {
      return with_junit(options->junit, "ferry check " + options->kernel.file,
                        [&](JUnitReport& report) { return run_check(*options, report); });
    };
  });
}

}  // namespace ferry::cli
