#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "base/suggest.h"
#include "base/unix_time.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/gate/gate_options.h"
#include "host/cli/gate/store_options.h"
#include "host/cli/gate/trust_option.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/error_message.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/junit_option.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/terminal.h"
#include "host/gate/report/html_report.h"
#include "host/gate/report/json_report.h"
#include "host/gate/report/junit_report.h"
#include "host/gate/report/markdown_report.h"
#include "host/gate/report/terminal_report.h"
#include "host/gate/suite/read_suite.h"
#include "host/kernel/file.h"
#include "host/text/json.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

struct GateOptions {
  std::string suite;
  std::vector<std::string> addresses;
  RemoteOptions remote;
  StoreOptions store;
  std::string baseline = "main", label = commit_of_environment();
  bool update = false;
  bool is_trusted = false;
  gate::MissingPolicy missing = gate::MissingPolicy::allow;
  ReadRecords read_records = nullptr;
  std::vector<std::string> accepted, cases;
  std::string junit, markdown, html;  // files
  std::string link;
  bool json = false;
  std::vector<std::string> commands;  // the words after ferry gate
};

// Returns the names as a set, each of which must be a case of the suite.
std::set<std::string> names_of_cases(const gate::Suite& suite, const std::vector<std::string>& names,
                                     const char* option) {
  std::set<std::string> all;
  for (const std::string& name : names) all.insert(find_case(suite, name, option).name);
  return all;
}

// A folder, or one of the commands with a typo, is no suite.
void expect_suite(const std::string& path, const std::vector<std::string>& commands) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw UsageError("SUITE: expected a file, got the folder '" + path + "'; ferry gate init " + path +
                     " writes suite.toml for the kernels in it");
  }
  if (std::filesystem::exists(path, ignored)) return;
  const std::string command = likely_meant(path, commands);
  if (!command.empty()) {
    throw UsageError("there is no suite '" + path + "'; for the command: ferry gate " + command);
  }
}

void write_text(const std::string& file, const std::string& text) {
  if (!file.empty()) write_file(file, text.data(), text.size());
}

void write_files(const GateOptions& options, const gate::Report& report) {
  write_text(options.junit, gate::junit_report(report));
  write_text(options.markdown, gate::markdown_report(report, {.page = options.link}));
  write_text(options.html, gate::html_report(report));
}

GateOptions replaceable_files(GateOptions options) {
  for (std::string* file : {&options.junit, &options.markdown, &options.html}) {
    if (!is_replaceable(*file)) file->clear();
  }
  return options;
}

// The report of a run of which nothing is known yet but what its options say.
gate::Report begun_report(const GateOptions& options) {
  gate::Report report;
  report.suite = options.suite;
  report.baseline = options.baseline;
  report.label = options.label;
  report.version = FERRY_VERSION;
  report.started = unix_milliseconds() / 1000;
  report.is_update = options.update;
  report.failure = {"ferry is still running, or was killed before it could report", kExitUnknown};
  return report;
}

// Returns what reads a file of records, each once for all cases.
gate::ReadTuned tuned_in(const Compiler& compiler, const GateOptions& options) {
  if (options.read_records == nullptr) return {};
  using Key = std::pair<std::string, std::uint32_t>;
  const auto known = std::make_shared<std::map<Key, std::shared_ptr<const TunedSchedules>>>();
  return [&compiler, read = options.read_records, known](const std::string& file, std::uint32_t threads) {
    std::shared_ptr<const TunedSchedules>& tuned = (*known)[{file, threads}];
    if (tuned == nullptr) tuned = read(compiler, file, threads);
    return tuned;
  };
}

// Runs the suite. `suite_name` becomes its name as soon as that is known.
gate::Report judge(const Compiler* compiler, const GateOptions& options, std::string& suite_name) {
  expect_suite(options.suite, options.commands);
  gate::Suite suite = gate::read_suite(options.suite, *options.remote.schemes, random_seed());
  suite_name = suite.name;
  const std::set<std::string> accepted = names_of_cases(suite, options.accepted, "--accept");
  const std::set<std::string> cases = names_of_cases(suite, options.cases, "--case");
  const std::string place = place_of(options.store, remotes_of(suite, options.addresses));
  const std::unique_ptr<gate::Store> store = open_store(place, options.store, options.remote.key_file);
  note_replaced_boards(suite, options.addresses);
  std::vector<gate::GateBoard> boards = boards_of(suite, options.addresses, options.remote);
  const InterruptibleWork work;
  Observer observer = terminal(options.remote.deadlines.session);
  observer.is_interrupted = InterruptibleWork::is_requested;
  gate::Report report = gate::run_suite({.suite = suite,
                                         .compiler = expect_compiler(compiler, "ferry gate"),
                                         .store = *store,
                                         .baseline = options.baseline,
                                         .label = options.label,
                                         .update = options.update,
                                         .accepted = accepted,
                                         .cases = cases,
                                         .boards = std::move(boards),
                                         .seed = random_seed(),
                                         .trust = ask_for_trust(options.is_trusted),
                                         .missing = options.missing,
                                         .tuned = tuned_in(expect_compiler(compiler, "ferry gate"), options)},
                                        observer);
  report.version = FERRY_VERSION;
  return report;
}

