// Encodes and decodes messages. codec.cpp defines the encoding of each message: its fields in order, as
// base/archive.h writes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/printable.h"
#include "base/status.h"
#include "rpc/messages.h"

namespace ferry::rpc {

// Defined for every request, reply and event of messages.h, and for Failure.
template <class T>
std::vector<std::uint8_t> encode(const T& message);
// protocol_error names the offset and what was expected there. Callers that show a message to people must decode it
// with Strings::printable.
template <class T>
Result<T> decode(std::span<const std::uint8_t> bytes, Strings strings = Strings::as_sent);

// Returns the name in PROTOCOL.md ("put_module"); "unknown" if no message has the tag.
const char* tag_name(std::uint16_t tag);
// Returns whether the message with this tag has the property; an unknown one has none.
bool has_property(std::uint16_t tag, MessageProperties property);

// Provides MessageOf<Open>::kTag, MessageOf<Open>::kProperties and MessageOf<Open>::Reply.
template <class Request>
struct MessageOf;
#define FERRY_TRAITS(number, request, reply, text, properties) \
  template <>                                                  \
  struct MessageOf<request> {                                  \
    static constexpr Tag kTag = Tag::request;                  \
    static constexpr unsigned kProperties = properties;        \
    using Reply = reply;                                       \
  };
FERRY_MESSAGES(FERRY_TRAITS)
#undef FERRY_TRAITS

}  // namespace ferry::rpc
