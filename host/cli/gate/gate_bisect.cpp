#include <cstdio>
#include <memory>

#include "base/printable.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/gate/gate_options.h"
#include "host/cli/gate/store_options.h"
#include "host/cli/gate/trust_option.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/terminal.h"
#include "host/gate/report/words.h"
#include "host/gate/run/bisect.h"
#include "host/gate/suite/read_suite.h"
#include "host/text/columns.h"
#include "host/text/json.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

struct BisectOptions {
  std::string name, good, bad, suite = "suite.toml";
  RemoteOptions remote;
  StoreOptions store;
  bool json = false, is_trusted = false;
};

void print_steps(const gate::Bisection& found) {
  text::Rows rows{{"WHEN (UTC)", "COMMIT", "AGAINST THE GOOD ONE", "CHANGE"}};
  for (const gate::BisectStep& step : found.steps) {
    rows.push_back({gate::utc_text(step.when), printable(step.label),
                    step.is_skipped ? "skipped" : gate::to_text(step.result.verdict), gate::change_text(step.result)});
  }
  text::print_columns(rows);
}

text::Json bisection_json(const gate::Bisection& found) {
  text::Json steps = text::Json::array();
  for (const gate::BisectStep& step : found.steps) {
    steps.push_back({{"label", step.label},
                     {"when", step.when},
                     {"verdict", gate::name_of(step.result.verdict)},
                     {"skipped", step.is_skipped},
                     {"reason", step.result.reason},
                     {"ratio", step.result.change.ratio}});
  }
  return {{"schema", "ferry.gate.bisect/1"}, {"last_good", found.last_good}, {"first_bad", found.first_bad},
          {"candidates", found.candidates},  {"reason", found.reason},       {"steps", std::move(steps)}};
}

int find_commit(const Compiler* compiler, const BisectOptions& options) {
  const gate::Suite suite = gate::read_suite(options.suite, *options.remote.schemes, random_seed());
  const gate::SuiteCase& suite_case = find_case(suite, options.name);
  std::vector<std::string> addresses;
  if (!options.remote.address.empty()) addresses.push_back(options.remote.address);
  const std::string place = place_of(options.store, remotes_of(suite, addresses));
  const std::unique_ptr<gate::Store> store = open_store(place, options.store, options.remote.key_file);
  const bool is_here = options.remote.schemes->is_on_this_machine(options.remote.address);
  const InterruptibleWork work;
  Observer observer = terminal(options.remote.deadlines.session);
  observer.is_interrupted = InterruptibleWork::is_requested;
  const gate::Bisection found = gate::bisect({.suite = suite,
                                              .suite_case = suite_case,
                                              .compiler = expect_compiler(compiler, "ferry gate"),
                                              .store = *store,
                                              .good = options.good,
                                              .bad = options.bad,
                                              .seed = random_seed(),
                                              .trust = is_here ? ask_for_trust(options.is_trusted) : nullptr},
                                             opening(options.remote), observer);
  if (options.json) {
    text::print_json(bisection_json(found));
  } else {
    print_steps(found);
  }
  if (found.failure != nullptr) std::rethrow_exception(found.failure);
  if (found.first_bad.empty()) {
    text::print_error("found no commit that made " + options.name + " slower: " + found.reason);
    return kExitUnknown;
  }
  if (!options.json)
    printf("%s is the first slower one, after %s\n", printable(found.first_bad).c_str(),
           printable(found.last_good).c_str());
  return kExitFine;
}

}  // namespace

void add_gate_bisect(CLI::App& gate, Action& chosen, const session::Schemes& schemes) {
  auto options = std::make_shared<BisectOptions>();
  CLI::App& command =
      *gate.add_subcommand("bisect", "Find the commit that made a case slower, from the modules in the store");
  command.add_option("case", options->name, "The name of the case")->type_name("CASE")->required();
  command.add_option("good", options->good, "A commit of its history that was fast, or the beginning of its name")
      ->type_name("GOOD")
      ->required();
  command.add_option("bad", options->bad, "A later commit that is slower")->type_name("BAD")->required();
  add_suite_file_option(command, options->suite);
  add_remote_option(command, options->remote, schemes);
  add_store_options(command, options->store);
  add_trust_option(command, options->is_trusted);
  add_json_option(command, options->json);
  command.footer(
      "Nothing is compiled again: the modules of earlier runs with the same target are measured against the good "
      "one. One that crashes or takes other arguments is skipped.\n\n"
      "Exit codes: 0 the commit was found; 5 nobody can tell; others as of every command (ferry --help).\n\n"
      "Example:\n"
      "  ferry gate bisect mm 1f0c2a9 8be4417 --remote farm://lab/rpi4");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return find_commit(compiler, *options); }; });
}

}  // namespace ferry::cli
