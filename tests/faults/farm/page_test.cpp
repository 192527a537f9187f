// Clients of the tracker's HTTP interface that are slow, silent or send too much, while a lease goes on.
#include <httplib.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>

#include "tests/faults/farm/fault_farm.h"
#include "tests/unit/farm/web/raw_client.h"

namespace ferry::test {
namespace {

struct PageFarm : RealFarm {
  PageFarm() : RealFarm(farm_of(1)), url(page_url()) {
    start_board(0);
    wait_for_boards(1);
    holder.emplace(*this, "holder", "b0", 60'000, FaultClient::Leases::one);
    holder->wait_for_call();
    port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  // Seconds until the page has said that the tracker is well.
  double seconds_until_answered() const {
    const auto begin = Clock::now();
    httplib::Client http(url);
    http.set_read_timeout(10);
    while (seconds_since(begin) < 30) {
      const auto answer = http.Get("/healthz");
      if (answer && answer->status == 200) return seconds_since(begin);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return seconds_since(begin);
  }
  void check_undisturbed() {
    CHECK(!tracker().has_ended());
    holder->process().signal(SIGTERM);
    CHECK(holder->process().wait() == 0);
    CHECK(holder->leases().back().failure == "");
    CHECK(tracker().peak_megabytes() < 200);
  }

  std::string url;
  std::uint16_t port = 0;
  std::optional<FaultClient> holder;
};

TEST_CASE("requests that trickle in keep nobody from the page, and are given up after 5 s") {
  PageFarm farm;
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 300; ++i) slow.push_back(std::make_unique<RawClient>(farm.port));
  const auto begin = Clock::now();
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (std::size_t at = 0; at < 10; ++at) {
    for (const auto& one : slow) one->send(start.substr(at, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(farm.seconds_until_answered() < 1);
  for (const auto& one : slow) {
    one->read(std::chrono::seconds(10));
    CHECK(one->is_closed());
  }
  CHECK(seconds_since(begin) < 7);
  farm.check_undisturbed();
}

TEST_CASE("10,000 connections that say nothing keep nobody from the page") {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  const std::size_t count = std::min<std::size_t>(10'000, limit.rlim_cur - 200);
  PageFarm farm;
  std::vector<std::unique_ptr<RawClient>> silent;
  double longest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    silent.push_back(std::make_unique<RawClient>(farm.port));
    if (i % 2500 == 2499) longest = std::max(longest, farm.seconds_until_answered());
  }
  CHECK(longest < 1);
  farm.check_undisturbed();
}

TEST_CASE("400 bad requests a second without a token keep nobody from the page") {
  PageFarm farm;
  std::atomic<bool> is_over{false};
  std::atomic<int> sent{0};
  std::thread flood([&] {
    std::deque<std::unique_ptr<RawClient>> open;
    for (auto next = Clock::now(); !is_over; next += std::chrono::microseconds(2500), ++sent) {
      open.push_back(std::make_unique<RawClient>(farm.port));
      open.back()->send("GET / HTTP/1.1\r\nno header\r\n\r\n");
      if (open.size() > 500) open.pop_front();
      std::this_thread::sleep_until(next);
    }
  });
  double longest = 0;
  for (const auto begin = Clock::now(); seconds_since(begin) < 5;) {
    longest = std::max(longest, farm.seconds_until_answered());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  is_over = true;
  flood.join();
  CHECK(sent > 1000);
  CHECK(longest < 1);
  farm.check_undisturbed();
}

TEST_CASE("requests larger than the limits are refused with the status that says so") {
  PageFarm farm;
  const std::string host = "Host: localhost\r\n";
  const std::pair<std::string, const char*> cases[] = {
      {"GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", " 431 "},
      {"GET /" + std::string(5'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", " 414 "},
      {"GET / HTTP/1.1\r\n" + host + "A: " + std::string(100'000, 'a') + "\r\n\r\n", " 431 "},
      {"POST /login HTTP/1.1\r\n" + host + "Content-Length: 100000000\r\n\r\n", " 413 "},
      {"POST /login HTTP/1.1\r\n" + host + "Content-Length: 1000\r\n\r\n" + std::string(100'000, 'a'), " 4"}};
  for (const auto& [request, status] : cases) {
    CAPTURE(request.substr(0, 60));
    RawClient client(farm.port);
    client.send(request);
    const std::string answer = client.read();
    CAPTURE(answer.substr(0, 60));
    CHECK(answer.find(status) != std::string::npos);
    CHECK(client.is_closed());
  }
  farm.check_undisturbed();
}

}  // namespace
}  // namespace ferry::test
