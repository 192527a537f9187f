// Which device a subcommand talks to.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "host/session/ferry.h"

namespace ferry::cli {

// --remote HOST:PORT, or FERRY_REMOTE.
void add_remote_option(CLI::App& command, std::string& remote,
                       const char* help = "The rpc_server to use; without it, one is started on this machine");

// The named server, or one of our own on this machine when `remote` is empty. What kernels print goes to stderr.
Device open_device(const std::string& remote);

}  // namespace ferry::cli
