#include "farm/client/lease_status.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "farm/protocol/codec.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {

namespace {

using std::chrono::milliseconds;

// No lease lasts as long; larger numbers would overflow times.
constexpr std::uint64_t kMostMs = 30ull * 24 * 3600 * 1000;
// How long to wait after an extension was refused, or was not answered.
constexpr std::chrono::seconds kExtensionPause{60};
constexpr std::chrono::seconds kLeastExtensionPause{1};

Status check_grant(const wire::Granted& granted, const wire::LeaseRequest& request) {
  if (granted.slots.size() != request.slots.size()) {
    return {ErrorCode::protocol_error, "expected " + std::to_string(request.slots.size()) + " boards, got " +
                                           std::to_string(granted.slots.size())};
  }
  for (const wire::GrantedSlot& slot : granted.slots) {
    // Whoever opens a session checks the rest of such an address.
    if (slot.address.starts_with("ssh://") && slot.epoch > 0) continue;
    if (const auto address = parse_tcp_address(slot.address, 0); !address.is_ok() || address.value().port == 0) {
      return {ErrorCode::protocol_error,
              "expected HOST:PORT as the address of " + slot.board + ", got '" + slot.address + "'"};
    }
  }
  return {};
}

bool are_same(const std::vector<wire::GrantedSlot>& a, const std::vector<wire::GrantedSlot>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.board == other.board && one.epoch == other.epoch && one.psk == other.psk;
  });
}

}  // namespace

std::string to_text(const LeaseEnd& end) {
  return end.reason + ", " + end.failure_class + (end.text.empty() ? "" : ": " + end.text);
}

std::string boards_text(const std::vector<wire::GrantedSlot>& slots) {
  std::string text;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i > 0) text += i + 1 == slots.size() ? " and " : ", ";
    text += slots[i].board;
  }
  return text;
}

Status LeaseStatus::apply(const rpc::Frame& event, Time now) {
  if (event.header.kind != rpc::FrameKind::event || end_) return {};
  // Decodes the body and calls use(message) if it is about this lease.
  const auto with = [&]<class Event>(Event, const auto& use) -> Status {
    FERRY_ASSIGN(Event message, wire::decode<Event>(event.body));
    return message.lease == request_.id ? use(message) : Status();
  };
  switch (static_cast<wire::Tag>(event.header.tag)) {
    case wire::Tag::Waiting:
      return with(wire::Waiting(), [&](const wire::Waiting& waiting) {
        place_ = waiting;
        ++places_told_;
        return Status();
      });
    case wire::Tag::Granted:
      return with(wire::Granted(), [&](wire::Granted& granted) {
        FERRY_TRY(check_grant(granted, request_));
        if (is_granted() && !are_same(slots_, granted.slots)) {
          return Status(ErrorCode::protocol_error, "expected the boards that were granted before, got others");
        }
        grant(std::move(granted), now);
        return Status();
      });
    case wire::Tag::Extension:
      return with(wire::Extension(), [&](const wire::Extension& extension) {
        if (!is_granted()) return Status();
        ++extensions_answered_;
        refusal_ = extension.refusal;
        set_remaining(extension.remaining_ms, now);
        return Status();
      });
    case wire::Tag::Warning:
      return with(wire::Warning(), [&](const wire::Warning& warning) {
        if (!is_granted()) return Status();
        lasts_until_ = now + milliseconds(std::min(warning.remaining_ms, kMostMs));
        next_extension_ = std::min(next_extension_, std::max(now, last_asked_ + kLeastExtensionPause));
        notice_ = "the lease of " + boards_text(slots_) + " ends in " +
                  span_text(std::min(warning.remaining_ms, kMostMs)) +
                  (refusal_.empty() ? "" : ", and was not extended: " + refusal_);
        return Status();
      });
    case wire::Tag::Ended:
      return with(wire::Ended(), [&](wire::Ended& ended) {
        set_end({std::move(ended.reason), std::move(ended.failure_class), std::move(ended.text)});
        return Status();
      });
    default: return {};
  }
}

void LeaseStatus::grant(wire::Granted granted, Time now) {
  slots_ = std::move(granted.slots);
  place_.reset();
  refusal_.clear();
  set_remaining(granted.remaining_ms, now);
}

void LeaseStatus::set_remaining(std::uint64_t remaining_ms, Time now) {
  const milliseconds remaining(std::min(remaining_ms, kMostMs));
  lasts_until_ = now + remaining;
  const milliseconds half = remaining / 2;
  next_extension_ =
      now + (refusal_.empty() ? half : std::clamp<milliseconds>(half, kLeastExtensionPause, kExtensionPause));
}

void LeaseStatus::set_end(LeaseEnd end) {
  if (!end_) end_ = std::move(end);
}

std::optional<LeaseStatus::Time> LeaseStatus::next_extension() const {
  if (!is_extended_ || !is_granted() || end_) return std::nullopt;
  return next_extension_;
}

void LeaseStatus::extension_was_asked(Time now) {
  last_asked_ = now;
  next_extension_ = now + kExtensionPause;
}

std::string LeaseStatus::take_notice() { return std::exchange(notice_, {}); }

}  // namespace ferry::farm
