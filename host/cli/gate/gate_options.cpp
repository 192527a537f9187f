#include "host/cli/gate/gate_options.h"

#include <algorithm>
#include <cstdlib>

#include "base/quantity_text.h"
#include "base/suggest.h"
#include "host/cli/options/option_checks.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

gate::GateBoard board_at(const std::string& name, const std::string& label, const std::string& address,
                         RemoteOptions remote) {
  remote.address = address;
  remote.board = nullptr;
  // Each call leases a board of its own, if the remote is one of a farm.
  return {name, label, [remote] { return opening(remote); }, remote.schemes->is_on_this_machine(address)};
}

}  // namespace

void add_suite_option(CLI::App& command, std::string& suite) {
  command.add_option("suite", suite, "The cases: suite.toml, as 'ferry gate init' writes it")->type_name("SUITE");
}

void add_suite_file_option(CLI::App& command, std::string& suite) {
  command.add_option("--suite", suite, "The suite that has the case")->type_name("SUITE")->capture_default_str();
}

const gate::SuiteCase& find_case(const gate::Suite& suite, const std::string& name, const std::string& option) {
  const auto found = std::ranges::find(suite.cases, name, &gate::SuiteCase::name);
  if (found != suite.cases.end()) return *found;
  std::vector<std::string> known;
  for (const gate::SuiteCase& one : suite.cases) known.push_back(one.name);
  throw UsageError((option.empty() ? "" : option + ": ") + unknown_name("case", name, known));
}

std::vector<gate::GateBoard> boards_of(gate::Suite& suite, const std::vector<std::string>& addresses,
                                       const RemoteOptions& remote) {
  std::vector<gate::GateBoard> boards;
  if (addresses.empty() && !suite.boards.empty()) {
    for (const gate::SuiteBoard& board : suite.boards) {
      for (std::uint32_t i = 0; i < board.count; ++i)
        boards.push_back(board_at(board.name, board.name, board.remote, remote));
    }
    return boards;
  }
  for (gate::SuiteCase& suite_case : suite.cases) suite_case.boards.clear();
  suite.boards.clear();
  if (addresses.empty()) return {board_at("this machine", "this machine", "", remote)};
  const std::string name = join(", ", addresses);
  for (const std::string& address : addresses) boards.push_back(board_at(name, address, address, remote));
  return boards;
}

void note_replaced_boards(const gate::Suite& suite, const std::vector<std::string>& addresses) {
  if (addresses.empty() || suite.boards.empty()) return;
  std::vector<std::string> names;
  for (const gate::SuiteBoard& board : suite.boards) names.push_back(board.name);
  // The parser does not say where a value comes from. Where both give the same one, either name is right.
  const char* variable = std::getenv("FERRY_REMOTE");
  const bool is_variable = variable != nullptr && addresses == std::vector<std::string>{variable};
  text::print_note("using " + join(", ", addresses) + " because of " + (is_variable ? "FERRY_REMOTE" : "--remote") +
                   ", instead of the suite's own boards: " + join(", ", names));
}

std::string commit_of_environment() {
  for (const char* name : {"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"}) {
    if (const char* commit = std::getenv(name); commit != nullptr && *commit != '\0') return commit;
  }
  return {};
}

}  // namespace ferry::cli
