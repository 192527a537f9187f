#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "base/unix_time.h"
#include "crosscompile/ir/error.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/check_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/check_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/error_message.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/junit_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/measure_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/kernel/default_indices.h"
#include "host/kernel/file.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/measure.h"
#include "host/measure/report/bench_page.h"
#include "host/text/style.h"
#include "host/verify/check_against.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  RecordsOption records;
  MediaOption media;
  CallOptions call;
  CheckOptions check;
  std::string check_against;  // path of a file
  SamplingCommand sampling{bench::MeasureOptions().sampling};
  RemoteOptions remote;
  std::vector<std::string> addresses;
  std::string target;
  std::vector<std::string> sweeps;
  std::string baseline;  // path of a file
  std::optional<double> fail_if_slower_percent;
  std::string junit;  // path of a file
  std::string html;   // path of a file
  bool without_peak = false;
  bool json = false;
  bool csv = false;
  bool verbose = false;
};

BenchFailure failure_of(const bench::FailedDevice& device) {
  const auto failure = [&](const std::string& code, const std::string& message, int exit_code) {
    return BenchFailure{device.name, code, message, exit_code, {}};
  };
  try {
    std::rethrow_exception(device.error);
  } catch (const bench::WrongResult& error) {
    return {device.name, "wrong_result", error.what(), kExitWrongResult, error.measurement()};
  } catch (const KernelFailed& error) {
    return failure("kernel_failed", error.what(), kExitWrongResult);
  } catch (const UsageError& error) {
    return failure("usage", error_message(error), kExitUserError);
  } catch (const CompileError& error) {
    return failure("compile", error.what(), kExitUserError);
  } catch (const Error& error) {
    return failure(error_name(error.code()), error.what(), exit_code_of(error.code()));
  }
}

bool is_wrong(const BenchFailure& failure) { return failure.wrong.has_value(); }

BenchRun measure(const Compiler* compiler, const Options& options) {
  bench::MeasureOptions how;
  how.sampling = sampling_of(options.sampling);
  how.peak = !options.without_peak;
  how.check_definition = options.check.check;
  how.limits = options.check.limits;
  how.thorough = options.check.thorough;
  expect_checked(options.check, options.check.check || !options.check_against.empty());
  verify::CheckedPair kernels = verify::read_checked_pair(compiler, options.kernel, options.check_against, terminal());
  use_records(options.records, kernels.source, how.sampling.bench.threads);
  CallOptions call = options.call;
  read_media(options.media, kernels.source, options.kernel.function, call, terminal());
  add_default_indices(kernels.source, call);
  const bench::MeasuredKernel kernel{std::move(kernels.source), options.kernel.function, options.target,
                                     std::move(call), std::move(kernels.against)};
  std::vector<bench::Sweep> sweeps;
  for (const std::string& text : options.sweeps) sweeps.push_back(bench::parse_sweep(text));
  std::vector<bench::NamedDevice> devices = devices_at(options.addresses, options.remote);
  Observer observer = terminal(first_deadline(options.kernel.deadline, options.remote.deadlines.session));
  std::optional<InterruptibleWork> work;
  if (!sweeps.empty() || devices.size() > 1) {
    work.emplace();
    observer.is_interrupted = InterruptibleWork::is_requested;
  }
  bench::Measurements found = bench::measure_on(devices, kernel, sweeps, how, observer);
  BenchRun run{std::move(found.done), {}, {}, found.is_interrupted, options.call.seed};
  for (const bench::FailedDevice& device : found.failures) run.failures.push_back(failure_of(device));
  const bool has_nothing = run.reports.empty() && std::ranges::none_of(run.failures, is_wrong);
  if (devices.size() == 1 && has_nothing && !run.is_interrupted) std::rethrow_exception(found.failures.front().error);
  return run;
}

