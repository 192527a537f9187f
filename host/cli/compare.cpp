#include <cmath>
#include <cstdio>

#include "host/cli/bench_report.h"
#include "host/cli/command.h"
#include "host/cli/compare_process.h"
#include "host/cli/compile_deadline.h"
#include "host/cli/format.h"
#include "host/cli/json.h"
#include "host/cli/option_checks.h"
#include "host/cli/progress.h"
#include "host/cli/target_option.h"
#include "host/stats/comparison.h"

namespace ferry::cli {

namespace {

// The name changes when a reader of the old schema would be misled.
constexpr const char* kCompareSchema = "ferry.compare/1";

struct Options {
  KernelOptions kernels[2];
  CompareSetup setup;
  std::uint32_t processes = 12;
  double least_effect_percent = 1;
  bool json = false;

  Options() {
    setup.measure.bench = {.number = 0, .repeat = 40, .min_repeat_ms = 0.5, .warmup_ms = 5, .timeout_ms = 10'000};
    setup.measure.tolerance_percent = 0;
  }
};

struct Result {
  ComparedFacts facts;
  std::vector<ComparedProcess> processes;
  stats::Comparison comparison;

  // Of the medians of the processes.
  double median(int k) const {
    std::vector<double> medians;
    for (const ComparedProcess& process : processes) medians.push_back(process.timings[k].median());
    Timing all;
    all.seconds = std::move(medians);
    return all.median();
  }
};

Result measure(const Options& options) {
  Result result;
  stats::Random random(options.setup.call.seed + 1);
  std::vector<double> log_ratios;
  for (std::uint32_t i = 0; i < options.processes; ++i) {
    const Progress progress("process " + std::to_string(i + 1) + " of " + std::to_string(options.processes));
    result.processes.push_back(with_retries([&] { return measure_process(options.setup, random, result.facts); }));
    log_ratios.push_back(result.processes.back().log_ratio);
  }
  result.comparison = stats::compare(log_ratios, options.least_effect_percent / 100);
  return result;
}

std::vector<std::string> warned(const Result& result) {
  std::vector<std::string> all;
  if (result.facts.facts.cpu_name.starts_with("emulated")) {
    all.emplace_back("this device is emulated: its times mean nothing");
  }
  std::size_t hit = 0, samples = 0;
  for (const ComparedProcess& process : result.processes) {
    for (const Timing& timing : process.timings) {
      samples += timing.switches.size();
      for (const std::uint32_t count : timing.switches) hit += count > 0 ? 1 : 0;
    }
  }
  if (hit > samples / 2) {
    all.push_back(count_text(hit) + " of " + count_text(samples) + " samples hit by context switches");
  }
  return all;
}

Json to_json(const Options& options, const Result& result) {
  Json kernels = Json::array();
  for (int k = 0; k < 2; ++k) {
    const FunctionInfo& info = result.facts.functions[k];
    Json sizes = Json::object();
    for (std::size_t s = 0; s < info.symbols.size(); ++s) sizes[info.symbols[s]] = result.facts.symbols[k][s];
    kernels.push_back({{"kernel", options.setup.kernels[k].source.name},
                       {"signature", signature_text(info)},
                       {"sizes", sizes},
                       {"median_seconds", result.median(k)}});
  }
  Json processes = Json::array();
  for (const ComparedProcess& process : result.processes) {
    processes.push_back({{"log_ratio", process.log_ratio},
                         {"code_padding", {process.layout.code_padding[0], process.layout.code_padding[1]}},
                         {"memory_pages", process.layout.memory_pages},
                         {"b_first", process.layout.b_first},
                         {"a_seconds", process.timings[0].seconds},
                         {"b_seconds", process.timings[1].seconds},
                         {"circumstances", circumstances_json(process.timings[0])}});
  }
  const stats::Comparison& c = result.comparison;
  return {{"schema", kCompareSchema},
          {"device", result.facts.device},
          {"cpu", result.facts.facts.cpu_name},
          {"processor", result.facts.processor},
          {"target", result.facts.target},
          {"kernels", kernels},
          {"ratio", c.ratio},
          {"interval_99", Json::array({c.low, c.high})},
          {"p_value", c.p_value},
          {"least_effect", options.least_effect_percent / 100},
          {"verdict", stats::to_text(c)},
          {"slower", c.verdict == stats::Verdict::a_slower   ? Json("A")
                     : c.verdict == stats::Verdict::b_slower ? Json("B")
                                                             : Json(nullptr)},
          {"warnings", warned(result)},
          {"processes", processes}};
}

void print_result(const Options& options, const Result& result) {
  const auto line = [](const char* what, const std::string& value) { printf("  %-10s %s\n", what, value.c_str()); };
  for (int k = 0; k < 2; ++k) {
    printf("%s  %s: %s, %s\n", k == 0 ? "A" : "B", options.setup.kernels[k].source.name.c_str(),
           signature_text(result.facts.functions[k]).c_str(), seconds_text(result.median(k)).c_str());
  }
  const stats::Comparison& c = result.comparison;
  const Timing& first = result.processes.front().timings[0];
  line("device", result.facts.device + (result.facts.processor.empty() ? "" : ", " + result.facts.processor) + ", " +
                     std::to_string(first.threads) + (first.threads == 1 ? " thread" : " threads"));
  line("runs", std::to_string(result.processes.size()) + " processes, each with " +
                   std::to_string(first.seconds.size()) + " samples of both in turns and a layout of its own");
  line("A / B",
       number_text(c.ratio, 4) + ", 99% interval [" + number_text(c.low, 4) + ", " + number_text(c.high, 4) + "]");
  line("verdict", stats::to_text(c));
  for (const std::string& warning : warned(result)) line("warning", warning);
}

int compare(Options& options) {
  options.kernels[1].signature = options.kernels[0].signature;
  options.kernels[1].c_flags = options.kernels[0].c_flags;
  options.kernels[1].deadline = options.kernels[0].deadline;
  // A foreign kernel without a signature is called as the other one.
  const bool b_first = foreign::is_foreign(options.kernels[0].file) && !foreign::is_foreign(options.kernels[1].file);
  std::string signature;
  for (const int k : {b_first ? 1 : 0, b_first ? 0 : 1}) {
    ComparedKernel& kernel = options.setup.kernels[k];
    kernel.function = options.kernels[k].function;
    kernel.source = read_kernel(options.kernels[k], signature);
    kernel.source.deadline = first_deadline(kernel.source.deadline, options.setup.remote.deadlines.session);
    signature = signature_of(kernel.source, kernel.function);
  }
  const Result result = measure(options);
  if (options.json) {
    print_json(to_json(options, result));
  } else {
    print_result(options, result);
  }
  return kExitFine;
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("compare", "Say which of two kernels is slower, and by how much");
  add_kernel_pair_options(command, options->kernels[0], options->kernels[1]);
  add_foreign_options(command, options->kernels[0]);
  add_remote_option(command, options->setup.remote);
  add_target_option(command, options->setup.target);
  add_call_options(command, options->setup.call);
  command.add_option("--processes", options->processes, "Fresh processes, each with another layout of code and data")
      ->type_name("N")
      ->check(whole_number(3, 1000))
      ->capture_default_str();
  command
      .add_option("--least-effect", options->least_effect_percent,
                  "A difference of less than so many percent is called none")
      ->type_name("PERCENT")
      ->check(number(0, 1000))
      ->capture_default_str();
  add_measure_options(command, options->setup.measure);
  add_json_option(command, options->json);
  command.footer(
      "docs/measuring.md says how kernels are compared and how often a verdict is wrong.\n\n"
      "Examples:\n"
      "  ferry compare mm.tc mm.tc --schedule-b mm.schedule --size M=512,N=512,K=512\n"
      "  ferry compare mine.c mm.tc --size M=512,N=512,K=512 -r 192.168.1.17:9090\n"
      "  ferry compare old.ferry new.ferry --size N=4096 -r 192.168.1.17:9090 --threads 1");
  command.callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

}  // namespace ferry::cli
