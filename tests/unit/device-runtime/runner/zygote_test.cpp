#include "device-runtime/runner/zygote_server.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "device-runtime/runner/zygote.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kMemory = 1 << 20;

// Whether nothing is left of a process but its end, which its parent has not asked for.
bool is_dead(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string id, name, state;
  file >> id >> name >> state;
  return state == "Z";
}

// A zygote that is not confined.
class Fixture {
 public:
  Fixture() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      run_zygote(ends[1], kMemory, 1);
    }
    close(ends[1]);
    zygote = Zygote(Descriptor(ends[0]));
  }
  ~Fixture() {
    zygote = Zygote();
    waitpid(process_, nullptr, 0);
  }

  // The zygote's only child; 0: there is none.
  pid_t child() const {
    const std::string id = std::to_string(process_);
    pid_t found = 0;
    std::ifstream("/proc/" + id + "/task/" + id + "/children") >> found;
    return found;
  }

  Zygote zygote;

 private:
  pid_t process_;
};

TEST_CASE_FIXTURE(Fixture, "a session has a limited number of runners at a time") {
  std::vector<RunnerProcess> runners;
  for (std::size_t i = 0; i < kMaxRunners; ++i) {
    auto runner = zygote.start_runner(0);
    REQUIRE_MESSAGE(runner.is_ok(), runner.status().message());
    runners.push_back(std::move(runner.value()));
  }
  CHECK(zygote.start_runner(0).status().code() == ErrorCode::resource_exhausted);
  CHECK(WIFSIGNALED(zygote.end_runner(runners.front().process)));
  CHECK(zygote.start_runner(0).is_ok());
}

TEST_CASE_FIXTURE(Fixture, "the runners of a session share its memory") {
  const auto first = zygote.start_runner(kMemory - 10);
  REQUIRE(first.is_ok());
  CHECK(zygote.start_runner(11).status().code() == ErrorCode::resource_exhausted);
  CHECK(zygote.start_runner(10).is_ok());
  zygote.end_runner(first.value().process);
  CHECK(zygote.start_runner(11).is_ok());
}

TEST_CASE_FIXTURE(Fixture, "after a measurement, a runner is started for the next one, and has its limit") {
  const auto first = zygote.start_runner(kMemory);
  REQUIRE(first.is_ok());
  zygote.kill_runner(first.value().process);
  CHECK(zygote.end_runner(first.value().process) == -1);
  pid_t spare = first.value().process;
  while (spare == first.value().process || spare == 0) spare = child();
  const auto second = zygote.start_runner(kMemory);
  REQUIRE_MESSAGE(second.is_ok(), second.status().message());
  CHECK(second.value().process == spare);
  rlimit limit{};
  CHECK(prlimit(spare, RLIMIT_DATA, nullptr, &limit) == 0);
  CHECK(limit.rlim_cur != RLIM_INFINITY);
  CHECK(limit.rlim_cur >= kMemory);
}

TEST_CASE_FIXTURE(Fixture, "a runner that has died while it waited for a task is not used") {
  const auto first = zygote.start_runner(0);
  REQUIRE(first.is_ok());
  zygote.kill_runner(first.value().process);
  pid_t spare = first.value().process;
  while (spare == first.value().process || spare == 0) spare = child();
  kill(spare, SIGKILL);
  while (!is_dead(spare)) {
  }
  const auto second = zygote.start_runner(0);
  REQUIRE_MESSAGE(second.is_ok(), second.status().message());
  CHECK(second.value().process != spare);
  CHECK(WIFSIGNALED(zygote.end_runner(second.value().process)));
}

TEST_CASE_FIXTURE(Fixture, "a zygote ends no other processes, and a runner without a task ends by itself") {
  CHECK(zygote.end_runner(getpid()) == -1);
  auto runner = zygote.start_runner(0);
  REQUIRE(runner.is_ok());
  runner.value().socket = Descriptor();  // it sees that its session is gone
  CHECK(zygote.end_runner(runner.value().process) != -1);
  CHECK(zygote.end_runner(runner.value().process) == -1);
}

TEST_CASE_FIXTURE(Fixture, "a zygote traces its own runners alone, and sees them end") {
  CHECK_FALSE(zygote.trace_runner(getpid(), -1));
  auto runner = zygote.start_runner(0);
  REQUIRE(runner.is_ok());
  const pid_t process = runner.value().process;
  REQUIRE(zygote.trace_runner(process, -1));
  CHECK_FALSE(zygote.trace_runner(process, -1));
  runner.value().socket = Descriptor();
  CHECK(zygote.wait_for_stop(process, 0) == 0);
  CHECK(WIFEXITED(zygote.end_runner(process)));
  CHECK(zygote.wait_for_stop(process, 0) == 0);
}

TEST_CASE_FIXTURE(Fixture, "a runner that is traced can be killed, and does not outlive the zygote") {
  const auto first = zygote.start_runner(0), second = zygote.start_runner(0);
  REQUIRE((first.is_ok() && second.is_ok()));
  REQUIRE(zygote.trace_runner(first.value().process, -1));
  REQUIRE(zygote.trace_runner(second.value().process, -1));
  CHECK(WIFSIGNALED(zygote.end_runner(first.value().process)));
  zygote = Zygote();
  for (int i = 0; i < 5000 && kill(second.value().process, 0) == 0; ++i) usleep(1000);
  CHECK(kill(second.value().process, 0) != 0);
}

}  // namespace
}  // namespace ferry::device
