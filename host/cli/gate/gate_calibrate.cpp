#include <cstdio>
#include <memory>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/gate/gate_options.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/terminal.h"
#include "host/gate/report/words.h"
#include "host/gate/run/calibrate.h"
#include "host/text/columns.h"
#include "host/text/json.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

struct CalibrateOptions {
  RemoteOptions remote;
  double tolerance_percent = 2, error_percent = 1;
  std::uint32_t runs = 20, pairs = 64;
  bool json = false;
};

constexpr std::uint32_t kMostRuns = 10'000, kMostPairs = 1000;

void print_calibration(const gate::Calibration& found, const CalibrateOptions& options) {
  printf("%s, tolerance %s%%, error level %s%%, %u runs each\n", printable(gate::to_text(found.environment)).c_str(),
         number_text(options.tolerance_percent).c_str(), number_text(options.error_percent).c_str(), options.runs);
  text::Rows rows{
      {"SLOWDOWN", "MEASURED", "SLOWER", "NO CHANGE", "FASTER", "CANNOT TELL", "PAIRS", "TIME", "PAIRS DIFFER BY"}};
  for (const gate::CalibratedSlowdown& one : found.slowdowns) {
    rows.push_back({one.slowdown == 0 ? "none" : percent_text(one.slowdown), gate::percent_change(one.mean_ratio),
                    std::to_string(one.slower), std::to_string(one.no_change), std::to_string(one.faster),
                    std::to_string(one.cannot_tell), number_text(one.mean_pairs), seconds_text(one.mean_seconds),
                    percent_text(one.pair_deviation)});
  }
  text::print_columns(rows);
  if (found.slowdowns.back().runs < options.runs) printf("The last line is of %u runs.\n", found.slowdowns.back().runs);
}

text::Json calibration_json(const gate::Calibration& found) {
  text::Json rows = text::Json::array();
  for (const gate::CalibratedSlowdown& one : found.slowdowns) {
    rows.push_back({{"slowdown", one.slowdown},
                    {"runs", one.runs},
                    {"measured_ratio", one.mean_ratio},
                    {"slower", one.slower},
                    {"no_change", one.no_change},
                    {"faster", one.faster},
                    {"cannot_tell", one.cannot_tell},
                    {"mean_pairs", one.mean_pairs},
                    {"mean_seconds", one.mean_seconds},
                    {"pair_deviation", one.pair_deviation}});
  }
  const gate::Environment& at = found.environment;
  return {{"schema", "ferry.gate.calibration/1"},
          {"board", at.board},
          {"processor", at.processor},
          {"kernel", at.kernel},
          {"governor", at.governor},
          {"interrupted", found.is_interrupted},
          {"slowdowns", std::move(rows)}};
}

int calibrate(const Compiler* compiler, const CalibrateOptions& options) {
  const InterruptibleWork work;
  Observer observer = terminal(options.remote.deadlines.session);
  observer.is_interrupted = InterruptibleWork::is_requested;
  const gate::Calibration found = gate::calibrate({.compiler = expect_compiler(compiler, "ferry gate"),
                                                   .tolerance = options.tolerance_percent / 100,
                                                   .error_level = options.error_percent / 100,
                                                   .most_pairs = options.pairs,
                                                   .runs = options.runs,
                                                   .seed = random_seed()},
                                                  opening(options.remote), observer);
  if (options.json) {
    text::print_json(calibration_json(found));
  } else if (!found.slowdowns.empty()) {
    print_calibration(found, options);
  }
  if (found.failure != nullptr) std::rethrow_exception(found.failure);
  return kExitFine;
}

}  // namespace

void add_gate_calibrate(CLI::App& gate, Action& chosen, const session::Schemes& schemes) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App& command =
      *gate.add_subcommand("calibrate", "Measure how often the gate is wrong on a board, and what it finds there");
  add_remote_option(command, options->remote, schemes);
  const auto add_percent = [&](const char* name, double& percent, double most, const char* help) {
    command.add_option(name, percent, help)->type_name("PERCENT")->check(number(0.01, most))->capture_default_str();
  };
  add_percent("--tolerance", options->tolerance_percent, 100, "The smallest change that matters");
  add_percent("--error-level", options->error_percent, 50, "The probability of a false alarm of each verdict");
  command.add_option("--runs", options->runs, "Verdicts for each slowdown")
      ->type_name("N")
      ->check(whole_number(1, kMostRuns))
      ->capture_default_str();
  command.add_option("--pairs", options->pairs, "Pairs of processes for each verdict, at most")
      ->type_name("N")
      ->check(whole_number(2, kMostPairs))
      ->capture_default_str();
  add_json_option(command, options->json);
  command.footer(
      "Compares a kernel with itself, and with itself made slower by 0.5, 1, 2 and 5%. Run it while the board is as\n"
      "busy as it is when the gate runs.\n\n"
      "Example:\n"
      "  ferry gate calibrate --remote farm://lab/rpi4");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return calibrate(compiler, *options); }; });
}

}  // namespace ferry::cli
