// A board of a farm: whom it admits, for how long, and what it tells its tracker.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/paths.h"
#include "tests/unit/device-runtime/supervisor/farm_fixture.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

TEST_CASE("a board joins and says who and how it is") {
  Farm farm;
  std::vector<std::string> arguments = farm.arguments();
  arguments.insert(arguments.end(), {"--name", "pi-3", "--tag", "bench", "--tag=rack=b2"});
  const FarmServer server(arguments);
  JoiningBoard board = farm.tracker.next();
  const Join& join = board.join();
  CHECK(join.name == "pi-3");
  CHECK(join.address == "127.0.0.1:" + std::to_string(server.port()));
  CHECK(join.ceiling == 0);
  CHECK(join.serving == lease::LeaseKey{});
  CHECK(join.boot_id != 0);
  CHECK(join.description.arch == server_arch());
  CHECK(join.description.cores > 0);
  CHECK(join.description.memory_bytes > 0);
  CHECK_FALSE(join.description.server_version.empty());
  REQUIRE(join.description.tags.size() == 2);
  CHECK(join.description.tags[0].name == "bench");
  CHECK(join.description.tags[1].name == "rack");
  CHECK(join.description.tags[1].value == "b2");
  board.accept();
  CHECK(board.expect<Heartbeat>().boot_ms >= join.boot_ms);
}

TEST_CASE("a board says which GPUs it has, and their architectures") {
  if (!is_native()) return;  // the boards' servers are static, without drivers
  Farm farm;
  // Uses tests/support/fake_cuda in place of NVIDIA's driver.
  const FarmServer server(farm.arguments(), {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda",
                                             "FERRY_FAKE_CUDA_DEVICES=2", "FERRY_FAKE_CUDA_ARCH=87"});
  std::vector<std::string> archs;
  const JoiningBoard board = farm.tracker.next();
  for (const Accelerator& each : board.join().description.accelerators)
    if (each.kind == "cuda") archs.push_back(each.arch);
  CHECK(archs == std::vector<std::string>{"sm_87", "sm_87"});
}

TEST_CASE("a board that listens everywhere says the address from which it has connected") {
  Farm farm;
  std::vector<std::string> arguments = farm.arguments();
  arguments.insert(arguments.end(), {"--host", "0.0.0.0"});
  const FarmServer server(arguments);
  CHECK(farm.tracker.next().join().address == "127.0.0.1:" + std::to_string(server.port()));
}

TEST_CASE("a board admits the sessions of its lease and nobody else") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  check_farm_refuses(server, psk);
  serve(board, lease_for(kLong, 1, psk));
  CHECK(open_session(server, psk)->ask(rpc::Ping{}).status.is_ok());
  check_farm_refuses(server, secure::make_key());
  check_farm_refuses(server, farm.key);
  const auto plaintext = join_queue(server.port(), open_as("somebody without a key"));
  CHECK(rpc::failure_of(plaintext->receive_frame().value()).code() == ErrorCode::unauthenticated);
}

TEST_CASE("a board makes no key of its own") {
  Farm farm;
  TestServer server(farm.arguments(), {"env", "XDG_CONFIG_HOME=" + farm.files.path("config")}, Access::by_keys);
  CHECK_FALSE(std::filesystem::exists(farm.files.path("config")));
}

TEST_CASE("sessions of a lease run one after the other") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  serve(board, lease_for(kLong, 1, psk));
  auto first = open_session(server, psk);
  auto transport = enter_board(server, psk);
  REQUIRE(transport.is_ok());
  rpc::Connection second(std::move(transport.value()));
  REQUIRE(second.send_request(1, open_as("the second")).is_ok());
  CHECK(second.receive_frame().value().header.kind == rpc::FrameKind::event);
  first.reset();
  auto frame = second.receive_frame();
  while (frame.is_ok() && frame.value().header.kind == rpc::FrameKind::event) frame = second.receive_frame();
  REQUIRE(frame.is_ok());
  CHECK(rpc::failure_of(frame.value()).is_ok());
}

