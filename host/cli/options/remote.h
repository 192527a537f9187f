// Selects the device of a subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ferry/bench/measure_options.h"
#include "host/client/connect/schemes.h"
#include "host/kernel/retry.h"

namespace ferry::cli {

struct RemoteOptions {
  const session::Schemes* schemes = nullptr;  // main()'s, which the address may be of
  std::string address;                        // empty: a private server on this machine
  std::string key_file;
  Deadlines deadlines;
  SharedBoard board = {};  // a farm's board, for all sessions of the command
};

// Adds --remote or FERRY_REMOTE, and --key-file.
void add_address_options(CLI::App& command, RemoteOptions& remote, const session::Schemes& schemes, const char* help);
// Adds the same and the deadlines.
void add_remote_option(CLI::App& command, RemoteOptions& remote, const session::Schemes& schemes,
                       const char* help =
                           "The device: a name in ~/.config/ferry/devices.toml, HOST:PORT of an "
                           "rpc_server, ssh://USER@HOST, or farm://FARM/SELECTOR; without it, this machine");

// The same for a command that accepts several devices: one entry for each; none means a private server.
void add_remotes_option(CLI::App& command, std::vector<std::string>& addresses, RemoteOptions& remote,
                        const session::Schemes& schemes);

// Returns "waiting at place 2, probably for 5 min", for example.
std::string place_text(const QueuePlace& place);
// Shows what is to be known of a lease. May be called on any thread.
void print_lease_notice(const std::string& line);

// Connects to the named server, or to a private one on this machine. Output of kernels goes to stderr; so does the
// position in the queue if that is a terminal, and what is to be known of a lease.
Device open_device(const RemoteOptions& remote, ConnectOptions options = {});
// The same, for services. All sessions are on the same board, if the remote is one of a farm.
OpenSession opening(RemoteOptions remote);
// The same for each of these servers, by its address, or for so many boards at each; boards of one farm are leased
// together. Without addresses it is a private one on this machine. Throws UsageError for several boards at what is not
// the address of a farm.
std::vector<bench::NamedDevice> devices_at(const std::vector<std::string>& addresses, const RemoteOptions& remote,
                                           std::size_t boards = 1);

}  // namespace ferry::cli
