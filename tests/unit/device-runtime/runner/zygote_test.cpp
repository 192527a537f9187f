#include "device-runtime/runner/zygote.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace ferry::device {
namespace {

constexpr std::uint64_t kMemory = 1 << 20;

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

TEST_CASE_FIXTURE(Fixture, "a zygote ends no other processes, and a runner without a task ends by itself") {
  CHECK(zygote.end_runner(getpid()) == -1);
  auto runner = zygote.start_runner(0);
  REQUIRE(runner.is_ok());
  runner.value().socket = Descriptor();  // it sees that its session is gone
  CHECK(zygote.end_runner(runner.value().process) != -1);
  CHECK(zygote.end_runner(runner.value().process) == -1);
}

}  // namespace
}  // namespace ferry::device
