// Messages to bytes and back. The encoding of each is in codec.cpp: its fields in order, as rpc/base/archive.h writes
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rpc/base/printable.h"
#include "rpc/base/status.h"
#include "rpc/messages.h"

namespace ferry::rpc {

// Defined for every request, reply and event of messages.h, and for Failure.
template <class T>
std::vector<std::uint8_t> encode(const T& message);
// protocol_error names the offset and what was expected there. Whoever shows what a message says to people decodes it
// with printable strings.
template <class T>
Result<T> decode(std::span<const std::uint8_t> bytes, Strings strings = Strings::as_sent);

// The name in PROTOCOL.md ("put_module"); "unknown" for a tag that is none.
const char* tag_name(std::uint16_t tag);

// MessageOf<Hello>::kTag and MessageOf<Hello>::Reply.
template <class Request>
struct MessageOf;
#define FERRY_TRAITS(number, request, reply, text) \
  template <>                                      \
  struct MessageOf<request> {                      \
    static constexpr Tag kTag = Tag::request;      \
    using Reply = reply;                           \
  };
FERRY_MESSAGES(FERRY_TRAITS)
#undef FERRY_TRAITS

}  // namespace ferry::rpc
