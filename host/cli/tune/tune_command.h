// 'ferry tune' and 'ferry records', as the commands of host/cli/commands/command.h.
#pragma once

#include "host/cli/commands/command.h"

namespace ferry::cli {

// Adds both.
void add_tune(CLI::App& app, Action& chosen, const session::Schemes& schemes);
void add_records(CLI::App& app, Action& chosen, const session::Schemes& schemes);
// Adds 'ferry records verify' to the commands of 'ferry records'.
void add_records_verify(CLI::App& records, Action& chosen, const session::Schemes& schemes);

// Reads a file of records as ReadRecords says. The user's own are not read where CI is set: what a job measures must
// not depend on whose machine it runs on.
std::shared_ptr<const TunedSchedules> read_records(const Compiler& compiler, const std::string& file,
                                                   std::uint32_t threads);

}  // namespace ferry::cli
