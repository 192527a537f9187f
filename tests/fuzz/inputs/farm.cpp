#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "farm/protocol/codec.h"
#include "farm/protocol/lease/lease_guard.h"
#include "tests/fuzz/inputs/targets.h"

namespace ferry::fuzz {
namespace {

using namespace farm::wire;

void expect_promise(bool promise) {
  if (!promise) __builtin_trap();
}

template <class T>
void decode_farm(ByteSpan body) {
  (void)farm::wire::decode<T>(body, Strings::printable);
  const Result<T> message = farm::wire::decode<T>(body, Strings::as_sent);
  if (!message.is_ok()) return;
  // The bytes may differ from the input, whose unknown fields at the ends of nested structs are skipped.
  const auto bytes = farm::wire::encode(message.value());
  const Result<T> again = farm::wire::decode<T>(bytes, Strings::as_sent);
  expect_promise(again.is_ok() && farm::wire::encode(again.value()) == bytes);
}

void decode_message(const rpc::FrameHeader& header, ByteSpan body) {
  const bool is_answer = header.kind == rpc::FrameKind::response;
  switch (static_cast<Tag>(header.tag)) {
#define FERRY_CASE(number, request, reply, name, directions) \
  case Tag::request:                                         \
    if (is_answer)                                           \
      decode_farm<reply>(body);                              \
    else                                                     \
      decode_farm<request>(body);                            \
    break;
    FERRY_FARM_REQUESTS(FERRY_CASE)
#undef FERRY_CASE
#define FERRY_CASE(number, event, name, directions) \
  case Tag::event: decode_farm<event>(body); break;
    FERRY_FARM_EVENTS(FERRY_CASE)
#undef FERRY_CASE
  }
}

// A board as its tracker's messages drive it, with a clock that goes on by a second with each of them.
class Board {
 public:
  void take(const rpc::FrameHeader& header, ByteSpan body) {
    now_ += std::chrono::seconds(1);
    check(guard_.check_end(now_));
    if (static_cast<Tag>(header.tag) == Tag::Announce) {
      const auto announce = farm::wire::decode<Announce>(body);
      if (!announce.is_ok()) return;
      const auto most = static_cast<std::uint64_t>(now_.time_since_epoch().count()) + 86'400'000;
      const auto end = static_cast<std::int64_t>(std::min(announce.value().end_ms, most));
      const lease::BootTime until{std::chrono::milliseconds(end)};
      check(guard_.announce({announce.value().key, announce.value().extension, until}, now_));
      if (guard_.admit(announce.value().key, now_) == lease::AdmitResult::admitted) has_session_ = true;
    }
    if (static_cast<Tag>(header.tag) == Tag::Withdraw) {
      const auto withdraw = farm::wire::decode<Withdraw>(body);
      if (withdraw.is_ok()) check(guard_.withdraw(withdraw.value().key));
    }
  }

 private:
  // Carries the effects out. What is acknowledged has a greater epoch than all before, up to the ceiling.
  void check(const lease::LeaseGuard::Effects& effects) {
    if (effects.write_ceiling != 0) {
      expect_promise(effects.write_ceiling > guard_.ceiling());
      check(guard_.ceiling_written(effects.write_ceiling));
    }
    if (effects.acknowledged) {
      const lease::LeaseKey& key = effects.acknowledged->key;
      expect_promise(!has_session_ || key == acknowledged_);
      expect_promise(key.epoch <= guard_.ceiling() && (key == acknowledged_ || key.epoch > acknowledged_.epoch));
      acknowledged_ = key;
    }
    if (effects.end_session) {
      expect_promise(has_session_);
      has_session_ = false;
      check(guard_.session_ended());
    }
  }

  lease::LeaseGuard guard_{0};
  lease::BootTime now_{std::chrono::hours(1)};
  lease::LeaseKey acknowledged_;
  bool has_session_ = false;
};

}  // namespace

// The first byte says who reads: a tracker from a board or from a client, a board, a client.
void fuzz_farm(Input input) {
  if (input.empty()) return;
  constexpr std::array kViews{kFromBoard, kFromClient, kToBoard, kToClient};
  const farm::wire::Direction view = kViews[input[0] % kViews.size()];
  const std::size_t max_body = view == kToClient ? rpc::kMaxBodyBytes : kMaxBody;
  input = input.subspan(1);
  Board board;
  while (input.size() >= rpc::kFrameHeaderBytes) {
    const auto header = rpc::decode_frame_header(input.first<rpc::kFrameHeaderBytes>());
    if (!header.is_ok() || header.value().payload_bytes != 0 || header.value().body_bytes > max_body) return;
    input = input.subspan(rpc::kFrameHeaderBytes);
    if (header.value().body_bytes > input.size()) return;
    const ByteSpan body = input.first(header.value().body_bytes);
    input = input.subspan(body.size());
    const bool is_answer = header.value().kind == rpc::FrameKind::response;
    if (!is_answer && !has_direction(header.value().tag, view)) continue;
    decode_message(header.value(), body);
    if (view == kToBoard) board.take(header.value(), body);
  }
}

}  // namespace ferry::fuzz
