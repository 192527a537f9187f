// Tests of farms as their users see them: remotes farm:// and the commands of 'ferry farm', with a scripted tracker and
// a real rpc_server as the board.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/farm_client/scripted_tracker.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using namespace ferry::test;
namespace wire = farm::wire;
using Message = ScriptedTracker::Message;
using Peer = ScriptedTracker::Peer;

namespace {

const std::string kServer = std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server";

// A tracker of its own, and one board, which has the keys of all leases and serves two at a time.
struct Lab {
  using Words = std::vector<std::string>;

  // `answer` sees what the lab itself does not answer.
  explicit Lab(ScriptedTracker::Script answer = {})
      : board(kServer, {}, {"--sessions", "2", "--key-file", key_file("board.key", board_key)}),
        tracker(client_key, [this, answer](Peer& peer, const Message& message) {
          if (answer) answer(peer, message);
          if (!answer) grant(peer, message);
        }) {
    key_file("alice.key", client_key);
    folder.file("devices.toml", "[lab]\nfarm = \"127.0.0.1:" + std::to_string(tracker.address().port) +
                                    "\"\nkey = \"alice.key\"\n[pi]\naddress = \"farm://lab/rpi4\"\n");
  }

  std::string key_file(const std::string& name, const secure::Key& key) const {
    const std::string path = folder.path(name);
    REQUIRE(secure::write_key_file(path, key).is_ok());
    return path;
  }
  void grant(Peer& peer, const Message& message) const {
    if (message.is<wire::Submit>()) grant(peer, message.as<wire::Submit>().request);
  }
  void grant(Peer& peer, const wire::LeaseRequest& request) const {
    wire::Granted granted{request.id, 1'800'000, {}};
    for (std::size_t i = 0; i < request.slots.size(); ++i)
      granted.slots.push_back({"pi-" + std::to_string(i + 1), board.place(), 1, board_key.bytes});
    peer.send(granted);
  }
  std::map<std::string, std::string> environment() const {
    return {{"FERRY_DEVICES", folder.path("devices.toml")}, {"XDG_RUNTIME_DIR", folder.path("")}};
  }
  Outcome run(const Words& words) const { return run_ferry(words, "", environment()); }
  template <class Event>
  std::vector<Event> received() const {
    std::vector<Event> found;
    for (const Message& message : tracker.messages())
      if (message.is<Event>()) found.push_back(message.template as<Event>());
    return found;
  }

  Folder folder;
  secure::Key client_key = secure::make_key(), board_key = secure::make_key();
  ListeningServer board;
  ScriptedTracker tracker;
};

}  // namespace

TEST_CASE("a board of a farm is a remote for as long as a command runs") {
  const Lab lab;
  const Outcome outcome = lab.run({"run", "-e", kTwice, "--size", "N=3", "--remote", "pi"});
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(contains(outcome.out, "on pi-1 (farm://lab/rpi4)"));
  const auto submitted = lab.received<wire::Submit>();
  REQUIRE(submitted.size() == 1);
  CHECK(submitted[0].request.slots == Lab::Words{"rpi4"});
  REQUIRE(lab.received<wire::Release>().size() == 1);
  CHECK(lab.received<wire::Release>()[0].lease == submitted[0].request.id);
}

TEST_CASE("several remotes of a farm are one request") {
  const Lab lab;
  const Outcome outcome = lab.run({"bench", "-e", kTwice, "--size", "N=9", "--no-peak", "--repeat", "3", "--json",
                                   "--remote", "farm://lab/a", "--remote", "farm://lab/a?priority=90"});
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const auto json = nlohmann::json::parse(outcome.out);
  REQUIRE(json.at("results").size() == 2);
  CHECK(json["results"][0]["device"] == "pi-1 (farm://lab/a)");
  CHECK(json["results"][1]["device"] == "pi-2 (farm://lab/a)");
  REQUIRE(lab.received<wire::Submit>().size() == 1);
  CHECK(lab.received<wire::Submit>()[0].request.slots == Lab::Words{"a", "a"});
  CHECK(lab.received<wire::Submit>()[0].request.priority == 90);
}

TEST_CASE("tune leases several boards of a farm in one request, and refuses them of a single device") {
  const Lab lab;
  const auto tune = [&](const std::string& boards, const Lab::Words& more) {
    Lab::Words words = {"tune", "-e", kMatmul, "--size", "M=8,N=8,K=8", "--trials", "2", "--processes", "0"};
    words.insert(words.end(), {"--records", lab.folder.path("r.jsonl"), "--boards", boards});
    words.insert(words.end(), more.begin(), more.end());
    return lab.run(words);
  };
  const Outcome outcome = tune("2", {"--remote", "pi"});
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  REQUIRE(lab.received<wire::Submit>().size() == 1);
  CHECK(lab.received<wire::Submit>()[0].request.slots == Lab::Words{"rpi4", "rpi4"});

  CHECK(tune("2", {"--remote", lab.board.address()}).err ==
        "ferry: --boards: expected the address of a farm in --remote, got '" + lab.board.address() + "'\n");
  CHECK(tune("2", {}).err == "ferry: --boards: expected --remote with it, the address of a farm\n");
  CHECK(tune("17", {"--remote", "pi"}).err == "ferry: --boards: expected 1 to 16\n");
  CHECK(lab.received<wire::Submit>().size() == 1);
}

