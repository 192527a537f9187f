// Which connections a relay's desk brings together, and which it closes.
#include "farm/relay/relay_desk.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <set>

#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::test {
namespace {

using farm::RelayDesk;
using rpc::RelayEnd;
using std::chrono::milliseconds;

const RelayDesk::TimePoint kStart{std::chrono::hours(5)};

bool is_closed(const Descriptor& peer) {
  pollfd entry{peer.number(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

// One end that arrives at a desk.
struct Visitor {
  SocketPair pair;
  int number = pair.server.number();

  auto arrive(RelayDesk& desk, std::uint64_t token, RelayEnd end, RelayDesk::TimePoint now = kStart) {
    return desk.arrive({token, end}, std::move(pair.server), now);
  }
  bool was_sent_away() const { return is_closed(pair.client); }
};

TEST_CASE("the ends of a token are brought together, whichever comes first") {
  for (const bool client_first : {true, false}) {
    RelayDesk desk;
    const std::uint64_t token = desk.open(1, kStart).value();
    Visitor client, board;
    Visitor& first = client_first ? client : board;
    Visitor& second = client_first ? board : client;
    const RelayEnd first_end = client_first ? RelayEnd::client : RelayEnd::board;
    const RelayEnd second_end = client_first ? RelayEnd::board : RelayEnd::client;
    CHECK_FALSE(first.arrive(desk, token, first_end));
    CHECK_FALSE(first.was_sent_away());
    const auto ends = second.arrive(desk, token, second_end);
    REQUIRE(ends);
    CHECK(ends->client.number() == client.number);
    CHECK(ends->board.number() == board.number);
    CHECK(desk.size() == 0);
  }
}

TEST_CASE("a token is valid once, and once for each end") {
  RelayDesk desk;
  const std::uint64_t token = desk.open(1, kStart).value();
  Visitor client, again, board, late;
  CHECK_FALSE(client.arrive(desk, token, RelayEnd::client));
  CHECK_FALSE(again.arrive(desk, token, RelayEnd::client));
  CHECK(again.was_sent_away());
  CHECK_FALSE(client.was_sent_away());
  CHECK(board.arrive(desk, token, RelayEnd::board)->client.number() == client.number);
  CHECK_FALSE(late.arrive(desk, token, RelayEnd::board));
  CHECK(late.was_sent_away());
}

TEST_CASE("a connection whose token nobody has drawn is closed") {
  RelayDesk desk;
  const std::uint64_t token = desk.open(1, kStart).value();
  for (const std::uint64_t other : {token + 1, token - 1, token ^ std::uint64_t{1} << 63, std::uint64_t{0}}) {
    Visitor stranger;
    CHECK_FALSE(stranger.arrive(desk, other, RelayEnd::client));
    CHECK(stranger.was_sent_away());
  }
  CHECK(desk.size() == 1);
}

TEST_CASE("a token expires, and with it the end that waits") {
  RelayDesk desk;
  const std::uint64_t token = desk.open(1, kStart).value();
  const std::uint64_t later = desk.open(2, kStart + milliseconds(1)).value();
  CHECK(desk.next_expiry() == kStart + RelayDesk::kValid);
  Visitor waiting, late, in_time;
  CHECK_FALSE(waiting.arrive(desk, token, RelayEnd::client));
  desk.expire(kStart + RelayDesk::kValid - milliseconds(1));
  CHECK_FALSE(waiting.was_sent_away());
  // Even before the desk has been told to look.
  CHECK_FALSE(late.arrive(desk, token, RelayEnd::board, kStart + RelayDesk::kValid));
  CHECK(late.was_sent_away());
  desk.expire(kStart + RelayDesk::kValid);
  CHECK(waiting.was_sent_away());
  CHECK(desk.next_expiry() == kStart + milliseconds(1) + RelayDesk::kValid);
  CHECK_FALSE(in_time.arrive(desk, later, RelayEnd::client, kStart + RelayDesk::kValid));
  CHECK_FALSE(in_time.was_sent_away());
  desk.expire(kStart + milliseconds(1) + RelayDesk::kValid);
  CHECK(in_time.was_sent_away());
  CHECK_FALSE(desk.next_expiry());
}

TEST_CASE("tokens differ, and have a limit in all and for each lease") {
  RelayDesk desk;
  std::set<std::uint64_t> tokens;
  for (std::size_t i = 0; i < RelayDesk::kMaxTokens; ++i) {
    const auto token = desk.open(i / RelayDesk::kMaxTokensOfLease, kStart);
    REQUIRE(token.is_ok());
    tokens.insert(token.value());
  }
  CHECK(tokens.size() == RelayDesk::kMaxTokens);
  CHECK(desk.open(~0ull, kStart).status().code() == ErrorCode::busy);
  // Those that have expired need no place.
  CHECK(desk.open(1, kStart + RelayDesk::kValid).is_ok());
  CHECK(desk.size() == 1);
  for (std::size_t i = 1; i < RelayDesk::kMaxTokensOfLease; ++i)
    CHECK(desk.open(1, kStart + RelayDesk::kValid).is_ok());
  CHECK(desk.open(1, kStart + RelayDesk::kValid).status().code() == ErrorCode::busy);
  CHECK(desk.open(2, kStart + RelayDesk::kValid).is_ok());
}

}  // namespace
}  // namespace ferry::test
