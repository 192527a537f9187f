// Options that several commands of 'ferry gate' have.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/cli/options/remote.h"
#include "host/gate/api/suite.h"
#include "host/gate/run/run_suite.h"

namespace ferry::cli {

// Adds SUITE.
void add_suite_option(CLI::App& command, std::string& suite);
// Adds --suite, for commands whose arguments are others.
void add_suite_file_option(CLI::App& command, std::string& suite);

// Returns the case of this name. Throws UsageError that suggests another name if the suite has none; `option` says
// where the name comes from.
const gate::SuiteCase& find_case(const gate::Suite& suite, const std::string& name, const std::string& option = {});

// Returns the boards that the command line names, or else those of the suite, or else this machine. Several remotes of
// the command line share the cases of the suite, whatever boards it names: then it names none any more.
std::vector<gate::GateBoard> boards_of(gate::Suite& suite, const std::vector<std::string>& addresses,
                                       const RemoteOptions& remote);

// Says on standard error which boards are used and why, if the command line or FERRY_REMOTE replaces those of the
// suite.
void note_replaced_boards(const gate::Suite& suite, const std::vector<std::string>& addresses);

// Returns the commit that CI systems put into the environment; empty without one.
std::string commit_of_environment();

}  // namespace ferry::cli