TEST_CASE("Ctrl-C while a board is waited for leaves nothing locked") {
  Lab lab([](Peer& peer, const Message& message) {
    if (message.is<wire::Submit>()) peer.send(wire::Waiting{message.as<wire::Submit>().request.id, 1, {}, {}});
  });
  const std::string command = "FERRY_DEVICES=" + lab.folder.path("devices.toml") +
                              " timeout -s INT 0.7 " FERRY_BINARY_DIR "/bin/ferry device --remote pi 2> " +
                              lab.folder.path("err");
  CHECK(std::system(command.c_str()) != 0);
  CHECK(lab.received<wire::Submit>().size() == 1);
  CHECK(lab.tracker.wait_until([&] { return lab.tracker.ended_connections() == lab.tracker.connections(); }));
}

TEST_CASE("a request that no board can serve is the user's mistake") {
  const Lab lab([](Peer& peer, const Message& message) {
    if (message.is<wire::Submit>())
      peer.send(wire::Ended{message.as<wire::Submit>().request.id, "unservable", "user", "no board is called rpi4"});
  });
  const Outcome outcome = lab.run({"device", "--remote", "pi"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "ferry: the farm lab gives no board for 'rpi4': no board is called rpi4 (unservable, user)\n");
}

TEST_CASE("exec gives a program its boards and its exit code to the caller") {
  const Lab lab;
  const std::string script =
      "echo \"$FERRY_REMOTE\"; stat -c %a \"${FERRY_REMOTE#lease:}\"; " FERRY_BINARY_DIR
      "/bin/ferry device && " FERRY_BINARY_DIR "/bin/ferry device --remote \"$FERRY_REMOTE#2\"; exit 5";
  const Outcome outcome = lab.run({"farm", "exec", "rpi4", "rpi5", "--length", "10m", "--", "sh", "-c", script});
  CHECK_MESSAGE(outcome.code == 5, outcome.err);
  REQUIRE(outcome.out.starts_with("lease:" + lab.folder.path("")));
  const std::string file = outcome.out.substr(6, outcome.out.find('\n') - 6);
  CHECK(contains(outcome.out, "\n600\n"));
  CHECK(contains(outcome.out, "pi-1 (lease:" + file + ")"));
  CHECK(contains(outcome.out, "pi-2 (lease:" + file + "#2)"));
  struct stat info{};
  CHECK(stat(file.c_str(), &info) != 0);
  CHECK(lab.received<wire::Submit>()[0].request.length_ms == 600'000);
  CHECK(lab.received<wire::Release>().size() == 1);
}

TEST_CASE("a program ends with its lease, and the reason is told") {
  const Lab* self = nullptr;
  const Lab lab([&self](Peer& peer, const Message& message) {
    if (!message.is<wire::Submit>()) return;
    self->grant(peer, message);
    peer.send(wire::Ended{message.as<wire::Submit>().request.id, "revoked", "infrastructure", "an admin has ended it"});
  });
  self = &lab;
  const Outcome outcome = lab.run({"farm", "exec", "rpi4", "--", "sleep", "30"});
  CHECK(outcome.code == 3);
  CHECK(outcome.err == "ferry: the lease of pi-1 has ended: revoked, infrastructure: an admin has ended it\n");
  CHECK(outcome.seconds < 10);
}

TEST_CASE("boards that are reserved stay so until they are released") {
  const Lab* self = nullptr;
  const Lab lab([&self](Peer& peer, const Message& message) {
    self->grant(peer, message);
    if (message.is<wire::EndLease>()) peer.answer(message.header, wire::Done());
  });
  self = &lab;
  const Outcome reserved = lab.run({"farm", "reserve", "rpi4", "--length", "2h", "--json"});
  REQUIRE_MESSAGE(reserved.code == 0, reserved.err);
  const auto json = nlohmann::json::parse(reserved.out);
  CHECK(json["schema"] == "ferry.farm.reserve/1");
  CHECK(json["boards"][0]["name"] == "pi-1");
  CHECK(lab.received<wire::Submit>()[0].request.kind == wire::LeaseKind::reserved);
  CHECK(lab.received<wire::Release>().empty());
  const std::string file = json["file"];
  const Outcome used = lab.run({"device", "--remote", "lease:" + file});
  CHECK_MESSAGE(used.code == 0, used.err);
  const Outcome released = lab.run({"farm", "release", json["lease"].get<std::string>()});
  CHECK_MESSAGE(released.code == 0, released.err);
  REQUIRE(lab.received<wire::EndLease>().size() == 1);
  CHECK(lab.received<wire::EndLease>()[0].lease == lab.received<wire::Submit>()[0].request.id);
  struct stat info{};
  CHECK(stat(file.c_str(), &info) != 0);
}

TEST_CASE("boards are listed as a table and as JSON, page by page, with harmless names") {
  const Lab lab([](Peer& peer, const Message& message) {
    if (!message.is<wire::ListDevices>()) return;
    wire::DevicePage page;
    wire::DeviceListing& device = page.devices.emplace_back();
    const bool is_first = message.as<wire::ListDevices>().after.empty();
    device.name = is_first ? "pi-1" : "pi-2\x1b[31m";
    device.state = "good";
    device.is_connected = is_first;
    device.lease = is_first ? 0x9f3c : 0;
    device.holder = is_first ? "alice" : "";
    device.millidegrees = 61'250;
    device.is_throttled = is_first;
    device.load_permille = 1500;
    device.description.server_version = is_first ? "0.0.9" : "";
    device.description.arch = is_first ? "aarch64" : "";
    device.description.tags = {{"bench", ""}, {"rack", "3"}};
    page.has_more = is_first;
    peer.answer(message.header, page);
  });
  const Outcome table = lab.run({"farm", "devices"});
  CHECK_MESSAGE(table.code == 0, table.err);
  CHECK(contains(table.out, "alice"));
  CHECK(contains(table.out, "0000000000009f3c"));
  CHECK(contains(table.out, "61.2 C, throttled"));
  CHECK(contains(table.out, "1.50"));
  CHECK(contains(table.out, "0.0.9 (not "));
  CHECK(contains(table.out, "away (was good)"));
  // Nothing is known of a board that has never joined.
  const std::string never_joined = table.out.substr(table.out.find("pi-2"));
  CHECK_FALSE(contains(never_joined, "(not "));
  CHECK(contains(never_joined, "1.50  - "));
  CHECK_FALSE(contains(table.out, "\x1b"));
  const auto json = nlohmann::json::parse(lab.run({"farm", "devices", "--json"}).out);
  CHECK(json["schema"] == "ferry.farm.devices/1");
  REQUIRE(json["devices"].size() == 2);
  CHECK(json["devices"][0]["celsius"] == 61.25);
  CHECK(json["devices"][0]["lease"] == "0000000000009f3c");
  CHECK(json["devices"][1]["lease"].is_null());
  CHECK(json["devices"][0]["tags"]["rack"] == "3");
  CHECK(json["devices"][0]["is_our_version"] == false);
}

TEST_CASE("the state of a farm is a few lines or JSON") {
  const Lab lab([](Peer& peer, const Message& message) {
    if (message.is<wire::Summarize>()) peer.answer(message.header, wire::FarmSummary{12, 11, 3, 2, 90'000});
  });
  CHECK(lab.run({"farm", "status"}).out ==
        "boards    12, of which 11 are connected and 3 leased\nrequests  2 waiting, the longest for 1 min 30 s\n");
  const auto json = nlohmann::json::parse(lab.run({"farm", "status", "--json"}).out);
  CHECK(json["schema"] == "ferry.farm.status/1");
  CHECK(json["leased"] == 3);
  CHECK(json["longest_wait_seconds"] == 90);
}

TEST_CASE("an empty listing says so") {
  const Lab lab([](Peer& peer, const Message& message) {
    if (message.is<wire::ListDevices>()) peer.answer(message.header, wire::DevicePage());
    if (message.is<wire::ListQueue>()) peer.answer(message.header, wire::QueuePage());
    if (message.is<wire::ListLeases>()) peer.answer(message.header, wire::LeasePage());
    if (message.is<wire::ListHistory>()) peer.answer(message.header, wire::HistoryPage());
    if (message.is<wire::ListAudit>()) peer.answer(message.header, wire::AuditPage());
    if (message.is<wire::ListCredentials>()) peer.answer(message.header, wire::CredentialPage());
  });
  CHECK(lab.run({"farm", "devices"}).out == "the farm has no boards\n");
  CHECK(lab.run({"farm", "devices", "cuda"}).out == "no board matches 'cuda'\n");
  CHECK(lab.run({"farm", "queue"}).out == "nobody waits\n");
  CHECK(lab.run({"farm", "leases"}).out == "all boards are free\n");
  CHECK(lab.run({"farm", "history"}).out == "nothing has ended yet\n");
  CHECK(lab.run({"farm", "audit"}).out == "nobody has changed anything yet\n");
  CHECK(lab.run({"farm", "token", "--list"}).out == "there are no tokens\n");
  CHECK(nlohmann::json::parse(lab.run({"farm", "queue", "--json"}).out)["requests"].empty());
}

TEST_CASE("an admin enrols boards and clients, and gets their keys in files") {
  secure::KeyBytes psk;
  psk.fill(0x5a);
  const Lab lab([psk](Peer& peer, const Message& message) {
    if (message.is<wire::EnrolBoard>() || message.is<wire::AddClient>())
      peer.answer(message.header, wire::KeyMade{psk});
    if (message.is<wire::AddToken>()) peer.answer(message.header, wire::TokenMade{"secret"});
    if (message.is<wire::OrderBoard>())
      peer.refuse(message.header, {ErrorCode::unauthenticated, "only an admin may do this"});
  });
  const std::string file = lab.folder.path("pi-3.key");
  const Outcome board = lab.run({"farm", "enrol", "pi-3", "--tag", "bench", "--tag", "rack=3", "--output", file});
  REQUIRE_MESSAGE(board.code == 0, board.err);
  CHECK(secure::read_key_file(file).value().bytes == psk);
  CHECK(contains(board.out, "rpc_server --farm 127.0.0.1:" + std::to_string(lab.tracker.address().port) +
                                " --farm-key " + file + " --workdir DIR\n"));
  REQUIRE(lab.received<wire::EnrolBoard>().size() == 1);
  CHECK(lab.received<wire::EnrolBoard>()[0].tags[1].value == "3");
  const Outcome again = lab.run({"farm", "enrol", "--client", "bob", "--role", "viewer", "--output", file});
  CHECK(again.code == 2);
  CHECK(again.err == "ferry: --output: expected a new file, got " + file + ", which exists\n");
  CHECK(lab.received<wire::AddClient>().empty());
  CHECK(lab.run({"farm", "enrol", "--client", "bob", "--role", "viewer", "-o", lab.folder.path("bob.key")}).code == 0);
  CHECK(lab.received<wire::AddClient>()[0].role == wire::Role::viewer);
  CHECK(lab.run({"farm", "token", "carol", "--role", "admin"}).out == "secret\n");
  const Outcome refused = lab.run({"farm", "maintain", "pi-3"});
  CHECK(refused.code == 3);
  CHECK(refused.err == "ferry: only an admin may do this\n");
}

TEST_CASE("mistakes in commands of a farm are named before anybody is asked") {
  const Lab lab;
  const auto mistake = [&](const Lab::Words& words) {
    const Outcome outcome = lab.run(words);
    CHECK(outcome.code == 2);
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  CHECK(mistake({"farm", "exec", "rpi4"}) ==
        "ferry: expected a command after --, as in ferry farm exec rpi4 -- make test");
  CHECK(mistake({"farm", "exec", "--", "true"}).starts_with("ferry: expected selectors"));
  CHECK(mistake({"farm", "reserve", "rpi4", "--length", "5"}) ==
        "ferry: --length: expected a time such as 90s, 30m, 1h30m or 2d, got '5'");
  CHECK(mistake({"farm", "reserve", "rpi4", "--priority", "many"}) ==
        "ferry: --priority: expected a number from 0 to 100, got 'many'");
  CHECK(mistake({"farm", "release", "x"}) == "ferry: expected a lease of up to 16 hexadecimal digits, got 'x'");
  CHECK(mistake({"farm", "token"}) == "ferry: expected one of NAME, --list and --revoke NAME");
  CHECK(mistake({"farm", "enrol", "-o", "x"}) == "ferry: expected a board or --client NAME");
  CHECK(mistake({"farm", "enrol", "b", "--client", "c", "-o", "x"}) ==
        "ferry: expected a board or --client NAME, got both");
  CHECK(mistake({"farm", "credentials", "--revoke", "alice"}) ==
        "ferry: --revoke: expected --kind client, board, token or enrolment with it");
  CHECK(mistake({"farm", "devices", "--farm", "lba"}).find("(the nearest is 'lab')") != std::string::npos);
  CHECK(mistake({"status", "--remote", "farm://lab/rpi4"}).find("'ferry farm devices rpi4'") != std::string::npos);
  CHECK(lab.tracker.connections() == 0);
}

TEST_CASE("the client without a compiler has the commands of a farm") {
  const Outcome help = run_client({"help", "farm"});
  CHECK(help.code == 0);
  for (const char* name : {"status", "devices", "queue", "leases", "exec", "reserve", "release", "history", "audit",
                           "maintain", "retire", "enrol", "token", "credentials"})
    CHECK_MESSAGE(contains(help.out, std::string("  ") + name), name);
  const Lab lab;
  const Outcome device = run_client({"device", "--remote", "pi"}, lab.environment());
  CHECK_MESSAGE(device.code == 0, device.err);
  CHECK(contains(device.out, "pi-1 (farm://lab/rpi4)"));
}
