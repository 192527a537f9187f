#include <cstdio>
#include <memory>

#include "base/printable.h"
#include "base/suggest.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/gate/gate_options.h"
#include "host/cli/gate/store_options.h"
#include "host/cli/options/option_checks.h"
#include "host/gate/suite/read_suite.h"

namespace ferry::cli {

namespace {

struct ForgetOptions {
  std::string baseline, suite = "suite.toml", suite_name;
  RemoteOptions remote;
  StoreOptions store;
};

constexpr std::size_t kMostSuggested = 10;

int forget_baseline(const ForgetOptions& options) {
  gate::Suite suite;
  suite.name = options.suite_name;
  if (suite.name.empty()) suite = gate::read_suite(options.suite, *options.remote.schemes);
  std::vector<std::string> addresses;
  if (!options.remote.address.empty()) addresses.push_back(options.remote.address);
  const std::string place = place_of(options.store, remotes_of(suite, addresses));
  const std::unique_ptr<gate::Store> store = open_store(place, options.store, options.remote.key_file);
  const std::optional<std::size_t> cases = store->forget(suite.name, options.baseline);
  const std::string of_suite = "of the suite '" + printable(suite.name) + "' in " + printable(place);
  if (!cases) {
    const auto names = nearest_names(options.baseline, store->baseline_names(suite.name), kMostSuggested);
    throw UsageError("there is no baseline '" + printable(options.baseline) + "' " + of_suite + ", " +
                     (names.empty() ? "nor any other" : "but " + printable(joined(names))));
  }
  const std::string count = *cases == 0   ? "which was damaged"
                            : *cases == 1 ? "of 1 case"
                                          : "of " + std::to_string(*cases) + " cases";
  printf("forgot the baseline '%s', %s, %s\n", printable(options.baseline).c_str(), count.c_str(), of_suite.c_str());
  puts("its modules are deleted when room is needed; the history keeps its verdicts");
  return kExitFine;
}

}  // namespace

void add_gate_forget(CLI::App& gate, Action& chosen, const session::Schemes& schemes) {
  auto options = std::make_shared<ForgetOptions>();
  CLI::App& command = *gate.add_subcommand("forget", "Delete a baseline, so that its modules take no more room");
  command.add_option("baseline", options->baseline, "The name of the baseline")
      ->type_name("BASELINE")
      ->check(some_text("the name of a baseline"))
      ->required();
  CLI::Option* file = command.add_option("--suite", options->suite, "The suite that has the baseline")
                          ->type_name("SUITE")
                          ->capture_default_str();
  command.add_option("--suite-name", options->suite_name, "The name of the suite, for one whose file is gone")
      ->type_name("NAME")
      ->check(some_text("the name of a suite"))
      ->excludes(file);
  add_address_options(command, options->remote, schemes, "A board of the farm that keeps the baseline");
  add_store_options(command, options->store);
  command.footer(
      "The next run with this baseline finds none, and stores a new one. A farm notes in its audit log who has deleted "
      "a\nbaseline.\n\n"
      "Examples:\n"
      "  ferry gate forget release-3\n"
      "  ferry gate forget main --suite-name vision --store farm://lab");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return forget_baseline(*options); }; });
}

}  // namespace ferry::cli