TEST_CASE("the end of a lease ends its session, also one that computes, and admits nobody any more") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  const auto begin = Clock::now();
  serve(board, lease_for(milliseconds(1500), 1, psk));
  const auto client = open_session(server, psk);
  client->send(rpc::Call{put(*client, kit_file()), "forever", {}});
  const Status end = end_of(*client);
  CHECK(end.code() == ErrorCode::deadline_exceeded);
  CHECK(end.message() == "the lease of this board has ended");
  const auto lasted = Clock::now() - begin;
  CHECK(lasted >= milliseconds(1400));
  CHECK(board.expect<LeaseOver>().key == lease::LeaseKey{100, 1});
  check_farm_refuses(server, psk);
}

TEST_CASE("a lease with a greater epoch supersedes the one being served, once its session has ended") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key first = secure::make_key(), second = secure::make_key();
  serve(board, lease_for(kLong, 1, first));
  const auto client = open_session(server, first);
  client->send(rpc::Call{put(*client, kit_file()), "forever", {}});
  board.send(lease_for(kLong, 2, second));
  CHECK(board.expect<LeaseOver>().key == lease::LeaseKey{100, 1});
  CHECK(board.expect<Acknowledged>().key == lease::LeaseKey{200, 2});
  CHECK(has_ended(static_cast<pid_t>(client->opened().process)));
  CHECK(end_of(*client).code() == ErrorCode::unavailable);
  check_farm_refuses(server, first);
  CHECK(open_session(server, second)->ask(rpc::Ping{}).status.is_ok());
}

TEST_CASE("a client that waits is refused when the lease ends") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  serve(board, lease_for(kLong, 1, psk));
  const auto holder = open_session(server, psk);
  auto transport = enter_board(server, psk);
  REQUIRE(transport.is_ok());
  rpc::Connection waiting(std::move(transport.value()));
  REQUIRE(waiting.send_request(1, open_as("patient")).is_ok());
  CHECK(waiting.receive_frame().value().header.kind == rpc::FrameKind::event);
  board.send(Withdraw{{100, 1}});
  auto frame = waiting.receive_frame();
  while (frame.is_ok() && frame.value().header.kind == rpc::FrameKind::event) frame = waiting.receive_frame();
  REQUIRE(frame.is_ok());
  CHECK(rpc::failure_of(frame.value()).code() == ErrorCode::deadline_exceeded);
}

TEST_CASE("a withdrawn lease is over, and its announcement comes too late afterwards") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  serve(board, lease_for(kLong, 3, psk));
  const auto client = open_session(server, psk);
  board.send(Withdraw{{300, 3}});
  CHECK(board.expect<LeaseOver>().key == lease::LeaseKey{300, 3});
  CHECK_FALSE(end_of(*client).is_ok());
  check_farm_refuses(server, psk);
  for (const std::uint64_t epoch : {3u, 2u, 0u}) {
    board.send(lease_for(kLong, epoch, psk));
    CHECK(board.expect<LeaseOver>().key.epoch == epoch);
  }
  check_farm_refuses(server, psk);
  serve(board, lease_for(kLong, 4, psk));
}

TEST_CASE("an extension moves the end, never to an earlier time, and keeps the key") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key(), other = secure::make_key();
  serve(board, lease_for(milliseconds(1000), 1, psk));
  serve(board, lease_for(kLong, 1, other, 1));
  serve(board, lease_for(milliseconds(0), 1, other, 2));
  std::this_thread::sleep_for(milliseconds(1200));
  CHECK(open_session(server, psk)->ask(rpc::Ping{}).status.is_ok());
  check_farm_refuses(server, other);
}

TEST_CASE("a probe is answered with a heartbeat at once") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  CHECK(board.expect<Heartbeat>().probe == 0);
  board.send(Probe{77});
  CHECK(board.expect<Heartbeat>().probe == 77);
  CHECK(board.expect<Heartbeat>().probe == 77);
}

TEST_CASE("without its tracker a board serves its lease until the end, then nobody, and says so when it joins again") {
  Farm farm;
  const FarmServer server(farm);
  const secure::Key psk = secure::make_key();
  {
    JoiningBoard board = farm.tracker.next_joined();
    serve(board, lease_for(milliseconds(4000), 1, psk));
  }
  CHECK(open_session(server, psk)->ask(rpc::Ping{}).status.is_ok());
  {
    const JoiningBoard again = farm.tracker.next();
    CHECK(again.join().serving == lease::LeaseKey{100, 1});
    CHECK(again.join().ceiling == 1 + 1024);
  }
  CHECK(open_session(server, psk)->ask(rpc::Ping{}).status.is_ok());
  const auto client = open_session(server, psk);
  CHECK_FALSE(end_of(*client).is_ok());
  check_farm_refuses(server, psk);
  JoiningBoard later = farm.tracker.next_joined();
  while (later.join().serving != lease::LeaseKey{}) later = farm.tracker.next_joined();
  serve(later, lease_for(kLong, 2, psk));
}

