#include "farm/web/connections.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <string>
#include <thread>

using namespace ferry::farm::http;
using ferry::Descriptor;
using std::chrono::milliseconds;

namespace {

// Requests of which each holds its thread until it is let go.
struct Held {
  std::mutex mutex;
  std::condition_variable changed;
  std::string served;  // the first byte of each, in order
  bool is_open = false;
  std::atomic<int> done{0};
  Connections connections{4, 2,
                          [this](Arrival& arrival) {
                            std::unique_lock lock(mutex);
                            served += arrival.bytes;
                            changed.notify_all();
                            changed.wait(lock, [this] { return is_open; });
                          },
                          [this](Descriptor) { ++done; }};

  void add(const std::string& bytes, bool is_known) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    const Descriptor other(ends[1]);
    connections.add({Descriptor(ends[0]), {}, bytes}, is_known);
  }
  std::string wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(5), [&] { return served.size() >= count; });
    return served;
  }
  void open() {
    const std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }
  ~Held() { open(); }
};

}  // namespace

TEST_CASE("strangers have a part of the threads, and those who are known the others") {
  Held held;
  for (int i = 0; i < 20; ++i) held.add("s", false);
  CHECK(held.wait_for(2) == "ss");
  std::this_thread::sleep_for(milliseconds(50));
  CHECK(held.wait_for(2) == "ss");
  held.add("k", true);
  held.add("k", true);
  CHECK(held.wait_for(4) == "sskk");
  held.add("k", true);
  held.open();
  const std::string all = held.wait_for(23);
  CHECK(all.size() == 23);
  CHECK(std::count(all.begin(), all.end(), 'k') == 3);
}

TEST_CASE("a queue that is full of strangers takes those who are known") {
  Held held;
  for (std::size_t i = 0; i < Connections::kWaiting + 10; ++i) held.add("s", false);
  CHECK(held.wait_for(2) == "ss");
  held.add("k", true);
  CHECK(held.wait_for(3) == "ssk");
  held.open();
  for (int i = 0; i < 500 && held.done < static_cast<int>(Connections::kWaiting); ++i)
    std::this_thread::sleep_for(milliseconds(10));
  CHECK(held.done >= static_cast<int>(Connections::kWaiting));
}
