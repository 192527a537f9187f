#include "tests/support/farm_peers/running_tracker.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <asio/post.hpp>
#include <cstring>
#include <future>

namespace ferry::test {
namespace {

constexpr std::chrono::seconds kTimeout{10};

template <class T>
T expect(Result<T> result) {
  REQUIRE_MESSAGE(result.is_ok(), result.status().message());
  return std::move(result.value());
}

}  // namespace

RunningTracker::RunningTracker(std::unique_ptr<farm::Store> store, farm::TrackerOptions options) {
  options.port = 0;
  options.max_connections = 64;
  options.log = [this](const std::string& line) {
    const std::lock_guard lock(mutex_);
    log_.push_back(line);
    changed_.notify_all();
  };
  options.on_first_admin = [this](const secure::Key& key) {
    const std::lock_guard lock(mutex_);
    admin_ = key;
    changed_.notify_all();
  };
  tracker_ = expect(farm::Tracker::open(loop_, std::move(store), std::move(options)));
  thread_ = std::thread([this] { loop_.run(); });
}

RunningTracker::~RunningTracker() {
  asio::post(loop_.context(), [this] { tracker_->stop(); });
  thread_.join();
  tracker_.reset();
}

TcpAddress RunningTracker::address() const { return parse_tcp_address(tracker_->address(), 0).value(); }

farm::FarmAccess RunningTracker::admin() {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, kTimeout, [&] { return admin_.has_value(); }));
  return access(*admin_);
}

farm::FarmAccess RunningTracker::access(const secure::Key& key) const {
  return {"test", {address()}, key, "test.key", "a test"};
}

farm::FarmAccess RunningTracker::add_client(const std::string& holder, farm::wire::Role role) {
  return access({expect(farm::FarmClient(admin()).ask(farm::wire::AddClient{holder, role})).psk});
}

secure::Key RunningTracker::enrol(const std::string& name, std::vector<farm::wire::Label> tags) {
  return {expect(farm::FarmClient(admin()).ask(farm::wire::EnrolBoard{name, std::move(tags), "", false})).psk};
}

secure::Key RunningTracker::board_key(const std::string& name, std::vector<farm::wire::Label> tags) {
  const auto board = join(enrol(name, std::move(tags)));
  const auto key = board->new_key();
  REQUIRE(key);
  return {*key};
}

std::unique_ptr<TestBoard> RunningTracker::join(const secure::Key& key, std::uint64_t boot_id) {
  TestBoardOptions options;
  options.tracker = address();
  options.key = key;
  // Boards are on machines of their own.
  std::memcpy(&options.boot_id, key.bytes.data(), sizeof options.boot_id);
  options.boot_id += boot_id;
  options.description.arch = "aarch64";
  options.description.model = "Raspberry Pi 4 Model B Rev 1.4";
  options.description.cores = 4;
  options.description.memory_bytes = std::uint64_t{4} << 30;
  auto board = std::make_unique<TestBoard>(options);
  const auto joined = board->joined_as();
  REQUIRE_MESSAGE(joined.is_ok(), joined.status().message());
  return board;
}

void RunningTracker::checked(const farm::CheckedBoard& checked) {
  asio::post(loop_.context(), [this, checked] { tracker_->checked(checked); });
}

void RunningTracker::on_loop(const std::function<void(farm::Tracker&)>& work) {
  std::promise<void> done;
  asio::post(loop_.context(), [&] {
    work(*tracker_);
    done.set_value();
  });
  done.get_future().wait();
}

std::vector<std::string> RunningTracker::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

bool RunningTracker::wait_for_log(const std::string& part) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kTimeout, [&] {
    return std::ranges::any_of(log_, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  });
}

}  // namespace ferry::test
