// Tests of hosts that vanish behind a closed receive window, for example on a power failure. Two network namespaces are
// joined by a cable, and each end then maps the other to a wrong hardware address. Needs root or user namespaces.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kClientAddress = "10.77.0.1";
constexpr const char* kServerAddress = "10.77.0.2";

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

bool runs(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

void write_file(const char* path, const std::string& text) { std::ofstream(path) << text; }

// Enters new namespaces, as root within them; returns false if that is not permitted.
bool leave_network() {
  const unsigned user = getuid(), group = getgid();
  if (user == 0) return unshare(CLONE_NEWNET) == 0;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
  write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  return true;
}

// Creates a network card with this address in the calling thread's namespace, and returns the file descriptor of the
// cable's end.
int make_card(const char* name, const char* address) {
  const int card = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  ifreq wanted{};
  std::strncpy(wanted.ifr_name, name, IFNAMSIZ - 1);
  wanted.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (card < 0 || ioctl(card, TUNSETIFF, &wanted) != 0) return -1;
  const std::string device = name;
  const bool is_up =
      runs("ip addr add " + std::string(address) + "/24 dev " + device + " && ip link set " + device + " up");
  return is_up ? card : -1;
}

// Forwards the frames from each end to the other one.
class Wire {
 public:
  Wire(int a, int b) : ends_{a, b}, thread_([this] { carry(); }) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() {
    stop_ = true;
    thread_.join();
    for (const int end : ends_) close(end);
  }

 private:
  void carry() const {
    std::vector<char> frame(1 << 16);
    while (!stop_) {
      pollfd ready[2] = {{ends_[0], POLLIN, 0}, {ends_[1], POLLIN, 0}};
      poll(ready, 2, 100);
      for (int from = 0; from < 2; ++from) {
        if ((ready[from].revents & POLLIN) == 0) continue;
        const ssize_t size = read(ends_[from], frame.data(), frame.size());
        if (size > 0) (void)!write(ends_[1 - from], frame.data(), static_cast<std::size_t>(size));
      }
    }
  }

  const int ends_[2];
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A server in one namespace and the calling thread in another, with a cable between them.
class Cable {
 public:
  Cable() {
    const int servers = make_card("server", kServerAddress);
    REQUIRE(servers >= 0);
    server_ = std::make_unique<TestServer>(
        std::vector<std::string>{"--host", kServerAddress, "--sessions", "1", "--key-file", keys_.folder()},
        std::vector<std::string>(), Access::by_keys);
    REQUIRE(unshare(CLONE_NEWNET) == 0);
    const int own = make_card("client", kClientAddress);
    REQUIRE(own >= 0);
    wire_ = std::make_unique<Wire>(servers, own);
  }

  std::unique_ptr<Transport> connect() const {
    auto transport = connect_tcp(kServerAddress, server_->port());
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    auto encrypted = secure::encrypt_connection(std::move(transport.value()), key_, std::chrono::seconds(20));
    REQUIRE_MESSAGE(encrypted.is_ok(), encrypted.status().message());
    return std::move(encrypted.value());
  }

  // Makes each end map the other to a wrong hardware address: neither accepts what the other sends, and neither is
  // notified.
  void vanish() const {
    REQUIRE(
        runs(std::string("ip neigh replace ") + kServerAddress + " lladdr 02:00:00:00:00:99 dev client nud permanent"));
    REQUIRE(runs("nsenter -t " + std::to_string(server_->process()) + " -n ip neigh replace " + kClientAddress +
                 " lladdr 02:00:00:00:00:98 dev server nud permanent"));
  }
  bool is_free() const { return children_of(server_->process()).empty(); }

 private:
  KeyFiles keys_;
  secure::Key key_ = keys_.add("test.key");
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<Wire> wire_;
};

// A test in a process that has left the machine's network. The tests spend their time waiting, so all run at once.
class Trial {
 public:
  explicit Trial(const std::function<bool()>& test) : child_((std::fflush(nullptr), fork())) {
    REQUIRE(child_ >= 0);
    if (child_ != 0) return;
    bool held = false;
    try {
      held = leave_network() && test();
    } catch (...) {
      // The failed REQUIRE has already been reported.
    }
    std::fflush(nullptr);
    _exit(held ? 0 : 1);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    if (child_ > 0) held();
  }

  // Waits for the process; returns whether all checks of the test passed.
  bool held() {
    int status = 0;
    const bool ended = waitpid(std::exchange(child_, -1), &status, 0) > 0;
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t child_;
};

// Returns whether the system supports TCP_RTO_MAX_MS. Without it, the limit is twice as long if the window had been
// closed for long.
bool can_shorten_pauses() {
  constexpr int kTcpRtoMaxMs = 44, kPauseMs = 2000;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const bool can = setsockopt(socket, IPPROTO_TCP, kTcpRtoMaxMs, &kPauseMs, sizeof kPauseMs) == 0;
  close(socket);
  return can;
}

// A client that requests more than all buffers hold, reads nothing for `stalled_ms`, and vanishes.
bool frees_the_device_after(int stalled_ms, double limit_seconds) {
  const Cable cable;
  TestClient client(cable.connect(), Opening::encrypted);
  client.must(rpc::Alloc{1, 64 << 20, 0});
  client.send(rpc::Read{1, 0, 64 << 20});
  std::this_thread::sleep_for(std::chrono::milliseconds(stalled_ms));
  if (cable.is_free()) return false;
  cable.vanish();
  const auto begin = Clock::now();
  while (!cable.is_free() && seconds_since(begin) < 40) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::printf("stalled for %d ms, gone, and the device was free after %.1f s\n", stalled_ms, seconds_since(begin));
  return seconds_since(begin) < limit_seconds;
}

bool keeps_its_session_unread() {
  const Cable cable;
  TestClient client(cable.connect(), Opening::encrypted);
  client.must(rpc::Alloc{1, 64 << 20, 0});
  const std::uint64_t read = client.send(rpc::Read{1, 0, 64 << 20});
  std::this_thread::sleep_for(std::chrono::seconds(13));
  return client.receive<rpc::Read>(read).payload.size() == 64 << 20;
}

bool gives_up_an_upload() {
  const Cable cable;
  TestClient client(cable.connect(), Opening::encrypted);
  const rpc::Handle module = put(client, kit_file());
  client.must(rpc::Alloc{1, 64 << 20, 0});
  // The server reads nothing while a kernel runs.
  client.send(rpc::Call{module, "forever", {}});
  const Bytes content(64 << 20);
  Clock::time_point begin;
  std::thread scissors([&] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    cable.vanish();
    begin = Clock::now();
  });
  const Status sent = client.connection().send_request(77, rpc::Write{1, 0}, content);
  const Clock::time_point end = Clock::now();
  scissors.join();
  const double waited = std::chrono::duration<double>(end - begin).count();
  std::printf("the upload was given up after %.1f s: %s\n", waited, sent.message().c_str());
  return sent.code() == ErrorCode::unavailable && waited < 11;
}

struct Trials {
  Trial at_once{[] { return frees_the_device_after(1000, 10.5); }};
  Trial later{[] { return frees_the_device_after(7000, can_shorten_pauses() ? 10.5 : 25); }};
  Trial alive{keeps_its_session_unread};
  Trial upload{gives_up_an_upload};
};

bool can_make_cables() {
  Trial makes_a_card([] { return make_card("card", kClientAddress) >= 0; });
  if (makes_a_card.held()) return true;
  MESSAGE("skipped: this machine allows no network namespaces of our own, or has no ip or no TAP devices");
  return false;
}

// Returns null if trials are not possible here.
Trials* trials() {
  static const bool can = can_make_cables() && !kit_file().empty();
  if (!can) return nullptr;
  static Trials all;
  return &all;
}

TEST_CASE("a client that vanishes while it reads nothing frees the device within 10 s") {
  if (trials() != nullptr) CHECK(trials()->at_once.held());
}

TEST_CASE("so does one that has read nothing for long") {
  if (trials() != nullptr) CHECK(trials()->later.held());
}

TEST_CASE("a client that reads nothing for longer than a vanished one is given keeps its session") {
  if (trials() != nullptr) CHECK(trials()->alive.held());
}

TEST_CASE("an upload to a server that reads nothing and then vanishes is given up within 10 s") {
  if (trials() != nullptr) CHECK(trials()->upload.held());
}

}  // namespace
}  // namespace ferry::test
