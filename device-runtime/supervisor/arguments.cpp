#include "device-runtime/supervisor/arguments.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "device-runtime/facts/proc_files.h"
#include "device-runtime/supervisor/farm_arguments.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kNotGiven = ~std::uint64_t{0};

Status bad_value(std::string_view option, const char* expected, std::string_view got) {
  return {ErrorCode::invalid_argument,
          std::string(option) + ": expected " + expected + ", got '" + std::string(got) + "'"};
}

// Parses a decimal number of at most `most`; no other characters are allowed.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const auto number = parse_size(text);
  return number && *number <= most ? number : std::nullopt;
}

template <class Number>
Status set_number(Number& target, std::string_view option, std::string_view value, std::uint64_t least,
                  std::uint64_t most) {
  const auto number = parse_number(value, most);
  if (!number || *number < least) {
    const std::string range = format("a number from %llu to %llu", static_cast<unsigned long long>(least),
                                     static_cast<unsigned long long>(most));
    return bad_value(option, range.c_str(), value);
  }
  target = static_cast<Number>(*number);
  return {};
}

Status set_seconds(std::uint64_t& milliseconds, std::string_view option, std::string_view value) {
  FERRY_TRY(set_number(milliseconds, option, value, 0, 1'000'000'000));
  milliseconds *= 1000;
  return {};
}

Status set_bytes(std::uint64_t& target, std::string_view option, std::string_view value) {
  const auto bytes = parse_size(value);
  if (!bytes || *bytes == 0) return bad_value(option, "bytes such as 1000000, 512K, 256M or 2G", value);
  target = *bytes;
  return {};
}

Status set_option(Arguments& arguments, bool& port_end_given, std::string_view option, std::string_view value) {
  if (option == "--host") {
    arguments.server.host = value;
    return {};
  }
  if (option == "--workdir") {
    if (value.empty()) return bad_value(option, "a folder", value);
    arguments.workdir = value;
    return {};
  }
  if (option == "--user") return find_user(std::string(value), arguments.server.sandbox);
  if (option == "--sessions") return set_number(arguments.server.max_sessions, option, value, 1, 256);
  if (option == "--queue") return set_number(arguments.server.max_waiting, option, value, 0, 256);
  rpc::TimeLimits& limits = arguments.server.limits;
  if (option == "--call-deadline") return set_seconds(limits.call_ms, option, value);
  if (option == "--session-deadline") return set_seconds(limits.session_ms, option, value);
  if (option == "--idle-deadline") return set_seconds(limits.idle_ms, option, value);
  if (option == "--key-file") {
    if (value.empty()) return bad_value(option, "a file or a folder", value);
    arguments.key_file = value;
    return {};
  }
  if (option == "--port") return set_number(arguments.server.port, option, value, 0, 65535);
  if (option == "--port-end") {
    port_end_given = true;
    return set_number(arguments.server.port_end, option, value, 1, 65535);
  }
  if (option == "--threads") return set_number(arguments.threads, option, value, 1, 4096);
  if (option == "--fd") return set_number(arguments.server.inherited_socket, option, value, 0, INT_MAX);
  if (option == "--memory-limit") return set_bytes(arguments.memory_limit_bytes, option, value);
  if (option == "--module-cache") return set_bytes(arguments.server.module_cache_bytes, option, value);
  if (option == "--blob-cache") return set_bytes(arguments.server.blob_cache_bytes, option, value);
  return {ErrorCode::invalid_argument, "unknown option '" + std::string(option) + "' (see rpc_server --help)"};
}

bool is_farm_option(std::string_view option) {
  return std::find(std::begin(kFarmOptions), std::end(kFarmOptions), option) != std::end(kFarmOptions);
}

bool takes_value(std::string_view option) {
  if (is_farm_option(option)) return true;
  for (const char* known : {"--host", "--port", "--port-end", "--workdir", "--key-file", "--memory-limit", "--threads",
                            "--fd", "--sessions", "--queue", "--user", "--module-cache", "--blob-cache",
                            "--call-deadline", "--session-deadline", "--idle-deadline"}) {
    if (option == known) return true;
  }
  return false;
}

}  // namespace

Result<Arguments> parse_arguments(std::span<const char* const> words) {
  Arguments arguments;
  bool port_end_given = false;
  rpc::TimeLimits& limits = arguments.server.limits;
  limits = {kNotGiven, kNotGiven, kNotGiven};
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view option = words[i];
    if (option == "--help" || option == "-h") arguments.action = Action::print_help;
    if (option == "--version") arguments.action = Action::print_version;
    if (arguments.action != Action::serve) return arguments;
    bool* const flag = option == "--quiet"                ? &arguments.server.quiet
                       : option == "--perf-map"           ? &arguments.server.perf_map
                       : option == "--stdio"              ? &arguments.server.stdio
                       : option == "--insecure-plaintext" ? &arguments.insecure_plaintext
                                                          : nullptr;
    if (flag != nullptr) {
      *flag = true;
      continue;
    }
    std::string_view value;
    if (const std::size_t equals = option.find('='); equals != std::string_view::npos) {
      value = option.substr(equals + 1);
      option = option.substr(0, equals);
    } else if (takes_value(option)) {
      if (i + 1 == words.size()) {
        return Status(ErrorCode::invalid_argument, std::string(option) + ": expected a value after it");
      }
      value = words[++i];
    }
    FERRY_TRY(is_farm_option(option) ? set_farm_option(arguments.server.farm, option, value)
                                     : set_option(arguments, port_end_given, option, value));
  }
  // A server for a single client has no time limits by default: its user decides.
  const bool alone = arguments.server.inherited_socket >= 0;
  if (limits.call_ms == kNotGiven) limits.call_ms = alone ? 0 : 600'000;
  if (limits.session_ms == kNotGiven) limits.session_ms = alone ? 0 : 86'400'000;
  if (limits.idle_ms == kNotGiven) limits.idle_ms = alone ? 0 : 1'800'000;
  if (!port_end_given) arguments.server.port_end = arguments.server.port;
  if (arguments.server.port_end < arguments.server.port) {
    return Status(ErrorCode::invalid_argument,
                  format("--port-end: expected at least the %u of --port, got %u", unsigned{arguments.server.port},
                         unsigned{arguments.server.port_end}));
  }
  FERRY_TRY(check_farm(arguments));
  return arguments;
}

