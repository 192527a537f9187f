// Checks of servers on loopback: healthy, slow, silent, gone, and without a lease's key.
#include "farm/checkup/health_runner.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "base/descriptor.h"
#include "farm/checkup/health_history.h"
#include "farm/checkup/judge_state.h"
#include "host/client/connect/local_server.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "rpc/secure/key.h"
#include "tests/paths.h"
#include "tests/support/fake_ssh.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/listening_server.h"
#include "tests/support/slow_link.h"

namespace ferry::test {
namespace {

using namespace farm;

constexpr const char* kServer = FERRY_BINARY_DIR "/device-runtime/rpc_server";

// Small enough to take some milliseconds.
HealthOptions quick(double limit_s = 60) {
  HealthOptions options;
  options.sizes = {24, 1 << 16, 8};
  options.effort = {2, 0.2, 500, 11};
  options.limit_s = limit_s;
  return options;
}

const Compiler& compiler() {
  static const std::unique_ptr<const Compiler> made = make_compiler();
  return *made;
}

// Waits until the condition holds.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Collects outcomes.
class Checks {
 public:
  explicit Checks(const HealthOptions& options, std::size_t at_once = 2)
      : runner(compiler(), options, [this](HealthOutcome outcome) { add(std::move(outcome)); }, at_once) {}

  HealthOutcome wait() {
    std::unique_lock lock(mutex_);
    REQUIRE(arrived_.wait_for(lock, std::chrono::seconds(60), [this] { return !outcomes_.empty(); }));
    HealthOutcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    return outcome;
  }
  HealthOutcome run(const HealthJob& job) {
    const Status started = runner.start(job);
    REQUIRE_MESSAGE(started.is_ok(), started.message());
    return wait();
  }

 private:
  void add(HealthOutcome outcome) {
    const std::lock_guard lock(mutex_);
    outcomes_.push_back(std::move(outcome));
    arrived_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<HealthOutcome> outcomes_;

 public:
  HealthRunner runner;  // the last member: its threads call add()
};

// Accepts connections in the system's queue, and never says anything.
struct SilentListener {
  SilentListener() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(socket.number(), 8) == 0);
    socklen_t size = sizeof address;
    REQUIRE(getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port = ntohs(address.sin_port);
  }