// What a session of a lease finds of the kit and of a blob, which it then stores.
struct Found {
  bool module = false, blob = false;
};
Found found_in_lease(const FarmServer& server, JoiningBoard& board, std::uint64_t epoch, std::uint64_t holder) {
  const secure::Key psk = secure::make_key();
  if (holder != 0) board.send(LeaseHolder{{epoch * 100, epoch}, holder});
  serve(board, lease_for(kLong, epoch, psk));
  const auto client = open_session(server, psk);
  const Bytes contents(5000, 7);
  Found found;
  found.module = client->must(rpc::PutModule{client->new_handle(), blake2b(kit_file())}).reply.present;
  found.blob = client->must(rpc::FindBlobs{{blake2b(contents)}}).reply.missing.empty();
  put(*client, kit_file());
  client->must(rpc::PutBlob{blake2b(contents), contents.size(), 0}, contents);
  client->must(rpc::Close{});
  board.send(Withdraw{{epoch * 100, epoch}});
  CHECK(board.expect<LeaseOver>().key.epoch == epoch);
  return found;
}

TEST_CASE("a session finds what its lease's holder has stored, also after a restart, and not what others have") {
  constexpr std::uint64_t kAnna = 0x1122334455667788u, kBerta = 2;
  Farm farm;
  const auto check = [&](const FarmServer& server, JoiningBoard& board, std::uint64_t epoch, std::uint64_t holder,
                         bool is_there) {
    CAPTURE(epoch);
    const Found found = found_in_lease(server, board, epoch, holder);
    CHECK(found.module == is_there);
    CHECK(found.blob == is_there);
  };
  {
    const FarmServer server(farm);
    JoiningBoard board = farm.tracker.next_joined();
    check(server, board, 1, kAnna, false);
    check(server, board, 2, kBerta, false);
    check(server, board, 3, kAnna, true);
    check(server, board, 4, kBerta, true);
    // A tracker of an earlier version does not say whose a lease is.
    check(server, board, 5, 0, false);
    check(server, board, 6, 0, true);
    check(server, board, 7, 3, false);
    for (int i = 0; i < 500 && !children_of(server.process()).empty(); ++i)
      std::this_thread::sleep_for(milliseconds(10));
  }
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  check(server, board, 2000, kAnna, true);
  check(server, board, 2001, 4, false);
}

TEST_CASE("the number of another lease is not that of the one which is announced") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  found_in_lease(server, board, 1, 5);
  const secure::Key psk = secure::make_key();
  board.send(LeaseHolder{{200, 2}, 6});
  board.send(LeaseHolder{{900, 9}, 5});
  serve(board, lease_for(kLong, 2, psk));
  const auto client = open_session(server, psk);
  CHECK_FALSE(client->must(rpc::PutModule{client->new_handle(), blake2b(kit_file())}).reply.present);
}

TEST_CASE("a restart ends the lease, and no epoch up to the ceiling is accepted again") {
  Farm farm;
  const secure::Key psk = secure::make_key();
  std::uint64_t boot_id = 0;
  {
    FarmServer server(farm);
    JoiningBoard board = farm.tracker.next_joined();
    boot_id = board.join().boot_id;
    serve(board, lease_for(kLong, 7, psk));
    const auto client = open_session(server, psk);
    server.stop(SIGKILL);
    CHECK_FALSE(end_of(*client).is_ok());
  }
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  CHECK(board.join().serving == lease::LeaseKey{});
  CHECK(board.join().ceiling == 7 + 1024);
  CHECK(board.join().boot_id == boot_id);
  check_farm_refuses(server, psk);
  board.send(lease_for(kLong, 7 + 1024, psk));
  CHECK(board.expect<LeaseOver>().key.epoch == 7 + 1024);
  serve(board, lease_for(kLong, 8 + 1024, psk));
}

}  // namespace
}  // namespace ferry::test
