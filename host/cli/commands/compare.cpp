#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/commands/compare_report.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/junit_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/measure_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/kernel/compile_kernel.h"
#include "host/measure/compare.h"
#include "host/text/json.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernels[2];
  RemoteOptions remote;
  bench::CompareOptions compare;
  SamplingCommand sampling{bench::CompareOptions().sampling};
  double least_effect_percent = bench::CompareOptions().least_effect * 100;
  std::optional<double> fail_if_slower_percent;
  bool allow_difference = false;
  bool assembly = false;
  std::string junit;  // path of a file
  bool json = false;
};

// The kernels are not measured, since times of different computations are not comparable.
int report_difference(const CompareReport& report, const std::string& difference, bool json) {
  const std::string verdict = "A and B differ: " + difference + "; no verdict";
  if (json) text::print_json(difference_json(report, verdict));
  text::print_error(verdict);
  text::print_note(inputs_text(report.seed));
  return kExitWrongResult;
}

int exit_code(const Options& options, const CompareReport& report, text::JUnitCase& verdict) {
  if (!options.fail_if_slower_percent) return kExitFine;
  const std::string limit = number_text(*options.fail_if_slower_percent) + "%";
  switch (stats::slowdown(report.found.times, *options.fail_if_slower_percent / 100)) {
    case stats::Slowdown::no: return kExitFine;
    case stats::Slowdown::yes:
      verdict.failure = "B is slower than A by " + limit + " or more";
      text::print_error(verdict.failure);
      return kExitWrongResult;
    case stats::Slowdown::unknown:
      verdict.error = "cannot tell whether B is slower than A by " + limit + " or more";
      text::print_error(verdict.error);
      return kExitUnknown;
  }
  return kExitUnknown;
}

// The hot loops of A and of B, as compiled for the target of the comparison.
std::array<std::string, 2> assembly_of(const Compiler& compiler, const bench::KernelPair& kernels,
                                       const CompareReport& report, const CallOptions& call, const CodeViews& code) {
  const Target target = compiler.resolve_target(report.found.facts.target).value;
  std::array<std::string, 2> texts;
  for (std::size_t k = 0; k < texts.size(); ++k)
    texts[k] = code.text(compiler, compile_kernel(kernels[k].source, kernels[k].function, target, call).module);
  return texts;
}

void print_compared(const CompareReport& report, const std::optional<std::array<std::string, 2>>& assembly, bool json) {
  if (json) {
    text::Json found = to_json(report);
    if (assembly) found["assembly"] = *assembly;
    return text::print_json(found);
  }
  print_report(report);
  for (std::size_t k = 0; assembly && k < 2; ++k)
    printf("\n%s  %s\n%s", k == 0 ? "A" : "B", report.names[k].c_str(), (*assembly)[k].c_str());
}

