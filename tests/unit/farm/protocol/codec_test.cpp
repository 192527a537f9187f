// What decodes to what, and what is refused.
#include "farm/protocol/codec.h"

#include <doctest/doctest.h>

#include <string>

#include "rpc/wire/codec.h"
#include "tests/unit/farm/protocol/samples.h"

namespace ferry::farm::wire {
namespace {

TEST_CASE("every message decodes to what was encoded") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    const std::vector<std::uint8_t> bytes = encode(message);
    const Result<T> back = decode<T>(bytes, Strings::as_sent);
    REQUIRE_MESSAGE(back.is_ok(), back.status().message());
    CHECK(encode(back.value()) == bytes);
  });
}

TEST_CASE("every truncated length of every message is refused") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    const std::vector<std::uint8_t> bytes = encode(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      CAPTURE(length);
      // Copy exactly this many bytes, so that a sanitizer detects a read past the end.
      const std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      CHECK(decode<T>(cut).status().code() == ErrorCode::protocol_error);
    }
  });
}

TEST_CASE("a byte after the end of a message is refused") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    std::vector<std::uint8_t> bytes = encode(message);
    bytes.push_back(0);
    CHECK(decode<T>(bytes).status().code() == ErrorCode::protocol_error);
  });
}

TEST_CASE("a damaged byte is refused, or the message is another valid one") {
  for_each_message([]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    const std::vector<std::uint8_t> bytes = encode(message);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const unsigned damage : {0x01u, 0x02u, 0x10u, 0x80u, 0xffu}) {
        std::vector<std::uint8_t> damaged = bytes;
        damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ damage);
        const Result<T> back = decode<T>(damaged, Strings::as_sent);
        if (!back.is_ok()) {
          CHECK(back.status().code() == ErrorCode::protocol_error);
          continue;
        }
        CAPTURE(at);
        const std::vector<std::uint8_t> again = encode(back.value());
        const Result<T> same = decode<T>(again, Strings::as_sent);
        REQUIRE_MESSAGE(same.is_ok(), same.status().message());
        CHECK(encode(same.value()) == again);
      }
    }
  });
}

TEST_CASE("a string or list at its limit is accepted, and one element more is refused") {
  const auto accepts = [](const auto& message) {
    return decode<std::decay_t<decltype(message)>>(encode(message)).is_ok();
  };
  CHECK(accepts(Joined{1, std::string(kMaxName, 'x')}));
  CHECK_FALSE(accepts(Joined{1, std::string(kMaxName + 1, 'x')}));
  CHECK(accepts(Refused{std::string(kMaxText, 'x')}));
  CHECK_FALSE(accepts(Refused{std::string(kMaxText + 1, 'x')}));
  CHECK(accepts(ListDevices{std::string(kMaxSelector, 'x'), ""}));
  CHECK_FALSE(accepts(ListDevices{std::string(kMaxSelector + 1, 'x'), ""}));
  const auto with_slots = [](std::size_t count, std::size_t bytes) {
    return Submit{{1, std::vector<std::string>(count, std::string(bytes, 'x'))}};
  };
  CHECK(accepts(with_slots(kMaxSlots, kMaxSelector)));
  CHECK_FALSE(accepts(with_slots(kMaxSlots + 1, 1)));
  CHECK_FALSE(accepts(with_slots(1, kMaxSelector + 1)));
  const auto join = [](std::size_t features, std::size_t accelerators, std::size_t tags) {
    Join message;
    message.description.features.resize(features);
    message.description.accelerators.resize(accelerators);
    message.description.tags.resize(tags);
    return message;
  };
  CHECK(accepts(join(kMaxFeatures, kMaxBoardDevices, kMaxTags)));
  CHECK_FALSE(accepts(join(kMaxFeatures + 1, 0, 0)));
  CHECK_FALSE(accepts(join(0, kMaxBoardDevices + 1, 0)));
  CHECK_FALSE(accepts(join(0, 0, kMaxTags + 1)));
  CHECK(accepts(Granted{1, 1, std::vector<GrantedSlot>(kMaxSlots)}));
  CHECK_FALSE(accepts(Granted{1, 1, std::vector<GrantedSlot>(kMaxSlots + 1)}));
  CHECK(accepts(LeasePage{std::vector<LeaseListing>(kMaxPage), false}));
  CHECK_FALSE(accepts(LeasePage{std::vector<LeaseListing>(kMaxPage + 1), false}));
}

TEST_CASE("fields that a later version adds at the end of a struct are skipped") {
  // A lease_over whose key has another field of four bytes.
  std::vector<std::uint8_t> bytes = encode(LeaseOver{{9, 1025}});
  bytes[0] = static_cast<std::uint8_t>(bytes[0] + 4);
  bytes.insert(bytes.end(), 4, 0xaa);
  const auto message = decode<LeaseOver>(bytes);
  REQUIRE(message.is_ok());
  CHECK(message.value().key == lease::LeaseKey{9, 1025});
}

TEST_CASE("what a peer says of itself is made printable") {
  const auto message = decode<Hello>(encode(Hello{1, 1, "a\x1b[2J\nb"}));
  REQUIRE(message.is_ok());
  CHECK(message.value().client == R"(a\x1b[2J\nb)");
}

TEST_CASE("no tag is one of the protocol of sessions, and each has its name and its directions") {
#define FERRY_CHECK(number, request, reply, name, directions) \
  CHECK(std::string(rpc::tag_name(number)) == "unknown");     \
  CHECK(std::string(tag_name(number)) == name);               \
  CHECK(has_direction(number, Direction::kFromBoard) == (((directions) & kFromBoard) != 0));
  FERRY_FARM_REQUESTS(FERRY_CHECK)
#undef FERRY_CHECK
#define FERRY_CHECK(number, event, name, directions)      \
  CHECK(std::string(rpc::tag_name(number)) == "unknown"); \
  CHECK(std::string(tag_name(number)) == name);           \
  CHECK(has_direction(number, Direction::kToBoard) == (((directions) & kToBoard) != 0));
  FERRY_FARM_EVENTS(FERRY_CHECK)
#undef FERRY_CHECK
  CHECK(std::string(tag_name(1)) == "unknown");
  CHECK_FALSE(has_direction(1, Direction::kFromBoard));
}

}  // namespace
}  // namespace ferry::farm::wire
