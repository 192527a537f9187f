#include "farm/protocol/codec.h"

#include "base/encode_fields.h"
#include "base/field_archive.h"

namespace ferry::farm::wire {

template <class T>
std::vector<std::uint8_t> encode(const T& message) {
  return encode_fields(message);
}

template <class T>
Result<T> decode(std::span<const std::uint8_t> bytes, Strings strings) {
  return decode_fields<T>(bytes, strings);
}

// Instantiates the codec of a message, which may be the answer to several requests: what is instantiated explicitly
// must be different each time.
template <unsigned kTag, class T>
struct Instance {
  static constexpr auto kEncode = encode<T>;
  static constexpr auto kDecode = decode<T>;
};
#define FERRY_INSTANTIATE(tag, request, reply, name, directions) \
  template struct Instance<tag, request>;                        \
  template struct Instance<tag, reply>;
FERRY_FARM_REQUESTS(FERRY_INSTANTIATE)
#undef FERRY_INSTANTIATE
#define FERRY_INSTANTIATE(tag, event, name, directions) template struct Instance<tag, event>;
FERRY_FARM_EVENTS(FERRY_INSTANTIATE)
#undef FERRY_INSTANTIATE

const char* tag_name(std::uint16_t tag) {
  switch (static_cast<Tag>(tag)) {
#define FERRY_NAME(number, request, reply, name, directions) \
  case Tag::request: return name;
    FERRY_FARM_REQUESTS(FERRY_NAME)
#undef FERRY_NAME
#define FERRY_NAME(number, event, name, directions) \
  case Tag::event: return name;
    FERRY_FARM_EVENTS(FERRY_NAME)
#undef FERRY_NAME
  }
  return "unknown";
}

bool has_direction(std::uint16_t tag, Direction direction) {
  switch (static_cast<Tag>(tag)) {
#define FERRY_DIRECTION(number, request, reply, name, directions) \
  case Tag::request: return (unsigned{directions} & direction) != 0;
    FERRY_FARM_REQUESTS(FERRY_DIRECTION)
#undef FERRY_DIRECTION
#define FERRY_DIRECTION(number, event, name, directions) \
  case Tag::event: return (unsigned{directions} & direction) != 0;
    FERRY_FARM_EVENTS(FERRY_DIRECTION)
#undef FERRY_DIRECTION
  }
  return false;
}

}  // namespace ferry::farm::wire
