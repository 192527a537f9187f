#include "device-runtime/supervisor/arguments.h"

#include <doctest/doctest.h>

#include <vector>

namespace ferry::device {
namespace {

Arguments parsed(const std::vector<const char*>& words) {
  const auto arguments = parse_arguments(words);
  REQUIRE_MESSAGE(arguments.is_ok(), arguments.status().message());
  return arguments.value();
}

std::string refusal(const std::vector<const char*>& words) { return parse_arguments(words).status().message(); }

TEST_CASE("without arguments the server listens on port 9090 of this machine alone") {
  const Arguments arguments = parsed({});
  CHECK(arguments.action == Action::serve);
  CHECK(arguments.server.host == "127.0.0.1");
  CHECK(arguments.server.port == 9090);
  CHECK(arguments.server.port_end == 9090);
  CHECK(arguments.workdir.empty());
  CHECK(arguments.memory_limit_bytes == 0);
  CHECK(arguments.threads == 0);
  CHECK_FALSE(arguments.server.quiet);
  CHECK(arguments.key_file.empty());
  CHECK_FALSE(arguments.insecure_plaintext);
  CHECK_FALSE(arguments.server.stdio);
}

TEST_CASE("keys, plaintext and standard input are asked for by name") {
  CHECK(parsed({"--key-file", "/etc/ferry"}).key_file == "/etc/ferry");
  CHECK(parsed({"--insecure-plaintext"}).insecure_plaintext);
  CHECK(parsed({"--stdio"}).server.stdio);
  CHECK(refusal({"--key-file="}) == "--key-file: expected a file or a folder, got ''");
}

TEST_CASE("values stand behind the option or behind an equals sign") {
  const Arguments arguments = parsed({"--host", "::1", "--port=0", "--workdir=/tmp/x=y", "--threads", "4", "--quiet"});
  CHECK(arguments.server.host == "::1");
  CHECK(arguments.server.port == 0);
  CHECK(arguments.server.port_end == 0);
  CHECK(arguments.workdir == "/tmp/x=y");
  CHECK(arguments.threads == 4);
  CHECK(arguments.server.quiet);
}

TEST_CASE("bytes may be given in K, M and G") {
  CHECK(parsed({"--memory-limit", "1000"}).memory_limit_bytes == 1000);
  CHECK(parsed({"--memory-limit", "512K"}).memory_limit_bytes == 512 << 10);
  CHECK(parsed({"--memory-limit=256M"}).memory_limit_bytes == 256 << 20);
  CHECK(parsed({"--memory-limit=2G"}).memory_limit_bytes == std::uint64_t{2} << 30);
}

TEST_CASE("--help and --version win over what stands behind them") {
  CHECK(parsed({"--help", "--bogus"}).action == Action::print_help);
  CHECK(parsed({"-h"}).action == Action::print_help);
  CHECK(parsed({"--version"}).action == Action::print_version);
}

TEST_CASE("a mistake is named with the option and what was expected") {
  CHECK(refusal({"--bogus"}) == "unknown option '--bogus' (see rpc_server --help)");
  CHECK(refusal({"serve"}) == "unknown option 'serve' (see rpc_server --help)");
  CHECK(refusal({"--port"}) == "--port: expected a value after it");
  CHECK(refusal({"--port", "http"}) == "--port: expected a number from 0 to 65535, got 'http'");
  CHECK(refusal({"--port=-1"}) == "--port: expected a number from 0 to 65535, got '-1'");
  CHECK(refusal({"--port=9K"}) == "--port: expected a number from 0 to 65535, got '9K'");
  CHECK(refusal({"--threads", "0"}) == "--threads: expected a number from 1 to 4096, got '0'");
  CHECK(refusal({"--memory-limit", "0"}) ==
        "--memory-limit: expected bytes such as 1000000, 512K, 256M or 2G, got '0'");
  CHECK(refusal({"--memory-limit", "lots"}) ==
        "--memory-limit: expected bytes such as 1000000, 512K, 256M or 2G, got 'lots'");
  CHECK(refusal({"--port", "9095", "--port-end", "9090"}) ==
        "--port-end: expected at least the 9095 of --port, got 9090");
  CHECK(refusal({"--workdir="}) == "--workdir: expected a folder, got ''");
}

}  // namespace
}  // namespace ferry::device