int run_gate(const Compiler* compiler, const GateOptions& options) {
  for (const std::string& file : {options.junit, options.markdown, options.html}) {
    if (!file.empty()) expect_writable(file);
  }
  // Whatever happens from now on, nobody takes the reports of an earlier run for those of this one.
  gate::Report begun = begun_report(options);
  write_files(replaceable_files(options), begun);
  gate::Report report;
  try {
    report = judge(compiler, options, begun.suite);
  } catch (const Error& error) {
    begun.failure = {error_message(error), exit_code_of(error.code())};
    write_files(options, begun);
    throw;
  } catch (const std::exception& error) {
    begun.failure = {error.what(), kExitBug};
    write_files(options, begun);
    throw;
  }
  if (options.json) {
    puts(gate::json_report(report).c_str());
  } else {
    fputs(gate::terminal_report(report, text::terminal_width(), stdout).c_str(), stdout);
  }
  write_files(options, report);
  return gate::exit_code(report);
}

void add_report_options(CLI::App& command, GateOptions& options) {
  add_junit_option(command, options.junit);
  const auto add = [&](const char* name, std::string& file, const char* help) {
    command.add_option(name, file, help)->type_name("FILE")->group("Output");
  };
  add("--markdown", options.markdown, "Also write a comment for a pull request to this file");
  add("--html", options.html, "Also write a page with all distributions and diffs to this file");
  command.add_option("--link", options.link, "Where that page will be: the comment links to it")
      ->type_name("URL")
      ->group("Output");
  add_json_option(command, options.json);
}

}  // namespace

void add_gate(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records) {
  auto options = std::make_shared<GateOptions>();
  options->read_records = read_records;
  CLI::App& gate = *app.add_subcommand("gate", "Say which kernels of a project became slower than their baseline");
  add_suite_option(gate, options->suite);
  add_remotes_option(gate, options->addresses, options->remote, schemes);
  add_store_options(gate, options->store);
  gate.add_option("--baseline", options->baseline, "The modules to compare with, stored under this name")
      ->type_name("NAME")
      ->check(some_text("the name of a baseline"))
      ->capture_default_str();
  gate.add_option("--label", options->label,
                  "The commit that is measured (default: that of GITHUB_SHA, CI_COMMIT_SHA or GIT_COMMIT)")
      ->type_name("COMMIT");
  gate.add_flag("--update", options->update, "Make the modules the baseline if nothing is wrong with them");
  gate.add_option("--accept", options->accepted,
                  "Make this case's module the baseline whatever the verdict, such as for a slowdown that is wanted")
      ->type_name("CASE")
      ->type_size(1)
      ->allow_extra_args(false);
  gate.add_option("--case", options->cases, "Run only this case; may be given several times")
      ->type_name("CASE")
      ->type_size(1)
      ->allow_extra_args(false);
  gate.add_option_function<std::string>(
          "--missing",
          [options](const std::string& policy) {
            options->missing = policy == "fail" ? gate::MissingPolicy::fail : gate::MissingPolicy::allow;
          },
          "What cases of the baseline are that the suite no longer has, renamed or removed: fail, or allow (the "
          "default), which lists them")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"fail", "allow"}));
  add_trust_option(gate, options->is_trusted);
  add_report_options(gate, *options);
  gate.footer(
      "A case without a baseline passes, and its module becomes the baseline. Otherwise both modules run in turns on "
      "the\n"
      "same board, in fresh processes, until it is certain whether the new one is slower (docs/gate.md).\n\n"
      "Exit codes: 0 fine; 1 slower, wrong, or over a limit; 2 a mistake in the suite or a kernel; 3 no board;\n"
      "5 cannot tell.\n\n"
      "Examples:\n"
      "  ferry gate init kernels\n"
      "  ferry gate suite.toml --remote farm://lab/rpi4 --baseline main --junit out.xml\n"
      "  ferry gate suite.toml --update --label \"$(git rev-parse HEAD)\"");
  add_gate_init(gate, chosen);
  add_gate_history(gate, chosen, schemes);
  add_gate_bisect(gate, chosen, schemes);
  add_gate_forget(gate, chosen, schemes);
  add_gate_calibrate(gate, chosen, schemes);
  for (const CLI::App* command : gate.get_subcommands(nullptr)) options->commands.push_back(command->get_name());
  gate.callback([options, &gate, &chosen] {
    if (!gate.get_subcommands().empty()) return;
    if (options->suite.empty()) throw CLI::RequiredError("SUITE, as in 'ferry gate suite.toml'");
    chosen = [options](const Compiler* compiler) { return run_gate(compiler, *options); };
  });
}

}  // namespace ferry::cli
