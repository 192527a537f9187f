// Encodes and decodes the farm's messages as rpc/wire/codec.h does those of sessions, and makes frames of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/printable.h"
#include "base/status.h"
#include "farm/protocol/messages.h"
#include "rpc/wire/connection.h"

namespace ferry::farm::wire {

// Defined for every request, reply and event of messages.h.
template <class T>
std::vector<std::uint8_t> encode(const T& message);
// protocol_error names the offset and what was expected there.
template <class T>
Result<T> decode(std::span<const std::uint8_t> bytes, Strings strings = Strings::printable);

// Returns the name in FARM.md ("lease_over"); "unknown" if no message has the tag.
const char* tag_name(std::uint16_t tag);
// Returns whether the message with this tag may go in this direction; an unknown one may not.
bool has_direction(std::uint16_t tag, Direction direction);

// Provides MessageOf<Join>::kTag and MessageOf<Join>::Reply, and MessageOf<Heartbeat>::kTag.
template <class Message>
struct MessageOf;
#define FERRY_TRAITS(number, request, reply, name, directions) \
  template <>                                                  \
  struct MessageOf<request> {                                  \
    static constexpr Tag kTag = Tag::request;                  \
    using Reply = reply;                                       \
  };
FERRY_FARM_REQUESTS(FERRY_TRAITS)
#undef FERRY_TRAITS
#define FERRY_TRAITS(number, event, name, directions) \
  template <>                                         \
  struct MessageOf<event> {                           \
    static constexpr Tag kTag = Tag::event;           \
  };
FERRY_FARM_EVENTS(FERRY_TRAITS)
#undef FERRY_TRAITS

template <class Event>
std::vector<std::uint8_t> event_frame(const Event& event) {
  return rpc::whole_frame({rpc::FrameKind::event, static_cast<std::uint16_t>(MessageOf<Event>::kTag)}, encode(event));
}
template <class Request>
std::vector<std::uint8_t> request_frame(std::uint64_t id, const Request& request) {
  const auto tag = static_cast<std::uint16_t>(MessageOf<Request>::kTag);
  return rpc::whole_frame({rpc::FrameKind::request, tag, ErrorCode::ok, id}, encode(request));
}
template <class Reply>
std::vector<std::uint8_t> response_frame(const rpc::FrameHeader& request, const Reply& reply) {
  return rpc::whole_frame({rpc::FrameKind::response, request.tag, ErrorCode::ok, request.request}, encode(reply));
}

}  // namespace ferry::farm::wire
