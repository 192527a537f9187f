// Which device a subcommand talks to.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/session/ferry.h"

namespace ferry::cli {

struct RemoteOptions {
  std::string address;  // empty: a server of our own
  std::string key_file;
  Deadlines deadlines;
};

// --remote or FERRY_REMOTE, and --key-file.
void add_address_options(CLI::App& command, RemoteOptions& remote, const char* help);
// The same, and how long things may take there.
void add_remote_option(CLI::App& command, RemoteOptions& remote,
                       const char* help =
                           "The device: a name in ~/.config/ferry/devices.toml, HOST:PORT of an "
                           "rpc_server, or ssh://USER@HOST; without it, this machine");

// The same for a command that takes several devices: one entry each, none for a server of our own.
void add_remotes_option(CLI::App& command, std::vector<std::string>& addresses, RemoteOptions& remote);

// The named server, or one of our own on this machine. What kernels print goes to stderr, and on a terminal the place
// in the queue.
Device open_device(const RemoteOptions& remote, ConnectOptions options = {});

// Says what happened, and waits a little, when `error` is of a connection that was lost before anything ran on the
// device, and this was not the last attempt; otherwise throws it on.
void expect_another_attempt(const RemoteError& error, int attempt);

// What `work` returns, a session of its own at a time: again when a connection was lost before anything ran there.
template <class Work>
auto with_retries(const Work& work) {
  for (int attempt = 1;; ++attempt) {
    try {
      return work();
    } catch (const RemoteError& error) {
      expect_another_attempt(error, attempt);
    }
  }
}

}  // namespace ferry::cli
