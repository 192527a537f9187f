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
  bool is_answered() const {
    httplib::Client http(url);
    http.set_read_timeout(60);
    const auto answer = http.Get("/healthz");
    return answer && answer->status == 200;
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
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (std::size_t at = 0; at < 10; ++at) {
    for (const auto& one : slow) one->send(start.substr(at, 1));
  }
  CHECK(farm.is_answered());
  CHECK(slow.back()->read(std::chrono::milliseconds(0)) == "");
  CHECK_FALSE(slow.back()->is_closed());
  for (const auto& one : slow) {
    CHECK(one->read(std::chrono::seconds(60)).starts_with("HTTP/1.1 408 "));
    CHECK(one->is_closed());
  }
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
  for (std::size_t i = 0; i < count; ++i) {
    silent.push_back(std::make_unique<RawClient>(farm.port));
    if (i % 2500 == 2499) CHECK(farm.is_answered());
  }
  farm.check_undisturbed();
}

TEST_CASE("bad requests without end and without a token keep nobody from the page") {
  PageFarm farm;
  std::atomic<bool> is_over{false};
  std::atomic<int> sent{0};
  std::thread flood([&] {
    std::deque<std::unique_ptr<RawClient>> open;
    for (; !is_over; ++sent) {
      open.push_back(std::make_unique<RawClient>(farm.port));
      open.back()->send("GET / HTTP/1.1\r\nno header\r\n\r\n");
      if (open.size() > 500) open.pop_front();
    }
  });
  while (sent < 2000) CHECK(farm.is_answered());
  is_over = true;
  flood.join();
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
