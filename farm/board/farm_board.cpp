#include "farm/board/farm_board.h"

#include <algorithm>
#include <string_view>

#include "base/printable.h"
#include "base/utf8.h"
#include "rpc/server/listen.h"

namespace ferry::device {
namespace {

using std::chrono::milliseconds;

// An announcement cannot bind a board for longer, whatever the tracker says.
constexpr std::chrono::hours kLongestLease{24};
// The loop's timers stand still while the system is suspended, CLOCK_BOOTTIME does not.
constexpr milliseconds kLookAtEnd{500};

Status withdrawn() { return {ErrorCode::unavailable, "the farm has ended the lease of this board"}; }
Status superseded() { return {ErrorCode::unavailable, "the farm has given this board to somebody else"}; }
Status expired() { return {ErrorCode::deadline_exceeded, "the lease of this board has ended"}; }

}  // namespace

FarmBoard::FarmBoard(server::EventLoop& loop, server::SecretMemory& secrets, const FarmOptions& options,
                     const DeviceFacts& facts, CeilingFile& ceiling, Sessions& sessions)
    : options_(options),
      facts_(facts),
      ceiling_(ceiling),
      sessions_(sessions),
      guard_(ceiling.ceiling()),
      end_(loop),
      relays_(loop, [this](int socket) { sessions_.adopt(socket); }),
      link_(loop, secrets, options, *this) {}

void FarmBoard::start(const std::string& address) {
  address_ = address;
  link_.start();
}

void FarmBoard::stop() {
  end_.cancel();
  relays_.stop();
  link_.stop();
}

farm::wire::Join FarmBoard::make_join(int socket) {
  farm::wire::Join join;
  join.name = options_.name;
  join.boot_id = read_boot_id();
  join.boot_ms = static_cast<std::uint64_t>(boot_now().time_since_epoch().count());
  join.ceiling = guard_.ceiling();
  join.serving = guard_.serving().value_or(lease::LeaseKey{});
  join.address = address_;
  // A server that listens everywhere is reached where it connects from.
  const std::size_t host_end = address_.rfind(':');
  const std::string_view host = std::string_view(address_).substr(0, host_end);
  if (host == "0.0.0.0" || host == "[::]") {
    const std::string own = server::own_name(socket);
    join.address.replace(0, host_end, own, 0, own.rfind(':'));
  }
  join.description = describe_board(facts_, options_);
  return join;
}

void FarmBoard::on_announce(const farm::wire::Announce& message, std::uint64_t holder) {
  const lease::BootTime now = boot_now();
  const auto latest = static_cast<std::uint64_t>((now + kLongestLease).time_since_epoch().count());
  const lease::BootTime end{milliseconds(std::min(message.end_ms, latest))};
  const lease::LeaseGuard::Effects effects = guard_.announce({message.key, message.extension, end}, now);
  // The key and the holder that came with a lease first remain the lease's.
  const bool is_known = lease_ && lease_->key == message.key;
  if (!is_known && effects.refused != message.key) lease_ = Lease{message.key, secure::Key{message.psk}, holder};
  apply(effects, superseded());
  watch_end();
}

void FarmBoard::on_withdraw(const farm::wire::Withdraw& message) { apply(guard_.withdraw(message.key), withdrawn()); }

void FarmBoard::on_open_relay(const farm::wire::OpenRelay& message, const server::SocketAddress& tracker) {
  // Nobody could open a session through it.
  if (is_served()) relays_.dial(tracker, message.token);
}

void FarmBoard::apply(const lease::LeaseGuard::Effects& effects, const Status& why) {
  if (effects.over) {
    link_.send(farm::wire::LeaseOver{*effects.over});
    if (lease_ && lease_->key == *effects.over) lease_.reset();
  }
  if (effects.refused) link_.send(farm::wire::LeaseOver{*effects.refused});
  if (effects.end_session) sessions_.end_session(why);
  if (effects.write_ceiling != 0) write_ceiling(effects.write_ceiling);
  if (effects.acknowledged)
    link_.send(farm::wire::Acknowledged{effects.acknowledged->key, effects.acknowledged->extension});
}

void FarmBoard::write_ceiling(lease::Epoch ceiling) {
  const Status written = ceiling_.write(ceiling);
  // The lease stays unacknowledged, so nobody gets it; the next one tries again.
  if (!written.is_ok()) return log(written.message());
  apply(guard_.ceiling_written(ceiling), superseded());
}

void FarmBoard::watch_end() {
  const auto end = guard_.end();
  if (!end) return end_.cancel();
  const auto left = std::chrono::duration_cast<milliseconds>(*end - boot_now());
  end_.start(std::clamp(left, milliseconds(0), kLookAtEnd), [this] {
    apply(guard_.check_end(boot_now()), expired());
    watch_end();
  });
}

bool FarmBoard::is_served() const {
  const auto serving = guard_.serving();
  return serving && lease_ && lease_->key == *serving && boot_now() < *guard_.end();
}

bool FarmBoard::is_served(const secure::KeyId& id) const { return is_served() && lease_->psk.id() == id; }

Result<std::optional<secure::Key>> FarmBoard::find(const secure::KeyId& id) const {
  if (!is_served(id)) return std::optional<secure::Key>();
  return std::optional(lease_->psk);
}

Status FarmBoard::check(const secure::KeyId& id) const { return is_served(id) ? Status() : expired(); }

Status FarmBoard::admit(const secure::KeyId& id) {
  FERRY_TRY(check(id));
  if (guard_.admit(lease_->key, boot_now()) != lease::AdmitResult::admitted) return expired();
  admitted_ = lease_->key;
  admitted_holder_ = lease_->holder;
  return {};
}

void FarmBoard::report_session(std::string client, std::uint64_t length_ms, std::string_view failure) {
  using namespace farm::wire;
  const std::string shown = printable_lines(failure);
  link_.send(SessionEnded{admitted_, std::string(utf8_prefix(client, kMaxText)), length_ms,
                          std::string(utf8_prefix(shown, kMaxReport))});
}

void FarmBoard::session_ended() { apply(guard_.session_ended(), withdrawn()); }

}  // namespace ferry::device