// Finds each result's change from the baseline, and says which the baseline lacks.
void compare_with_baseline(const Options& options, const std::vector<bench::BaselineResult>& baseline, BenchRun& run) {
  if (options.baseline.empty()) return;
  for (const bench::Measurement& report : run.reports) {
    const bench::BaselineResult* before = bench::find(baseline, report);
    const std::string refusal =
        before == nullptr ? options.baseline + " has no result of " + bench::name_of(report) + " to compare with"
                          : bench::why_incomparable(*before, report);
    if (before == nullptr) text::print_note(refusal);
    if (before != nullptr && !refusal.empty())
      text::print_error(options.baseline + ": " + bench::name_of(report) + ": " + refusal);
    run.changes.push_back(refusal.empty() ? std::optional(bench::change_from(*before, report)) : std::nullopt);
  }
}

// Returns the exit code that --fail-if-slower asks for, and says and reports which results are too slow.
int judge(const Options& options, const BenchRun& run, text::JUnitReport& junit) {
  int code = kExitFine;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const std::string name = bench::name_of(run.reports[i]) + " on " + run.reports[i].device;
    add_cases(run.reports[i].findings, options.check_against, junit, name + ": ");
    text::JUnitCase& one = junit.cases.emplace_back(name, run.reports[i].timing.median());
    one.output = join("; ", run.reports[i].warnings());
    if (!options.fail_if_slower_percent) continue;
    const double limit = 1 + *options.fail_if_slower_percent / 100;
    const std::optional<bench::Change>& change = run.changes[i];
    if (change && change->high < limit) continue;
    const bool is_slow = change && change->low >= limit;
    std::string& why = is_slow ? one.failure : one.error;
    why = change ? to_text(*change) : "the baseline has no such result to compare with";
    if (!is_slow)
      why = "cannot tell whether it is slower by " + number_text(*options.fail_if_slower_percent) + "%: " + why;
    text::print_error(name + ": " + why);
    // A slowdown is worth more than a doubt.
    code = is_slow || code == kExitWrongResult ? kExitWrongResult : kExitUnknown;
  }
  return code;
}

void write_page(const Options& options, const BenchRun& run) {
  if (options.html.empty()) return;
  bench::BenchPage page{run.reports, run.changes};
  for (const BenchFailure& failure : run.failures) page.failures.push_back({failure.device, failure.message});
  for (const std::string& text : options.sweeps) page.swept.push_back(bench::parse_sweep(text).name);
  page.kernel = options.kernel.file.empty() ? options.kernel.expression : options.kernel.file;
  page.baseline = options.baseline;
  page.when = static_cast<std::uint64_t>(unix_milliseconds());
  page.seed = run.seed;
  page.is_interrupted = run.is_interrupted;
  page.version = FERRY_VERSION;
  const std::string written = bench::bench_page(page);
  write_file(options.html, written.data(), written.size());
}

