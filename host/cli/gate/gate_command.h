// 'ferry gate' and its commands, as those of host/cli/commands/command.h.
#pragma once

#include "host/cli/commands/command.h"

namespace ferry::cli {

// Without a function that reads records, no suite can have any.
void add_gate(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records);

void add_gate_init(CLI::App& gate, Action& chosen);
void add_gate_history(CLI::App& gate, Action& chosen, const session::Schemes& schemes);
void add_gate_bisect(CLI::App& gate, Action& chosen, const session::Schemes& schemes);
void add_gate_forget(CLI::App& gate, Action& chosen, const session::Schemes& schemes);
void add_gate_calibrate(CLI::App& gate, Action& chosen, const session::Schemes& schemes);

}  // namespace ferry::cli
