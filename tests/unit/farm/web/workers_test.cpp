#include "farm/web/workers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

using namespace ferry::farm::http;

namespace {

// Jobs of which each holds its thread until it is let go.
struct Held {
  std::mutex mutex;
  std::condition_variable changed;
  std::string served;  // the letter of each, in order
  bool is_open = false;
  Workers workers{4, 2};

  bool add(char letter, bool is_known) {
    return workers.add(
        [this, letter] {
          std::unique_lock lock(mutex);
          served += letter;
          changed.notify_all();
          changed.wait(lock, [this] { return is_open; });
        },
        is_known);
  }
  std::string wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return served.size() >= count; });
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
  for (int i = 0; i < 20; ++i) held.add('s', false);
  held.add('k', true);
  held.add('k', true);
  const std::string first = held.wait_for(4);
  CHECK(std::count(first.begin(), first.end(), 'k') == 2);
  held.add('k', true);
  held.open();
  const std::string all = held.wait_for(23);
  CHECK(all.size() == 23);
  CHECK(std::count(all.begin(), all.end(), 'k') == 3);
}

TEST_CASE("a queue that is full of strangers takes those who are known") {
  Held held;
  std::size_t taken = 0;
  while (held.add('s', false)) ++taken;
  CHECK(taken >= Workers::kWaiting);
  CHECK(taken <= Workers::kWaiting + 2);
  CHECK(held.add('k', true));
  held.open();
  CHECK(held.wait_for(taken + 1).size() == taken + 1);
}

TEST_CASE("jobs that wait are dropped at the end, and none is taken after it") {
  Held held;
  for (int i = 0; i < 4; ++i) held.add('k', true);
  held.wait_for(4);
  auto waiting = std::make_shared<int>();
  const std::weak_ptr<int> left = waiting;
  held.workers.add([waiting = std::move(waiting)] { FAIL("the job is dropped"); }, true);
  std::thread stopping([&] { held.workers.stop(); });
  while (!left.expired()) std::this_thread::yield();
  CHECK_FALSE(held.add('k', true));
  held.open();
  stopping.join();
  CHECK(held.served == "kkkk");
}