  Descriptor socket;
  int port = 0;
};

TEST_CASE("a check of a board takes the times of five sessions, and the next one is of the same kernel") {
  const ListeningServer server(kServer);
  Checks checks(quick());
  const HealthJob job{BoardId{7}, server.address(), {}};
  const HealthOutcome first = checks.run(job), second = checks.run(job);
  INFO(first.text);
  REQUIRE(first.end == CheckEnd::measured);
  CHECK(first.board == BoardId{7});
  REQUIRE(first.check.sessions.size() == kHealthSessions);
  for (const HealthTimes& session : first.check.sessions) {
    for (const double seconds : session) {
      CHECK(seconds > 1e-9);
      CHECK(seconds < 5);
    }
    // A round trip takes longer than multiplying small matrices.
    CHECK(session[2] > session[0]);
  }
  CHECK(first.check.environment.kernel.size() == 64);
  CHECK(first.check.environment.firmware.find("Linux ") == 0);
  CHECK(second.check.environment == first.check.environment);
}

TEST_CASE("times of other sizes, or from another place, are of another kernel") {
  const ListeningServer server(kServer);
  HealthOptions larger = quick(), elsewhere = quick();
  larger.sizes.memory *= 2;
  elsewhere.place = "the standby's host";
  std::set<std::string> kernels;
  for (const HealthOptions& options : {quick(), larger, elsewhere}) {
    const HealthOutcome outcome = Checks(options).run({BoardId{7}, server.address(), {}});
    REQUIRE_MESSAGE(outcome.end == CheckEnd::measured, outcome.text);
    kernels.insert(outcome.check.environment.kernel);
  }
  CHECK(kernels.size() == 3);
}

// A baseline around these times that noise of a busy machine does not leave, with pings that are not slower than they
// were by far.
HealthKnowledge wide_baseline(const HealthCheck& check) {
  HealthBaseline baseline{check.environment, {}, {}};
  for (std::size_t m = 0; m < kHealthMetrics; ++m) {
    double greatest = 0;
    for (const HealthTimes& session : check.sessions) greatest = std::max(greatest, session[m]);
    baseline.median[m] = greatest;
    baseline.deviation[m] = m == static_cast<std::size_t>(HealthMetric::ping) ? 3e-3 : 10;
  }
  HealthKnowledge knowledge;
  knowledge.baselines = {baseline};
  return knowledge;
}

TEST_CASE("a board passes as it was, and fails after a confirmation once it has become slow") {
  const ListeningServer server(kServer);
  // Pings take 30 ms: far outside of the baseline, which allows 18 ms more than they took.
  const SlowLink link(server.port(), {std::chrono::milliseconds(30), 100e6 / 8});
  Checks checks(quick());
  const HealthJob fast{BoardId{7}, server.address(), {}}, slow{BoardId{7}, "plaintext://" + link.address(), {}};
  const HealthOutcome first = checks.run(fast);
  INFO(first.text);
  REQUIRE(first.end == CheckEnd::measured);
  HealthHistory book;
  const HealthState state{BoardId{7}, [&] {
                            HealthJudge judge(wide_baseline(first.check));
                            return knowledge_text(judge.knowledge());
                          }()};
  REQUIRE(book.load({&state, 1}).empty());
  CHECK(book.judge(checks.run(fast), Time()).verdict == HealthVerdict::passed);
  const JudgedCheck unconfirmed = book.judge(checks.run(slow), Time());
  CHECK(unconfirmed.verdict == HealthVerdict::unconfirmed);
  CHECK(unconfirmed.reason.find("ping takes ") == 0);
  CHECK(book.judge(checks.run(slow), Time()).verdict == HealthVerdict::failed);
  CHECK(book.judge(checks.run(fast), Time()).verdict == HealthVerdict::passed);
}

TEST_CASE(
    "a board is checked with the key of its lease, and one that does not know the key says nothing of its speed") {
  const TemporaryFolder folder;
  const secure::Key key = secure::make_key();
  REQUIRE(secure::write_key_file(folder.file("lease.key"), key).is_ok());
  const ListeningServer server(kServer, {}, {"--key-file", folder.file("lease.key")});
  Checks checks(quick());
  const HealthOutcome admitted = checks.run({BoardId{1}, server.place(), key});
  CHECK_MESSAGE(admitted.end == CheckEnd::measured, admitted.text);
  const HealthOutcome refused = checks.run({BoardId{1}, server.place(), secure::make_key()});
  CHECK(refused.end == CheckEnd::inconclusive);
  CHECK_MESSAGE(refused.text.find("does not accept the key (id ") != std::string::npos, refused.text);
}

TEST_CASE("a board that is reached by ssh is checked in the name of its lease") {
  if (session::find_board_server("x86_64").empty() && session::find_board_server("aarch64").empty()) {
    MESSAGE("skipped: there is no static rpc_server here; scripts/build.sh --device makes it");
    return;
  }
  const FakeSsh board;
  Checks checks(quick());
  const secure::Key key = secure::make_key();
  const HealthOutcome outcome = checks.run({BoardId{7}, "ssh://pi@pi-3", key, 3});
  CHECK_MESSAGE(outcome.end == CheckEnd::measured, outcome.text);
  REQUIRE(board.locks().size() == 1);
  CHECK(board.locks()[0].starts_with("lease-3-"));
  const HealthOutcome late = checks.run({BoardId{7}, "ssh://pi@pi-3", key, 2});
  CHECK(late.end == CheckEnd::inconclusive);
  CHECK(late.text == "ssh://pi@pi-3 (health check): a later lease has this board (epoch 3)");
}

TEST_CASE("a board that cannot be reached says nothing of its speed") {
  Checks checks(quick());
  int port = 0;
  {
    port = SilentListener().port;
  }
  for (const std::string& address : {"plaintext://127.0.0.1:" + std::to_string(port), std::string("ftp://x"),
                                     std::string("no port"), std::string()}) {
    const HealthOutcome outcome = checks.run({BoardId{7}, address, {}});
    CHECK(outcome.end == CheckEnd::inconclusive);
    CHECK(!outcome.text.empty());
    CHECK(outcome.check.sessions.empty());
  }
}

TEST_CASE("a server that dies during a check is a matter of the infrastructure") {
  HealthOptions options = quick();
  options.effort = {1000, 20, 20'000, 11};
  const ListeningServer server(kServer);
  SlowLink link(server.port(), {std::chrono::milliseconds(1), 100e6 / 8});
  Checks checks(options);
  REQUIRE(checks.runner.start({BoardId{7}, "plaintext://" + link.address(), {}}).is_ok());
  REQUIRE(comes_true([&] { return link.carried() >= 1000; }));
  kill(server.pid(), SIGKILL);
  const HealthOutcome outcome = checks.wait();
  CHECK_MESSAGE(outcome.end == CheckEnd::inconclusive, outcome.text);
}

TEST_CASE("a board that says nothing is given up at the deadline, or when the check is cancelled") {
  const SilentListener silent;
  const HealthJob job{BoardId{7}, "plaintext://127.0.0.1:" + std::to_string(silent.port), {}};
  {
    Checks checks(quick(0.3));
    const HealthOutcome late = checks.run(job);
    CHECK(late.end == CheckEnd::timed_out);
    CHECK(late.text == "expected a health check within 0.3 s, got no end by then");
  }
  {
    Checks checks(quick());
    REQUIRE(checks.runner.start(job).is_ok());
    REQUIRE(comes_true([&] { return checks.runner.running() == 1; }));
    checks.runner.cancel(BoardId{8});
    checks.runner.cancel(BoardId{7});
    CHECK(checks.wait().end == CheckEnd::cancelled);
  }
  {
    // The runner's end does not wait either, which would take an hour.
    Checks checks(quick(3600));
    REQUIRE(checks.runner.start(job).is_ok());
    REQUIRE(comes_true([&] { return checks.runner.running() == 1; }));
  }
}

TEST_CASE("a board that falls silent while it measures is given up at the deadline") {
  const ListeningServer server(kServer);
  SlowLink link(server.port(), {std::chrono::milliseconds(1), 100e6 / 8});
  HealthOptions options = quick(5);  // far longer than it takes to begin, also beside other tests
  options.effort = {1000, 20, 20'000, 11};
  Checks checks(options);
  REQUIRE(checks.runner.start({BoardId{7}, "plaintext://" + link.address(), {}}).is_ok());
  REQUIRE(comes_true([&] { return link.carried() >= 1000; }));
  link.fall_silent();
  const HealthOutcome outcome = checks.wait();
  CHECK_MESSAGE(outcome.end == CheckEnd::timed_out, outcome.text);
}

TEST_CASE("a board has one check at a time, and only so many boards are checked at once") {
  const SilentListener silent;
  const std::string address = "plaintext://127.0.0.1:" + std::to_string(silent.port);
  Checks checks(quick(), 2);
  for (std::uint64_t board = 1; board <= 4; ++board)
    REQUIRE(checks.runner.start({BoardId{board}, address, {}}).is_ok());
  CHECK(checks.runner.start({BoardId{1}, address, {}}).code() == ErrorCode::busy);
  CHECK(checks.runner.start({BoardId{4}, address, {}}).code() == ErrorCode::busy);
  REQUIRE(comes_true([&] { return checks.runner.running() == 2; }));
  // A third one would run soon. No event tells that none will.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(checks.runner.running() == 2);
  for (std::uint64_t board = 4; board >= 1; --board) checks.runner.cancel(BoardId{board});
  std::vector<std::uint64_t> boards;
  for (int i = 0; i < 4; ++i) {
    const HealthOutcome outcome = checks.wait();
    CHECK(outcome.end == CheckEnd::cancelled);
    boards.push_back(static_cast<std::uint64_t>(outcome.board));
  }
  std::sort(boards.begin(), boards.end());
  CHECK(boards == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(checks.runner.start({BoardId{1}, address, {}}).is_ok());
}

TEST_CASE("the memory job exceeds a board's caches, within a share of its memory") {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  DeviceFacts facts;
  facts.memory_limit_bytes = 4096 * kMebibyte;
  facts.caches = {{1, "data", 32 << 10, 64}, {2, "unified", kMebibyte, 64}};
  CHECK(sizes_for({}, facts).memory == 8 * kMebibyte);
  facts.caches.push_back({3, "unified", 33 * kMebibyte, 64});
  CHECK(sizes_for({}, facts).memory == 66 * kMebibyte);
  facts.memory_limit_bytes = 300 * kMebibyte;
  CHECK(sizes_for({}, facts).memory == 32 * kMebibyte);
  CHECK(sizes_for({24, 1 << 16, 8}, facts).memory == 1 << 16);
  // Lies.
  facts.memory_limit_bytes = ~std::uint64_t{0};
  facts.caches.back().bytes = ~std::uint64_t{0};
  CHECK(sizes_for({}, facts).memory == 512 * kMebibyte);
  facts.memory_limit_bytes = 0;
  CHECK(sizes_for({}, facts).memory == kMebibyte / 4);
}

}  // namespace
}  // namespace ferry::test
