// The subcommands, one a file. Each add_...() describes its command to CLI11. When the command is selected, it stores
// in `chosen` the function to run, which returns an exit code or throws. Devices are named by addresses of the
// `schemes`, which must outlive the command.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "ferry/client.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/media_option.h"
#include "host/cli/options/records_option.h"
#include "host/client/connect/schemes.h"
#include "host/compiler/api/compiler.h"
#include "host/run/peer.h"

namespace ferry::cli {

// `compiler` is null in a ferry without one.
using Action = std::function<int(const Compiler* compiler)>;

struct CodeOptions;

// What shows machine code (inspect_code.h).
struct CodeViews {
  int (*inspect)(const Compiler& compiler, const CodeOptions& options) = nullptr;
  std::string (*text)(const Compiler& compiler, const CompiledModule& module) = nullptr;
};

// What main() adds to the commands below; null is what a ferry does not have.
struct MoreCommands {
  void (*add_farm)(CLI::App& app, Action& chosen) = nullptr;
  void (*add_gate)(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records) = nullptr;
  const CodeViews* code = nullptr;
  void (*add_tune)(CLI::App& app, Action& chosen, const session::Schemes& schemes) = nullptr;
  ReadRecords read_records = nullptr;
  ReadMedia read_media = nullptr;
  decltype(Peer::results) peer = nullptr;
};

void add_device(CLI::App& app, Action& chosen, const session::Schemes& schemes);
void add_targets(CLI::App& app, Action& chosen);
// Without a function that reads records, the option --records is missing, here and below.
void add_compile(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records);
void add_export(CLI::App& app, Action& chosen, ReadRecords read_records);
void add_diff(CLI::App& app, Action& chosen);
// Without the views of code, the option --asm is missing, here and in compare.
void add_inspect(CLI::App& app, Action& chosen, const CodeViews* code);
void add_check(CLI::App& app, Action& chosen);
// Without a function that reads them, pictures and sound are refused, here and below. Without a peer, the option
// --against is missing.
void add_run(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records,
             ReadMedia read_media, decltype(Peer::results) peer);
void add_bench(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records,
               ReadMedia read_media);
void add_compare(CLI::App& app, Action& chosen, const session::Schemes& schemes, const CodeViews* code);
void add_ping(CLI::App& app, Action& chosen, const session::Schemes& schemes);
void add_status(CLI::App& app, Action& chosen, const session::Schemes& schemes);
void add_keygen(CLI::App& app, Action& chosen);
void add_completion(CLI::App& app, Action& chosen);
void add_help(CLI::App& app, Action& chosen);

}  // namespace ferry::cli
