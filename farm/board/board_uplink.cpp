#include "farm/board/board_uplink.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "rpc/wire/codec.h"

namespace ferry::device {
namespace {

using namespace farm::wire;
using std::chrono::milliseconds;

constexpr milliseconds kDialTimeout{5000};
constexpr milliseconds kFirstPause{250};
constexpr milliseconds kLongestPause{10'000};
constexpr std::uint64_t kJoinRequest = 1;
// Heartbeats are short, and a tracker that reads none of them for kSilence is given up anyway.
constexpr server::FrameChannel::Limits kLimits{kMaxBody, std::size_t{64} << 10};

// Boards that have lost the same tracker do not all come at once.
milliseconds draw_pause(std::size_t failures) {
  const milliseconds longest = std::min(kLongestPause, kFirstPause * (1 << std::min<std::size_t>(failures, 6)));
  std::uint8_t random = 0;
  secure::fill_with_random({&random, 1});
  return longest - longest * random / 512;
}

}  // namespace

BoardUplink::BoardUplink(server::EventLoop& loop, server::SecretMemory& secrets, const FarmOptions& options,
                         Board& board)
    : loop_(loop),
      secrets_(secrets),
      options_(options),
      board_(board),
      timer_(loop),
      logged_(options.trackers.size()) {}

void BoardUplink::stop() {
  timer_.cancel();
  if (const auto dialing = dialing_.lock()) dialing->abandon();
  if (channel_) channel_->close();
  channel_.reset();
  is_joined_ = false;
}

void BoardUplink::dial() {
  const auto tracker = address();
  if (!tracker.is_ok()) return retry(tracker.status().message());
  dialing_ = server::dial(loop_, tracker.value(), secrets_, kDialTimeout, *this);
}

Result<server::SocketAddress> BoardUplink::address() const {
  const TcpAddress& tracker = options_.trackers[next_];
  FERRY_ASSIGN(server::SocketAddress parsed, server::parse_socket_address(tracker.host, "--farm"));
  parsed.set_port(tracker.port);
  return parsed;
}

void BoardUplink::retry(const std::string& why) {
  stop();
  if (std::exchange(logged_[next_], why) != why) board_.log(tracker() + ": " + why);
  next_ = (next_ + 1) % options_.trackers.size();
  timer_.start(draw_pause(failures_++ / options_.trackers.size()), [this] { dial(); });
}

void BoardUplink::on_dialed(Result<server::DialedConnection> connection) {
  if (!connection.is_ok()) return retry(connection.status().message());
  server::DialedConnection& dialed = connection.value();
  const Join join = board_.make_join(dialed.socket.number());
  channel_ = server::FrameChannel::start(loop_, std::move(dialed.socket), std::move(dialed.secure), kLimits, *this);
  heard_ = boot_now();
  probe_ = 0;
  channel_->send(request_frame(kJoinRequest, join));
  watch_silence();
}

void BoardUplink::watch_silence() {
  if (!channel_) return;
  const milliseconds silent = boot_now() - heard_;
  if (silent >= kSilence) return retry("nothing was heard for too long");
  // Not a whole period too late: a standby may be waiting for the board.
  timer_.start(std::min<milliseconds>(kHeartbeatPeriod, kSilence - silent), [this] { watch_silence(); });
  if (!is_joined_) return;
  // The connection lasts, unlike one that the tracker closes at once.
  failures_ = 0;
  is_rekeyed_ = false;
  beat();
}

void BoardUplink::beat() {
  Heartbeat heartbeat = read_heartbeat();
  heartbeat.probe = probe_;
  send(heartbeat);
}

void BoardUplink::on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  heard_ = boot_now();
  if (!is_joined_) return on_joined(header, body);
  if (header.kind != rpc::FrameKind::event) return retry("expected an event, got another frame");
  const Status handled = on_event(static_cast<Tag>(header.tag), body);
  if (!handled.is_ok()) retry(handled.message());
}

void BoardUplink::on_joined(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  if (header.kind != rpc::FrameKind::response || header.request != kJoinRequest)
    return retry("expected the answer to join, got another frame");
  if (const Status refused = rpc::failure_of({header, body}); !refused.is_ok()) return retry(refused.message());
  const auto joined = decode<Joined>(body);
  if (!joined.is_ok()) return retry(joined.status().message());
  if (joined.value().version < kVersionMin || joined.value().version > kVersionMax)
    return retry(format("it speaks version %u of the farm's protocol", joined.value().version));
  is_joined_ = true;
  board_.log(tracker() + ": joined as " + joined.value().name);
  logged_[next_].clear();
  beat();
}

Status BoardUplink::on_event(Tag tag, std::span<const std::uint8_t> body) {
  if (tag == Tag::LeaseHolder) {
    FERRY_ASSIGN(holder_, decode<LeaseHolder>(body));
  }
  if (tag == Tag::Announce) {
    FERRY_ASSIGN(const Announce announce, decode<Announce>(body));
    board_.on_announce(announce, holder_.key == announce.key ? holder_.holder : 0);
  }
  if (tag == Tag::Withdraw) {
    FERRY_ASSIGN(const Withdraw withdraw, decode<Withdraw>(body));
    board_.on_withdraw(withdraw);
  }
  if (tag == Tag::Probe) {
    FERRY_ASSIGN(const Probe probe, decode<Probe>(body));
    probe_ = probe.probe;
    beat();
  }
  if (tag == Tag::OpenRelay) {
    FERRY_ASSIGN(const OpenRelay relay, decode<OpenRelay>(body));
    FERRY_ASSIGN(const server::SocketAddress tracker, address());
    board_.on_open_relay(relay, tracker);
  }
  if (tag == Tag::Rekey) return rekey(body);
  if (tag == Tag::Refused) {
    FERRY_ASSIGN(const Refused refused, decode<Refused>(body));
    return {ErrorCode::unavailable, refused.reason};
  }
  // Keepalives say nothing else, and messages of later versions are ignored.
  return {};
}

Status BoardUplink::rekey(std::span<const std::uint8_t> body) {
  FERRY_TRY(secure::wiping_stack([&]() -> Status {
    FERRY_ASSIGN(const Rekey rekey, decode<Rekey>(body));
    return secure::replace_key_file(options_.key_file, {rekey.psk});
  }));
  // A tracker that sends one key after the other is not dialed without a pause.
  if (std::exchange(is_rekeyed_, true)) return {ErrorCode::unavailable, "it has replaced the key again"};
  board_.log(tracker() + ": has replaced the key in " + options_.key_file);
  stop();
  dial();
  return {};
}

}  // namespace ferry::device
