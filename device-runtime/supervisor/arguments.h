// Parses rpc_server's command line.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "device-runtime/supervisor/supervisor.h"

namespace ferry::device {

enum class Action { serve, print_help, print_version };

struct Arguments {
  Action action = Action::serve;
  ServerOptions server;
  std::string workdir;
  std::string key_file;  // or a folder of key files; empty: the default
  bool insecure_plaintext = false;
  std::uint64_t memory_limit_bytes = 0;  // 0: not given
  std::uint32_t threads = 0;             // 0: not given
};

// Fails with invalid_argument and a message that names the option but not the program.
Result<Arguments> parse_arguments(std::span<const char* const> words);

// Returns the text that --help prints.
const char* help_text();

}  // namespace ferry::device
