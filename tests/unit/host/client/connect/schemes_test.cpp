// Tests the arguments of --remote and the connectors they select.
#include "host/client/connect/schemes.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ferry/client.h"
#include "host/client/connect/ssh.h"
#include "host/client/connect/tcp.h"

using namespace ferry;
using session::Schemes;

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

std::shared_ptr<session::Connector> connector(const std::string& remote, const std::string& key_file = "") {
  return Schemes().connector(remote, key_file);
}

session::TcpDevice tcp(const std::string& remote, const std::string& key_file = "") {
  return dynamic_cast<session::TcpConnector&>(*connector(remote, key_file)).device();
}

session::SshAddress ssh(const std::string& remote) {
  return dynamic_cast<session::SshConnector&>(*connector(remote)).address();
}

secure::KeyBytes key_of(const std::string& remote, const std::string& key_file = "") {
  return tcp(remote, key_file).key.value().key.bytes;
}

Error error_of(const std::string& remote, const std::string& key_file = "") {
  try {
    connector(remote, key_file);
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
  CHECK(tcp("pi").name == "board.local:9191");
  CHECK(to_text(tcp("pi").address) == "board.local:9191");
  CHECK(key_of("pi") == pi.bytes);
  CHECK(key_of("board.local:9191") == pi.bytes);
  const session::SshAddress far = ssh("far");
  CHECK(far.user == "me");
  CHECK(far.host == "far");
  CHECK(far.port == 2222);
}

TEST_CASE("the key that is named nearest to the command wins") {
  const Config config;
  const secure::Key option = config.key("option.key"), entry = config.key("entry.key"),
                    variable = config.key("var.key");
  config.devices("[pi]\naddress = \"board:1\"\nkey = \"entry.key\"\n[bare]\naddress = \"bare:1\"\n");
  setenv("FERRY_KEY_FILE", config.path("var.key").c_str(), 1);
  CHECK(key_of("pi", config.path("option.key")) == option.bytes);
  CHECK(key_of("pi") == entry.bytes);
  CHECK(key_of("bare") == variable.bytes);
  CHECK(key_of("elsewhere:1") == variable.bytes);
}

TEST_CASE("on this machine the key that rpc_server made is found") {
  const Config config;
  const secure::Key made = config.key("server-keys/default.key");
  for (const char* address : {"localhost", "127.0.0.1:9", "[::1]:9"}) {
    CHECK(key_of(address) == made.bytes);
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
  CHECK_FALSE(tcp("plaintext://127.0.0.1:5").key);
  CHECK(tcp("plaintext://[::1]:5").name == "[::1]:5");
  CHECK(message_of("plaintext://board:5") ==
        "plaintext:// is for loopback addresses; board is none, and others could read and change what goes there");
  CHECK(message_of("http://board") == "expected HOST:PORT, ssh://HOST or plaintext://HOST:PORT, got 'http://board'");
}

TEST_CASE("nothing in an ssh address can become an option of ssh") {
  const Config config;
  for (const char* address :
       {"ssh://-oProxyCommand=x", "ssh://-lroot@board", "ssh://", "ssh://me@", "ssh://a b", "ssh://me@bo'ard",
        "ssh://me;x@board", "ssh://board:0", "ssh://board:99999", "ssh://@board"}) {
    CAPTURE(address);
    CHECK(error_of(address).code() == ErrorCode::invalid_argument);
  }
  CHECK(ssh("ssh://board").port == 0);
  CHECK(ssh("ssh://me@[fe80::1%eth0]:22/").host == "fe80::1%eth0");
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
  config.devices("[lab]\nfarm = \"a,\"\n");
  CHECK(message_of("lab").find(file + ":2: lab.farm: expected") == 0);
  config.devices("[lab]\nfarm = \"a\"\naddress = \"b\"\n");
  CHECK(message_of("lab") == file + ":1: lab: expected an address or a farm, got both");
  config.devices("pi = \"board\"\n");
  CHECK(message_of("pi") == file + ":1: expected a device, as in [pi], got a value");
  config.devices("[pi]\naddress = \"board\n");
  CHECK(message_of("pi").rfind(file + ":2: ", 0) == 0);
}

TEST_CASE("what is on this machine is known from the address, without a key") {
  const Config config;
  config.devices("[here]\naddress = \"ssh://me@localhost\"\n[pi]\naddress = \"board:1\"\n[lab]\nfarm = \"a\"\n");
  const Schemes schemes;
  for (const char* remote : {"", "here", "127.0.0.1:9", "localhost", "plaintext://[::1]:5", "ssh://127.0.0.2"}) {
    CAPTURE(remote);
    CHECK(schemes.is_on_this_machine(remote));
  }
  for (const char* remote : {"pi", "lab", "board:9", "ssh://board", "lease:localhost", "http://localhost"}) {
    CAPTURE(remote);
    CHECK_FALSE(schemes.is_on_this_machine(remote));
  }
}

TEST_CASE("a key file that others may read is refused, and one that is missing is named") {
  const Config config;
  config.key("k.key");
  REQUIRE(chmod(config.path("k.key").c_str(), 0644) == 0);
  CHECK(std::string(error_of("board", config.path("k.key")).what()).find("(mode 644)") != std::string::npos);
  CHECK(std::string(error_of("board", config.path("none.key")).what()) ==
        "cannot read the key file " + config.path("none.key") + ": No such file or directory");
}
