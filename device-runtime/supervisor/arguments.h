// rpc_server's command line.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "device-runtime/supervisor/supervisor.h"
#include "rpc/base/status.h"

namespace ferry::device {

enum class Action { serve, print_help, print_version };

struct Arguments {
  Action action = Action::serve;
  ServerOptions server;
  std::string workdir;
  std::string key_file;  // or a folder of them; empty: the default
  bool insecure_plaintext = false;
  std::uint64_t memory_limit_bytes = 0;  // 0: not given
  std::uint32_t threads = 0;             // 0: not given
};

// invalid_argument with a sentence that names the option. Without the program's name.
Result<Arguments> parse_arguments(std::span<const char* const> words);

// What --help prints.
const char* help_text();

}  // namespace ferry::device
