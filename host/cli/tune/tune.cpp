#include "host/cli/tune/tune_command.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>

#include "base/quantity.h"
#include "base/quantity_text.h"
#include "ferry/kernel/option_error.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/schedule_option.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/tune/live_table.h"
#include "host/cli/tune/network_text.h"
#include "host/cli/tune/ranking_text.h"
#include "host/cli/tune/trial_text.h"
#include "host/cli/tune/tuning_work.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/file.h"
#include "host/text/json.h"
#include "host/text/style.h"
#include "host/tune/network/tune_network.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/report/network_page.h"
#include "host/tune/report/predictions.h"
#include "host/tune/report/tune_page.h"
#include "host/tune/static_ranking.h"
#include "host/tune/tune.h"

namespace ferry::cli {

namespace {

struct TuneCommand {
  KernelCommand kernel;
  RemoteOptions remote;
  std::vector<std::string> addresses;
  std::size_t boards = 1;  // at each address
  tune::TuneOptions tune;
  std::string target;
  std::string budget = "60s";
  std::string html;  // a file
  bool is_static = false;
  bool json = false;
};

void print_line(const text::Json& json) {
  std::printf("%s\n", json.dump().c_str());
  std::fflush(stdout);
}

double share_of(const tune::Progress& progress) {
  return progress.default_seconds > 0 ? progress.best_seconds / progress.default_seconds : 1;
}

// Shows each trial as it is over, and keeps it for the page.
class ShownTrials {
 public:
  ShownTrials(TuneCommand& options, Observer& observer) : table_(options.tune.budget_seconds) {
    observer.message = [this, tell = observer.message](const std::string& line) {
      table_.clear();
      if (tell) tell(line);
    };
    options.tune.on_trial = [this, is_kept = !options.html.empty(), json = options.json](
                                const tune::TuneRecord& trial, const tune::Progress& progress) {
      if (is_kept) trials_.push_back({trial, progress.seconds, share_of(progress)});
      if (json) return print_line(trial_json(trial, progress));
      table_.show(progress);
    };
  }
  ShownTrials(const ShownTrials&) = delete;
  ShownTrials& operator=(const ShownTrials&) = delete;

  // No more come.
  const std::vector<tune::ShownTrial>& end() {
    table_.clear();
    return trials_;
  }