int bench(const Compiler* compiler, const Options& options, text::JUnitReport& junit) {
  if (options.fail_if_slower_percent && options.baseline.empty())
    throw UsageError("--fail-if-slower: expected --baseline with it, the result that is not to become slower");
  if (!options.html.empty()) expect_writable(options.html);
  std::vector<bench::BaselineResult> baseline;
  if (!options.baseline.empty()) baseline = bench::parse_baseline(read_file(options.baseline), options.baseline);
  BenchRun run = measure(compiler, options);
  compare_with_baseline(options, baseline, run);
  if (options.json) {
    text::print_json(to_json(run));
  } else if (options.csv) {
    fputs(bench_csv(run).c_str(), stdout);
  } else if (run.reports.size() == 1) {
    print_report(run.reports.front(), run.changes.empty() ? std::nullopt : run.changes.front(), options.verbose);
    for (const std::string& line : lines_of(run.reports.front().findings, options.check_against))
      printf("  %s\n", line.c_str());
    printf("  %s\n", inputs_text(run.seed).c_str());
  } else if (!run.reports.empty()) {
    print_table(run);
    printf("%s\n", inputs_text(run.seed).c_str());
  }
  write_page(options, run);
  if (std::ranges::any_of(run.failures, is_wrong)) text::print_note(inputs_text(run.seed));
  for (const BenchFailure& failure : run.failures) {
    if (failure.wrong && failure.wrong->secret.exists()) text::print_note(secret_text(failure.wrong->secret));
  }
  if (run.is_interrupted) text::print_error("interrupted: not everything was measured");
  int code = judge(options, run, junit);
  for (const BenchFailure& failure : run.failures) {
    text::print_error(failure.device + ": " + failure.message);
    text::JUnitCase& one = junit.cases.emplace_back(
        failure.wrong ? bench::name_of(*failure.wrong) + " on " + failure.wrong->device : failure.device);
    (failure.exit_code == kExitWrongResult ? one.failure : one.error) = failure.message;
    code = code == kExitUnknown ? failure.exit_code : std::max(code, failure.exit_code);
  }
  return code;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records,
               ReadMedia read_media) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("bench", "Time a kernel on its device, or on several");
  add_kernel_options(command, options->kernel,
                     "The kernel: K.tc, K.c, K.cpp, K.cu, K.ll, K.o, a compiled K.ferry, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  add_records_option(command, options->records, read_records);
  add_media_option(command, options->media, read_media);
  add_remotes_option(command, options->addresses, options->remote, schemes);
  add_target_option(command, options->target);
  add_call_options(command, options->call, DefaultSeed::drawn);
  command
      .add_option("--sweep", options->sweeps,
                  "Measure for each size: N=2^8..2^24, N=100..500+100 or N=1,7,64; or for values of a knob of the "
                  "schedule: rows=4,8, or rows for every choice. Several: all combinations")
      ->type_name("NAME=VALUES")
      ->type_size(1)
      ->allow_extra_args(false);
  add_check_options(command, options->check);
  add_check_against_option(command, options->check_against);
  add_measure_options(command, options->sampling);
  command.add_flag("--no-peak", options->without_peak, "Do not measure what the device can do at best");
  command
      .add_option("--baseline", options->baseline,
                  "What an earlier 'ferry bench --json' printed: show the times as multiples of that")
      ->type_name("FILE");
  command
      .add_option("--fail-if-slower", options->fail_if_slower_percent,
                  "With --baseline: exit code 1 when something is slower by so many percent or more, 5 when nobody can "
                  "tell")
      ->type_name("PERCENT")
      ->check(number(0, 1000));
  add_json_option(command, options->json);
  command.add_flag("--csv", options->csv, "Print comma-separated values, a line for each size")->excludes("--json");
  add_junit_option(command, options->junit);
  command
      .add_option("--html", options->html,
                  "Also write a page: charts over what was swept, samples where nothing was, and the table")
      ->type_name("FILE");
  add_verbose_option(command, options->verbose);
  command.footer(
      "docs/measuring.md says how times are taken and what the numbers mean, docs/json.md what --json prints. With\n"
      "--check or --check-against, a kernel that computes something wrong is not measured: exit code 1.\n\n"
      "Examples:\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512 --schedule mm.schedule --check\n"
      "  ferry bench add.tc --sweep N=2^8..2^24 --cold --cores big --threads 1\n"
      "  ferry bench add.tc --sweep N=2^8..2^24 -r pi -r gpu-box --html add.html\n"
      "  ferry bench mm.tc --schedule mm.schedule --sweep rows --size M=512,N=512,K=512 --csv\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512 --baseline yesterday.json --fail-if-slower 10\n"
      "  ferry bench mm.ferry --size M=512,N=512,K=512 -r 192.168.1.17:9090 -r 192.168.1.18:9090 --json");
  command.callback([options, &chosen, &command] {
    // An explicit number of samples is not extended.
    if (command.count("--repeat") > 0 && command.count("--max-repeat") == 0) options->sampling.bench.max_repeat = 0;
    chosen = [options](const Compiler* compiler) {
      const std::string suite = "ferry bench " + (options->kernel.file.empty() ? "-e" : options->kernel.file);
      return with_junit(options->junit, suite,
                        [&](text::JUnitReport& report) { return bench(compiler, *options, report); });
    };
  });
}

}  // namespace ferry::cli
