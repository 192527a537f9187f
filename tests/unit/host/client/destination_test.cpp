// Tests the arguments of --remote and the destinations they select.
#include "host/client/destination.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ferry/client.h"
#include "host/client/devices_file.h"

using namespace ferry;
using session::Destination;
using session::find_destination;
using session::TransportKind;

namespace {

// A user's ~/.config, without any of the environment variables that override it.
struct Config {
  std::string folder;
  Config() {
    char pattern[] = "/tmp/ferry-config-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    folder = pattern;
    setenv("XDG_CONFIG_HOME", pattern, 1);
    unsetenv("FERRY_KEY_FILE");
    unsetenv("FERRY_DEVICES");
  }
  ~Config() {
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("FERRY_KEY_FILE");
    std::filesystem::remove_all(folder);
  }
  std::string path(const std::string& name) const { return folder + "/ferry/" + name; }
  secure::Key key(const std::string& name) const {
    const secure::Key made = secure::make_key();
    const Status status = secure::write_key_file(path(name), made);
    REQUIRE_MESSAGE(status.is_ok(), status.message());
    return made;
  }
  void devices(const std::string& text) const {
    std::filesystem::create_directories(folder + "/ferry");
    std::ofstream(path("devices.toml")) << text;
  }
};

Error error_of(const std::string& remote, const std::string& key_file = "") {
  try {
    find_destination(remote, key_file);
  } catch (const Error& error) {
    return error;
  }
  FAIL("expected an Error for " << remote);
  return {ErrorCode::ok, ""};
}

std::string message_of(const std::string& remote) { return error_of(remote).what(); }

}  // namespace

TEST_CASE("a device's name stands for its address and key") {
  const Config config;
  const secure::Key pi = config.key("keys/pi.key");
  config.devices(
      "[pi]\naddress = \"board.local:9191\"\nkey = \"keys/pi.key\"\n[far]\naddress = \"ssh://me@far:2222\"\n");
  const Destination found = find_destination("pi", "");
  CHECK(found.transport == TransportKind::encrypted);
  CHECK(found.name == "board.local:9191");
  CHECK(found.key->bytes == pi.bytes);
  const Destination same = find_destination("board.local:9191", "");
  CHECK(same.key->bytes == pi.bytes);
  const Destination far = find_destination("far", "");
  CHECK(far.transport == TransportKind::ssh);
  CHECK(far.ssh.user == "me");
  CHECK(far.ssh.host == "far");
  CHECK(far.ssh.port == 2222);
}

TEST_CASE("the key that is named nearest to the command wins") {
  const Config config;
  const secure::Key option = config.key("option.key"), entry = config.key("entry.key"),
                    variable = config.key("var.key");
  config.devices("[pi]\naddress = \"board:1\"\nkey = \"entry.key\"\n[bare]\naddress = \"bare:1\"\n");
  setenv("FERRY_KEY_FILE", config.path("var.key").c_str(), 1);
  CHECK(find_destination("pi", config.path("option.key")).key->bytes == option.bytes);
  CHECK(find_destination("pi", "").key->bytes == entry.bytes);
  CHECK(find_destination("bare", "").key->bytes == variable.bytes);
  CHECK(find_destination("elsewhere:1", "").key->bytes == variable.bytes);
}

TEST_CASE("on this machine the key that rpc_server made is found") {
  const Config config;
  const secure::Key made = config.key("server-keys/default.key");
  for (const char* address : {"localhost", "127.0.0.1:9", "[::1]:9"}) {
    CHECK(find_destination(address, "").key->bytes == made.bytes);
  }
  CHECK(error_of("board:9").code() == ErrorCode::not_found);
}

TEST_CASE("a device that is not there is told with the nearest and the ways to give a key") {
  const Config config;
  config.devices("[pi]\naddress = \"board:1\"\n[gpu-box]\naddress = \"ssh://gpu\"\n");
  const std::string message = message_of("gpubox");
  CHECK(message.find("no device 'gpubox' in " + config.path("devices.toml") + " (the nearest is 'gpu-box')") !=
        std::string::npos);
  CHECK(message.find("FERRY_KEY_FILE or in ") != std::string::npos);
  CHECK(message.find("ssh://gpubox needs none") != std::string::npos);
  CHECK(message_of("localhost:1").find("is reached by plaintext://localhost:1") != std::string::npos);
}

TEST_CASE("an address of ssh without a host says what is missing") {
  CHECK(message_of("ssh://") == "expected a host in ssh://[USER@]HOST[:PORT], got 'ssh://'");
}

TEST_CASE("plaintext has to be asked for, and stays on this machine") {
  const Config config;
  CHECK(find_destination("plaintext://127.0.0.1:5", "").transport == TransportKind::plaintext);
  CHECK(find_destination("plaintext://[::1]:5", "").name == "[::1]:5");
  CHECK(message_of("plaintext://board:5") ==
        "plaintext:// is for loopback addresses; board is none, and others could read and change what goes there");
  CHECK(message_of("http://board") ==
        "expected HOST:PORT, ssh://HOST, farm://FARM/SELECTOR or plaintext://HOST:PORT, got 'http://board'");
}

TEST_CASE("nothing in an ssh address can become an option of ssh") {
  const Config config;
  for (const char* address :
       {"ssh://-oProxyCommand=x", "ssh://-lroot@board", "ssh://", "ssh://me@", "ssh://a b", "ssh://me@bo'ard",
        "ssh://me;x@board", "ssh://board:0", "ssh://board:99999", "ssh://@board"}) {
    CAPTURE(address);
    CHECK(error_of(address).code() == ErrorCode::invalid_argument);
  }
  CHECK(find_destination("ssh://board", "").ssh.port == 0);
  CHECK(find_destination("ssh://me@[fe80::1%eth0]:22/", "").ssh.host == "fe80::1%eth0");
}

TEST_CASE("a mistake in devices.toml is named with file and line") {
  const Config config;
  const std::string file = config.path("devices.toml");
  config.devices("[pi]\naddress = \"board:1\"\nkye = \"x\"\n");
  CHECK(message_of("pi") == file + ":3: pi: expected address, farm or key, got 'kye'");
  config.devices("[pi]\naddress = 7\n");
  CHECK(message_of("pi") == file + ":2: pi.address: expected a text, as in address = \"...\"");
  config.devices("[pi]\nkey = \"x\"\n");
  CHECK(message_of("pi") == file + ":1: pi: expected an address, as in address = \"HOST:PORT\"");
  config.devices("pi = \"board\"\n");
  CHECK(message_of("pi") == file + ":1: expected a device, as in [pi], got a value");
  config.devices("[pi]\naddress = \"board\n");
  CHECK(message_of("pi").rfind(file + ":2: ", 0) == 0);
}

TEST_CASE("a key file that others may read is refused, and one that is missing is named") {
  const Config config;
  config.key("k.key");
  REQUIRE(chmod(config.path("k.key").c_str(), 0644) == 0);
  CHECK(std::string(error_of("board", config.path("k.key")).what()).find("(mode 644)") != std::string::npos);
  CHECK(std::string(error_of("board", config.path("none.key")).what()) ==
        "cannot read the key file " + config.path("none.key") + ": No such file or directory");
}
