// The virtual network of the fault tests loses what it is to lose, and leaves nothing behind.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "rpc/server/listen.h"
#include "rpc/transport/tcp.h"
#include "tests/faults/farm/fault_farm.h"

namespace ferry::test {
namespace {

using std::chrono::milliseconds;

// Listens on a host, and tells whether others reach it. Connections are accepted by the system.
class ReachableHost {
 public:
  ReachableHost(const VirtualNetwork& network, std::size_t host) : network_(network), host_(host) {
    const HostVisit visit(network.namespace_of(host));
    auto listener = server::listen_at(VirtualNetwork::address(host), 9000, 9000, true);
    REQUIRE_MESSAGE(listener.is_ok(), listener.status().message());
    listener_ = std::move(listener.value());
  }
  Status reach_from(std::size_t from) const {
    const HostVisit visit(network_.namespace_of(from));
    return connect_tcp(VirtualNetwork::address(host_), 9000, milliseconds(400)).status();
  }
  // Hosts that have just come back find each other's link-layer address first, which takes longer on a busy machine.
  bool is_reached_soon_from(std::size_t from) const {
    for (int tries = 0; tries < 10; ++tries) {
      if (reach_from(from).is_ok()) return true;
    }
    return false;
  }

 private:
  const VirtualNetwork& network_;
  std::size_t host_;
  Descriptor listener_;
};

bool is_missing() {
  const std::string missing = VirtualNetwork::missing();
  if (!missing.empty()) MESSAGE("skipped: " << missing);
  return !missing.empty();
}

TEST_CASE("hosts reach one another unless a link or a path is gone, and nobody is told that it is") {
  if (is_missing()) return;
  const VirtualNetwork network(4);
  const ReachableHost first(network, 1), second(network, 2);
  CHECK(first.reach_from(2).is_ok());
  CHECK(first.reach_from(0).is_ok());
  network.set_link(1, false);
  CHECK(first.reach_from(2).message().find("no answer within") != std::string::npos);
  CHECK(first.reach_from(1).is_ok());
  CHECK(second.reach_from(3).is_ok());
  network.set_link(1, true);
  CHECK(first.is_reached_soon_from(2));
  // Without answers there is no connection either.
  network.set_path(1, 2, false);
  CHECK(first.reach_from(2).message().find("no answer within") != std::string::npos);
  CHECK(second.reach_from(1).message().find("no answer within") != std::string::npos);
  CHECK(first.reach_from(3).is_ok());
  CHECK(second.reach_from(3).is_ok());
  network.set_path(1, 2, true);
  CHECK(second.is_reached_soon_from(1));
}

ino_t namespace_number(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

int processes_in(ino_t network_namespace) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    count += namespace_number(entry.path() / "ns/net") == network_namespace ? 1 : 0;
  }
  return count;
}

TEST_CASE("nothing is left of a network whose process is told to end") {
  if (is_missing()) return;
  const TemporaryFolder folder;  // where the child's are
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("TMPDIR", folder.path().c_str(), 1);
    signal(SIGTERM, SIG_DFL);
    const VirtualNetwork network(2);
    const Process sleeper({"sleep", "60"}, "/dev/null", {}, network.namespace_of(1));
    std::this_thread::sleep_for(milliseconds(200));
    const ino_t number = namespace_number("/proc/" + std::to_string(sleeper.id()) + "/ns/net");
    if (write(ends[1], &number, sizeof number) != sizeof number) _exit(1);
    pause();
    _exit(0);
  }
  ino_t number = 0;
  REQUIRE(read(ends[0], &number, sizeof number) == sizeof number);
  CHECK(number != namespace_number("/proc/self/ns/net"));
  CHECK(processes_in(number) == 1);
  kill(child, SIGTERM);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  for (int i = 0; i < 500 && processes_in(number) > 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(processes_in(number) == 0);
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace ferry::test
