#include "bench/farm/swarm_peer.h"

#include <time.h>

#include <algorithm>
#include <random>

namespace ferry::bench {
namespace {

using namespace farm::wire;
using std::chrono::milliseconds;

constexpr milliseconds kDialTimeout{5000};
constexpr std::uint64_t kFirstRequest = 1;

std::uint64_t boot_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

lease::BootTime boot_time() { return lease::BootTime(milliseconds(static_cast<std::int64_t>(boot_milliseconds()))); }

}  // namespace

std::uint64_t draw(std::uint64_t end) {
  static std::mt19937_64 random(20'261'124);
  return random() % end;
}

SwarmPeer::SwarmPeer(const SwarmPlace& place, const secure::Key& key) : place_(place), key_(key), timer_(place.loop) {}

SwarmPeer::~SwarmPeer() {
  if (const auto dialing = dialing_.lock()) dialing->abandon();
  if (channel_) channel_->close();
}

void SwarmPeer::start(milliseconds after) {
  timer_.start(after, [this] { dial(); });
}

void SwarmPeer::dial() { dialing_ = server::dial(place_.loop, place_.tracker, place_.secrets, kDialTimeout, *this); }

void SwarmPeer::retry() {
  if (channel_) channel_->close();
  channel_.reset();
  is_welcome_ = false;
  const std::uint64_t longest = std::min<std::uint64_t>(10'000, std::uint64_t{250} << std::min(failures_++, 6));
  timer_.start(milliseconds(longest - draw(longest / 2)), [this] { dial(); });
}

void SwarmPeer::on_dialed(Result<server::DialedConnection> connection) {
  if (!connection.is_ok()) return retry();
  server::DialedConnection& dialed = connection.value();
  channel_ = server::FrameChannel::start(place_.loop, std::move(dialed.socket), std::move(dialed.secure),
                                         {rpc::kMaxBodyBytes, std::size_t{64} << 10}, *this);
  heard_ = Clock::now();
  channel_->send(first_frame());
  keep_alive();
}

void SwarmPeer::keep_alive() {
  if (!channel_) return;
  if (Clock::now() - heard_ > kSilence) return retry();
  timer_.start(kHeartbeatPeriod, [this] { keep_alive(); });
  if (!is_welcome_) return;
  failures_ = 0;
  beat();
}

void SwarmPeer::on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  heard_ = Clock::now();
  if (!is_welcome_) {
    if (header.kind != rpc::FrameKind::response || !rpc::failure_of({header, body}).is_ok()) return retry();
    is_welcome_ = true;
    beat();
    return on_welcome();
  }
  if (header.kind != rpc::FrameKind::event || !on_event(static_cast<Tag>(header.tag), body).is_ok()) retry();
}

std::vector<std::uint8_t> SwarmBoard::first_frame() {
  Join join;
  join.boot_id = 1;
  join.boot_ms = boot_milliseconds();
  join.ceiling = guard_.ceiling();
  join.serving = guard_.serving().value_or(lease::LeaseKey{});
  join.address = "127.0.0.1:1";
  join.description.arch = "aarch64";
  join.description.model = "Raspberry Pi 4 Model B Rev 1.4";
  join.description.cpu = "cortex-a72";
  join.description.cores = 4;
  join.description.memory_bytes = std::uint64_t{4} << 30;
  join.description.features = {"neon", "crc", "fp", "asimd"};
  return request_frame(kFirstRequest, join);
}

void SwarmBoard::beat(std::uint64_t probe) {
  apply(guard_.check_end(boot_time()));
  send(Heartbeat{boot_milliseconds(), 45'000, false, 100, probe});
}

Status SwarmBoard::on_event(Tag tag, std::span<const std::uint8_t> body) {
  if (tag == Tag::Announce) {
    FERRY_ASSIGN(const Announce message, decode<Announce>(body));
    apply(guard_.announce(
        {message.key, message.extension, lease::BootTime(milliseconds(static_cast<std::int64_t>(message.end_ms)))},
        boot_time()));
  } else if (tag == Tag::Withdraw) {
    FERRY_ASSIGN(const Withdraw message, decode<Withdraw>(body));
    apply(guard_.withdraw(message.key));
  } else if (tag == Tag::Probe) {
    FERRY_ASSIGN(const Probe message, decode<Probe>(body));
    beat(message.probe);
  }
  return {};
}

void SwarmBoard::apply(const lease::LeaseGuard::Effects& effects) {
  if (effects.over) send(LeaseOver{*effects.over});
  if (effects.refused) send(LeaseOver{*effects.refused});
  if (effects.write_ceiling != 0) return apply(guard_.ceiling_written(effects.write_ceiling));
  if (effects.acknowledged) send(Acknowledged{effects.acknowledged->key, effects.acknowledged->extension});
}

SwarmClient::SwarmClient(const SwarmPlace& place, const secure::Key& key, const Habit& habit)
    : SwarmPeer(place, key), habit_(habit), holding_(place.loop) {}

std::vector<std::uint8_t> SwarmClient::first_frame() {
  Hello hello;
  hello.client = "ferry_farm_bench";
  return request_frame(kFirstRequest, hello);
}

void SwarmClient::submit() {
  lease_ = draw(~std::uint64_t{0}) | 1;
  send(Submit{{lease_, {habit_.selector}, 50, 600'000, 3'600'000, LeaseKind::attached}});
}

void SwarmClient::release() {
  habit_.released();
  send(Release{lease_});
}

Status SwarmClient::on_event(Tag tag, std::span<const std::uint8_t> body) {
  if (tag == Tag::Granted) {
    FERRY_ASSIGN(const Granted granted, decode<Granted>(body));
    if (granted.lease != lease_) return {};
    habit_.granted();
    if (habit_.hold_at_most.count() == 0) {
      release();
    } else {
      holding_.start(milliseconds(draw(static_cast<std::uint64_t>(habit_.hold_at_most.count()))),
                     [this] { release(); });
    }
  } else if (tag == Tag::Ended) {
    FERRY_ASSIGN(const Ended ended, decode<Ended>(body));
    if (ended.lease != lease_) return {};
    habit_.ended(ended);
    submit();
  }
  return {};
}

}  // namespace ferry::bench