int compare(const Compiler* compiler, Options& options, const CodeViews* code, text::JUnitReport& junit) {
  options.kernels[1].signature = options.kernels[0].signature;
  options.kernels[1].c_flags = options.kernels[0].c_flags;
  // A launch for both is for those in CUDA C, as a kernel is compared with its definition.
  const std::string launch = options.kernels[0].launch;
  const bool has_cuda = std::ranges::any_of(options.kernels, is_cuda_source, &KernelCommand::file);
  for (KernelCommand& kernel : options.kernels) {
    kernel.c_flags += " " + kernel.own_c_flags;
    const bool is_meant = is_cuda_source(kernel.file) || !has_cuda;
    kernel.launch = !kernel.own_launch.empty() ? kernel.own_launch : is_meant ? launch : "";
  }
  options.compare.sampling = sampling_of(options.sampling);
  options.compare.least_effect = options.least_effect_percent / 100;
  options.compare.compares_results = !options.allow_difference;
  const Observer observer = terminal(first_deadline(options.kernels[0].deadline, options.remote.deadlines.session));
  const bench::KernelPair kernels = bench::read_pair(compiler, options.kernels[0], options.kernels[1], observer);
  const CompareReport report{{kernels[0].source.name, kernels[1].source.name},
                             options.compare.least_effect,
                             options.compare.call.seed,
                             bench::compare(opening(options.remote), kernels, options.compare, observer)};
  const std::string difference = report.found.difference();
  if (!options.allow_difference) junit.cases.push_back({.name = "A and B compute the same", .failure = difference});
  if (!difference.empty()) return report_difference(report, difference, options.json);
  std::optional<std::array<std::string, 2>> assembly;
  if (options.assembly)
    assembly =
        assembly_of(expect_compiler(compiler, "ferry compare --asm"), kernels, report, options.compare.call, *code);
  print_compared(report, assembly, options.json);
  text::JUnitCase& verdict = junit.cases.emplace_back("B against A", report.found.median(1));
  verdict.output = verdict_text(report);
  if (!report.found.timed_mistake().empty()) {
    verdict.failure = verdict_text(report);
    text::print_error(verdict.failure);
    if (report.found.secret.exists()) text::print_note(secret_text(report.found.secret));
    return kExitWrongResult;
  }
  return exit_code(options, report, verdict);
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen, const session::Schemes& schemes, const CodeViews* code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("compare", "Say which of two kernels is slower, and by how much");
  add_kernel_pair_options(command, options->kernels[0], options->kernels[1]);
  add_foreign_pair_options(command, options->kernels[0], options->kernels[1]);
  add_remote_option(command, options->remote, schemes);
  add_target_option(command, options->compare.target);
  add_call_options(command, options->compare.call, DefaultSeed::drawn);
  command
      .add_option("--processes", options->compare.processes,
                  "Fresh processes, each with another layout of code and data")
      ->type_name("N")
      ->check(whole_number(bench::kLeastProcesses, bench::kMostProcesses))
      ->capture_default_str();
  command
      .add_option("--least-effect", options->least_effect_percent,
                  "A difference of less than so many percent is called none")
      ->type_name("PERCENT")
      ->check(number(0, 1000))
      ->capture_default_str();
  command
      .add_option(
          "--fail-if-slower", options->fail_if_slower_percent,
          "Exit code 1 when B, the new one, is slower than A by so many percent or more, 5 when nobody can tell")
      ->type_name("PERCENT")
      ->check(number(0, 1000));
  if (code != nullptr)
    command.add_flag(
        "--asm", options->assembly,
        "Show the loops in which each spends its time, with the number of instructions in the code of one iteration");
  command.add_flag("--allow-difference", options->allow_difference, "Measure without comparing what A and B compute");
  command
      .add_option("--rtol", options->compare.limits.rtol,
                  "Results may differ by this share of the larger one (default: by type, docs/measuring.md)")
      ->type_name("X")
      ->check(number(0, HUGE_VAL));
  command.add_option("--atol", options->compare.limits.atol, "Results may differ by this much, in addition")
      ->type_name("X")
      ->check(number(0, HUGE_VAL));
  command
      .add_flag("--thorough", options->compare.thorough,
                "Compare each with its definition for adversarial inputs and other sizes as well")
      ->excludes("--allow-difference");
  add_measure_options(command, options->sampling);
  add_json_option(command, options->json);
  add_junit_option(command, options->junit);
  command.footer(
      "Both run on the same inputs first, and are measured when they compute the same. docs/measuring.md says how\n"
      "kernels are compared and how often a verdict is wrong.\n\n"
      "Exit codes: 0 measured, whatever the verdict; 1 the results differ, or B is too slow with --fail-if-slower;\n"
      "5 nobody can tell with --fail-if-slower; others as of every command (ferry --help).\n\n"
      "Examples:\n"
      "  ferry compare mm.tc mm.tc --schedule-b mm.schedule --size M=512,N=512,K=512\n"
      "  ferry compare mm.tc mm.tc --schedule-a mm.schedule --knob-a rows=4 --schedule-b mm.schedule --knob-b rows=8\n"
      "  ferry compare mine.c mm.tc --size M=512,N=512,K=512 -r 192.168.1.17:9090\n"
      "  ferry compare old.ferry new.ferry --size N=4096 -r 192.168.1.17:9090 --threads 1 --fail-if-slower 2");
  command.callback([options, code, &chosen] {
    chosen = [options, code](const Compiler* compiler) {
      const std::string suite = "ferry compare " + options->kernels[0].file + " " + options->kernels[1].file;
      return with_junit(options->junit, suite,
                        [&](text::JUnitReport& report) { return compare(compiler, *options, code, report); });
    };
  });
}

}  // namespace ferry::cli