const char* help_text() {
  return "rpc_server: runs kernels that a ferry client sends, and tells how long they took\n"
         "\n"
         "  --host ADDRESS        where to listen (127.0.0.1); 0.0.0.0 or :: for all networks\n"
         "  --port N              the port; 0 takes any free one (9090)\n"
         "  --port-end N          the last port to try when earlier ones are taken\n"
         "  --key-file PATH       the key that clients must hold, or a folder of NAME.key files, any of which will "
         "do;\n"
         "                        made if it is not there (~/.config/ferry/server-keys)\n"
         "  --insecure-plaintext  let everybody in who reaches the port, unencrypted; on loopback addresses only\n"
         "  --stdio               serve one client on standard input and output, as through ssh, and end with it\n"
         "  --workdir DIR         where modules and blobs are kept between sessions and runs\n"
         "                        (a private folder under $TMPDIR, removed at the end)\n"
         "  --memory-limit BYTES  what one session may hold, with K, M or G (3/4 of the memory)\n"
         "  --sessions N          how many clients are served at a time (1); the others wait\n"
         "  --queue N             how many may wait (64)\n"
         "  --call-deadline S, --session-deadline S, --idle-deadline S\n"
         "                        seconds that a call, a session, or a session in which nothing happens may take; "
         "less\n"
         "                        where the client asks for less, 0 for no limit (600, 86400, 1800)\n"
         "  --user NAME           whom sessions run as, by name or UID:GID, when the server is started by root\n"
         "  --module-cache BYTES  what the modules kept for later sessions may take together (256M)\n"
         "  --blob-cache BYTES    what the blobs (weights) kept for later sessions may take together (1G,\n"
         "                        16G for a single client; at most a quarter of --memory-limit where the folder is in\n"
         "                        memory)\n"
         "  --threads N           threads of a parallel loop (one a processor)\n"
         "  --perf-map            list the kernels of each session in /tmp/perf-PROCESS.map, for perf\n"
         "  --farm ADDRESS,...    the trackers of the farm that the board belongs to, each HOST:PORT (9191); needs "
         "--workdir.\n"
         "                        Only holders of its leases are served then, one at a time\n"
         "  --farm-key FILE       the key of this board in the farm\n"
         "  --name NAME, --tag NAME[=VALUE]\n"
         "                        what the board calls itself in the farm, and tags by which clients find it\n"
         "  --quiet               say nothing while all goes well\n"
         "  --version, --help\n"
         "\n"
         "A key that is deleted from the folder is refused from then on. From a machine that has ferry and may log in "
         "by\n"
         "ssh, nothing of this is needed: ferry device --remote ssh://user@board.\n";
}

}  // namespace ferry::device