 private:
  LiveTable table_;
  std::vector<tune::ShownTrial> trials_;
};

// Writes the page if there is to be one, and prints the result. Each is made only if it is needed.
template <class Page, class Json, class Text>
void show_result(const TuneCommand& options, const Page& page, const Json& json, const Text& text) {
  if (!options.html.empty()) {
    const std::string written = page();
    write_file(options.html, written.data(), written.size());
  }
  if (options.json)
    print_line(json());
  else
    std::fputs(text().c_str(), stdout);
}

int tune_network(std::span<const bench::NamedDevice> devices, const tune::TunedKernel& network, TuneCommand& options,
                 Observer& observer) {
  ShownTrials shown(options, observer);
  const tune::TunedNetwork tuned = tune::tune_network(devices, network, options.tune, observer);
  const std::vector<tune::ShownTrial>& trials = shown.end();
  show_result(
      options, [&] { return tune::network_page({tuned, trials, FERRY_VERSION}); },
      [&] { return network_json(tuned, options.tune.records); },
      [&] { return network_text(tuned, options.tune.records); });
  return kExitFine;
}

constexpr std::size_t kShownPoints = 10;
constexpr std::size_t kMostBoards = 16;  // in one request to a farm

int rank_kernel(const Compiler& compiler, const tune::TunedKernel& kernel, const TuneCommand& options) {
  if (!options.addresses.empty())
    throw UsageError("--static: expected --target in place of --remote, because nothing runs");
  const Target target = resolve_with_notes(compiler, options.target.empty() ? "host" : options.target, terminal());
  const tune::StaticRanking ranking = tune::rank_statically(kernel, target, options.tune, kShownPoints);
  if (options.json)
    print_line(ranking_json(ranking));
  else
    std::fputs(ranking_text(ranking).c_str(), stdout);
  return kExitFine;
}

int tune_kernel(const Compiler* compiler, TuneCommand& options) {
  tune::TunedKernel kernel{read_kernel(&expect_compiler(compiler, "ferry tune"), options.kernel, terminal()),
                           options.kernel.function, options.target};
  if (options.is_static) return rank_kernel(*compiler, kernel, options);
  const std::optional<std::uint64_t> budget = options.budget == "0" ? 0 : parse_span(options.budget);
  if (!budget) throw UsageError("--budget " + options.budget + ": expected a time such as 30s or 5m, or 0 for none");
  const std::uint32_t processes = options.tune.processes;
  if (processes != 0 && (processes < bench::kLeastProcesses || processes > bench::kMostProcesses))
    throw UsageError("--processes: expected 0, or " + std::to_string(bench::kLeastProcesses) + " to " +
                     count_text(bench::kMostProcesses));
  if (options.boards == 0 || options.boards > kMostBoards)
    throw UsageError("--boards: expected 1 to " + count_text(kMostBoards));
  if (!options.html.empty()) expect_writable(options.html);
  options.tune.budget_seconds = static_cast<double>(*budget) / 1000;
  options.tune.is_local = options.addresses.empty();
  options.tune.records = records_or_own(options.tune.records);
  const std::filesystem::path folder = std::filesystem::path(options.tune.records).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  const std::vector<bench::NamedDevice> devices = devices_at(options.addresses, options.remote, options.boards);
  TuningWork work;
  if (kernel.source.as_network() != nullptr) return tune_network(devices, kernel, options, work.observer);
  options.tune.peak = true;
  ShownTrials shown(options, work.observer);
  const tune::Tuned tuned = tune::tune(devices, kernel, options.tune, work.observer);
  const std::vector<tune::ShownTrial>& trials = shown.end();
  const auto page = [&] {
    const StepGuard step = work.observer.begin("estimating the schedules that were measured");
    return tune::tune_page({tuned, trials, tune::predictions_of(tuned, trials), FERRY_VERSION});
  };
  show_result(
      options, page, [&] { return tuned_json(tuned, options.tune.records); },
      [&] { return tuned_text(tuned, options.tune.records); });
  if (!tuned.searcher_failure.empty()) {
    text::print_error(tuned.searcher_failure + "; what was found until then is kept");
    return kExitUserError;
  }
  return kExitFine;
}

}  // namespace

std::shared_ptr<const TunedSchedules> read_records(const Compiler& compiler, const std::string& file,
                                                   std::uint32_t threads) {
  if (!file.empty()) {
    if (!std::filesystem::exists(file)) throw UsageError("--records " + file + ": there is no such file");
    return std::make_shared<const tune::RecordedSchedules>(compiler, file, threads);
  }
  const char* ci = std::getenv("CI");
  const std::string own = tune::user_records();
  if (own.empty() || !std::filesystem::exists(own) || (ci != nullptr && ci[0] != '\0')) return nullptr;
  return std::make_shared<const tune::RecordedSchedules>(compiler, own, threads);
}

void add_tune(CLI::App& app, Action& chosen, const session::Schemes& schemes) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App& command =
      *app.add_subcommand("tune", "Search for the fastest schedule of a kernel, or of those of a network, on a device");
  KernelCommand& kernel = options->kernel;
  kernel.expression_name = "-e";
  command.add_option("kernel", kernel.file, "The kernel: K.tc, or '-' for stdin; or a network")->type_name("FILE");
  command.add_option("-e,--expression", kernel.expression, "The kernel's text, instead of a file")->type_name("TEXT");
  command.add_option("--fn", kernel.function, "The function to tune, where there are several")->type_name("NAME");
  add_schedule_options(command, kernel.schedule);
  add_remotes_option(command, options->addresses, options->remote, schemes);
  command.add_option("--boards", options->boards, "Share the work between so many boards of the farm in --remote")
      ->type_name("N");
  add_target_option(command, options->target);
  add_call_options(command, options->tune.call, DefaultSeed::drawn);
  command
      .add_option("--budget", options->budget,
                  "How long it may take, comparison included: 10s, 5m; 0: until it is interrupted")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--trials", options->tune.trials,
                  "Try at most so many schedules; 0 with an earlier run's records: compare the best of them again")
      ->type_name("N");
  command.add_flag("--open", options->tune.open_sizes,
                   "Tune the code for any sizes, as it performs at these; otherwise it is for these alone");
  command.add_flag(
      "--static", options->is_static,
      "Only rank the schedules, for --target and without a device: by the cost model, the best by their machine code "
      "(--trials: as many)");
  add_comparison_options(
      command, {options->tune.records, options->tune.processes, options->tune.threads},
      {.records = "The file that records are added to (default: your own, ~/.local/share/ferry/records.jsonl)",
       .processes = "Processes in which the best is compared with the default; 0: do not compare"});
  command
      .add_option("--builders", options->tune.builders,
                  "Processes that compile on this machine (default: one for each processor)")
      ->type_name("N");
  command
      .add_option("--searcher", options->tune.searcher,
                  "A command that decides what is tried, over lines of JSON (docs/tuning_search.md)")
      ->type_name("COMMAND");
  command.add_option("--search-seed", options->tune.seed, "Draws what is tried")->type_name("N");
  command
      .add_option("--html", options->html,
                  "Also write a page: the best over time, the comparison, the roofline, the cost model")
      ->type_name("FILE");
  add_json_option(command, options->json);
  command.footer(
      "Every schedule computes the same; each is compared with the default's results before it is measured. What is\n"
      "found is recorded at once: Ctrl-C loses nothing, and a second start goes on. 'ferry run', 'bench' and\n"
      "'compile' then use the best (--records none: not). docs/tuning.md says more.\n\n"
      "Examples:\n"
      "  ferry tune conv.tc --size C=64,K=64,S=56 --remote pi\n"
      "  ferry tune mm.tc --size M=512,N=512,K=512 --budget 5m -r farm://lab/rpi4 --boards 4\n"
      "  ferry tune net.onnx --size N=1 --budget 10m --remote pi\n"
      "  ferry tune mm.tc --schedule mm.schedule --size M=512,N=512,K=512      the knobs of your own schedule\n"
      "  ferry tune mm.tc --size M=512,N=512,K=512 --records tuned.jsonl --json\n"
      "  ferry tune mm.tc --size M=512,N=512,K=512 --static --target raspberry-pi-4      without a device");
  command.callback([options, &chosen, &command] {
    options->tune.has_trials_limit = command.count("--trials") > 0;
    chosen = [options](const Compiler* compiler) { return tune_kernel(compiler, *options); };
  });
  add_records(app, chosen, schemes);
}

}  // namespace ferry::cli
