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

TEST_CASE("a board's farm is named with its trackers, its key and what the board says of itself") {
  const Arguments arguments = parsed({"--farm", "10.0.0.1,[::1]:9292", "--farm-key=/etc/board.key", "--workdir", "/w",
                                      "--name", "pi-3", "--tag", "bench", "--tag", "rack=b=2"});
  const FarmOptions& farm = arguments.server.farm;
  REQUIRE(farm.trackers.size() == 2);
  CHECK(to_text(farm.trackers[0]) == "10.0.0.1:9191");
  CHECK(to_text(farm.trackers[1]) == "[::1]:9292");
  CHECK(farm.key_file == "/etc/board.key");
  CHECK(farm.name == "pi-3");
  REQUIRE(farm.tags.size() == 2);
  CHECK(farm.tags[0].name == "bench");
  CHECK(farm.tags[0].value.empty());
  CHECK(farm.tags[1].name == "rack");
  CHECK(farm.tags[1].value == "b=2");
}

TEST_CASE("a mistake in the options of a farm is named") {
  const auto with_farm = [](std::vector<const char*> words) {
    words.insert(words.begin(), {"--farm", "10.0.0.1", "--farm-key", "k", "--workdir", "w"});
    return refusal(words);
  };
  CHECK(with_farm({}).empty());
  CHECK(refusal({"--farm", ""}) == "--farm: expected HOST:PORT, got ''");
  CHECK(refusal({"--farm", "a:1,"}) == "--farm: expected HOST:PORT, got ''");
  CHECK(refusal({"--farm", "a:0"}) == "--farm: expected a port between 1 and 65535, got 'a:0'");
  CHECK(refusal({"--farm", "a,b,c,d,e,f,g,h,i"}) == "--farm: expected at most 8 trackers");
  CHECK(refusal({"--name", "pi"}) == "--farm: expected HOST:PORT of a tracker with --farm-key, --name or --tag");
  CHECK(refusal({"--farm", "a"}) == "--farm-key: expected the key of this board, with --farm");
  CHECK(refusal({"--farm", "a", "--farm-key", "k"}) ==
        "--workdir: expected a folder that lasts, with --farm: it holds which leases are over");
  CHECK(with_farm({"--stdio"}) == "--farm: expected a server that listens");
  CHECK(with_farm({"--insecure-plaintext"}).rfind("--farm: expected no --key-file", 0) == 0);
  CHECK(with_farm({"--key-file", "f"}).rfind("--farm: expected no --key-file", 0) == 0);
  CHECK(with_farm({"--sessions", "2"}) == "--sessions: expected 1 with --farm: a lease is one client's");
  CHECK(with_farm({"--tag", "=x"}) == "--tag: expected NAME or NAME=VALUE, at most 64 and 256 bytes, got '=x'");
  CHECK(with_farm({"--tag", "a=\x1b"}).rfind("--tag: expected NAME", 0) == 0);
  const std::string long_name(65, 'x');
  CHECK(with_farm({"--name", long_name.c_str()}).rfind("--name: expected at most 64 printable bytes", 0) == 0);
  const std::string long_tag = "t=" + std::string(256, 'x');
  CHECK(with_farm(std::vector<const char*>(30, "--tag=a=b")).empty());
  std::vector<const char*> tags;
  for (int i = 0; i < 16; ++i) tags.insert(tags.end(), {"--tag", long_tag.c_str()});
  CHECK(with_farm(tags) == "--tag: expected at most 32 tags, and 4096 bytes together");
  CHECK(with_farm(std::vector<const char*>(33, "--tag=a=b")) ==
        "--tag: expected at most 32 tags, and 4096 bytes together");
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
