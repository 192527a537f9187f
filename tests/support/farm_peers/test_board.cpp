#include "tests/support/farm_peers/test_board.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using std::chrono::milliseconds;

constexpr milliseconds kTimeout{10'000};

std::int64_t boot_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

lease::BootTime boot_time() { return lease::BootTime(milliseconds(boot_milliseconds())); }

}  // namespace

TestBoard::TestBoard(TestBoardOptions options)
    : options_(std::move(options)), joined_(std::string()), guard_(options_.ceiling) {
  joined_ = join();
  if (joined_.is_ok()) thread_ = std::thread([this] { run(); });
}

TestBoard::~TestBoard() {
  cut();
  if (thread_.joinable()) thread_.join();
}

void TestBoard::cut() {
  if (connection_) connection_->transport().close();
}

Result<std::string> TestBoard::join() {
  FERRY_ASSIGN(auto tcp, connect_tcp(options_.tracker.host, options_.tracker.port, kTimeout));
  FERRY_ASSIGN(auto transport, secure::encrypt_connection(std::move(tcp), options_.key, kTimeout));
  transport->set_receive_timeout(kTimeout);
  connection_ = std::make_unique<rpc::Connection>(std::move(transport));
  Join message;
  message.boot_id = options_.boot_id;
  message.boot_ms = static_cast<std::uint64_t>(boot_milliseconds());
  message.ceiling = options_.ceiling;
  message.address = options_.address;
  message.description = options_.description;
  // In a record of its own.
  const std::vector<std::uint8_t> first = request_frame(1, message);
  const ByteSpan piece(first);
  FERRY_TRY(connection_->transport().send({&piece, 1}));
  FERRY_ASSIGN(const rpc::Frame frame, connection_->receive_frame());
  FERRY_TRY(rpc::failure_of(frame));
  FERRY_ASSIGN(const Joined joined, decode<Joined>(frame.body));
  return joined.name;
}

void TestBoard::run() {
  auto next_beat = std::chrono::steady_clock::now();
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_beat) {
      beat(0);
      next_beat = now + kHeartbeatPeriod;
    }
    {
      const std::lock_guard lock(mutex_);
      apply(guard_.check_end(boot_time()));
    }
    pollfd entry{connection_->transport().native_handle(), POLLIN, 0};
    if (!connection_->has_buffered_input() && poll(&entry, 1, 20) <= 0) continue;
    const Result<rpc::Frame> frame = connection_->receive_frame();
    const std::lock_guard lock(mutex_);
    if (frame.is_ok()) {
      take(frame.value());
    } else {
      has_ended_ = true;
      if (end_.empty()) end_ = frame.status().message();
    }
    changed_.notify_all();
    if (has_ended_) return;
  }
}

void TestBoard::take(const rpc::Frame& frame) {
  switch (static_cast<Tag>(frame.header.tag)) {
    case Tag::Announce: {
      const auto message = decode<Announce>(frame.body).value();
      const lease::LeaseGuard::Effects effects = guard_.announce(
          {message.key, message.extension, lease::BootTime(milliseconds(static_cast<std::int64_t>(message.end_ms)))},
          boot_time());
      if (!effects.refused) {
        const bool is_known = holder_.key == message.key;
        announced_ = Served{message.key, message.psk, is_known ? holder_.holder : 0};
      }
      return apply(effects);
    }
    case Tag::LeaseHolder: holder_ = decode<LeaseHolder>(frame.body).value(); return;
    case Tag::Withdraw: return apply(guard_.withdraw(decode<Withdraw>(frame.body).value().key));
    case Tag::Probe: return beat(decode<Probe>(frame.body).value().probe);
    case Tag::Refused: end_ = decode<Refused>(frame.body).value().reason; return;
    case Tag::OpenRelay: relay_token_ = decode<OpenRelay>(frame.body).value().token; return;
    case Tag::Rekey: new_key_ = decode<Rekey>(frame.body).value().psk; return;
    default: return;
  }
}

void TestBoard::apply(const lease::LeaseGuard::Effects& effects) {
  if (effects.over) send(LeaseOver{*effects.over});
  if (effects.refused) send(LeaseOver{*effects.refused});
  if (effects.end_session) return apply(guard_.session_ended());
  if (effects.write_ceiling != 0) return apply(guard_.ceiling_written(effects.write_ceiling));
  if (effects.acknowledged && options_.acknowledges) {
    served_.push_back(effects.acknowledged->key);
    send(Acknowledged{effects.acknowledged->key, effects.acknowledged->extension});
  }
}

void TestBoard::beat(std::uint64_t probe) {
  send(Heartbeat{static_cast<std::uint64_t>(boot_milliseconds()), millidegrees_, false, 100, probe});
}

std::optional<TestBoard::Served> TestBoard::wait_for_lease(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto is_served = [&] { return guard_.serving() && announced_ && announced_->key == *guard_.serving(); };
  if (!changed_.wait_for(lock, timeout, is_served)) return std::nullopt;
  return announced_;
}

bool TestBoard::wait_until_free(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return !guard_.serving(); });
}

std::string TestBoard::wait_for_end(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return has_ended_; });
  return end_;
}

std::optional<secure::KeyBytes> TestBoard::new_key() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kTimeout, [&] { return new_key_.has_value(); });
  return new_key_;
}

std::optional<std::uint64_t> TestBoard::relay_token() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kTimeout, [&] { return relay_token_.has_value(); });
  return relay_token_;
}

std::vector<lease::LeaseKey> TestBoard::served() const {
  const std::lock_guard lock(mutex_);
  return served_;
}

}  // namespace ferry::test
