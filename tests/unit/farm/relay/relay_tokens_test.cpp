// Which connections the tokens of relays bring together, and which are closed.
#include "farm/relay/relay_tokens.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <set>

#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::test {
namespace {

using farm::RelayTokens;
using rpc::RelayEnd;
using std::chrono::milliseconds;

const RelayTokens::TimePoint kStart{std::chrono::hours(5)};

bool is_closed(const Descriptor& peer) {
  pollfd entry{peer.number(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

// One end that arrives.
struct Visitor {
  SocketPair pair;
  int number = pair.server.number();

  auto arrive(RelayTokens& relay_tokens, std::uint64_t token, RelayEnd end, RelayTokens::TimePoint now = kStart) {
    return relay_tokens.arrive({token, end}, std::move(pair.server), now);
  }
  bool was_sent_away() const { return is_closed(pair.client); }
};

TEST_CASE("the ends of a token are brought together, whichever comes first") {
  for (const bool client_first : {true, false}) {
    RelayTokens relay_tokens;
    const std::uint64_t token = relay_tokens.open(1, kStart).value();
    Visitor client, board;
    Visitor& first = client_first ? client : board;
    Visitor& second = client_first ? board : client;
    const RelayEnd first_end = client_first ? RelayEnd::client : RelayEnd::board;
    const RelayEnd second_end = client_first ? RelayEnd::board : RelayEnd::client;
    CHECK_FALSE(first.arrive(relay_tokens, token, first_end));
    CHECK_FALSE(first.was_sent_away());
    const auto ends = second.arrive(relay_tokens, token, second_end);
    REQUIRE(ends);
    CHECK(ends->client.number() == client.number);
    CHECK(ends->board.number() == board.number);
    CHECK(relay_tokens.size() == 0);
  }
}

TEST_CASE("a token is valid once, and once for each end") {
  RelayTokens relay_tokens;
  const std::uint64_t token = relay_tokens.open(1, kStart).value();
  Visitor client, again, board, late;
  CHECK_FALSE(client.arrive(relay_tokens, token, RelayEnd::client));
  CHECK_FALSE(again.arrive(relay_tokens, token, RelayEnd::client));
  CHECK(again.was_sent_away());
  CHECK_FALSE(client.was_sent_away());
  CHECK(board.arrive(relay_tokens, token, RelayEnd::board)->client.number() == client.number);
  CHECK_FALSE(late.arrive(relay_tokens, token, RelayEnd::board));
  CHECK(late.was_sent_away());
}

TEST_CASE("a connection whose token nobody has drawn is closed") {
  RelayTokens relay_tokens;
  const std::uint64_t token = relay_tokens.open(1, kStart).value();
  for (const std::uint64_t other : {token + 1, token - 1, token ^ std::uint64_t{1} << 63, std::uint64_t{0}}) {
    Visitor stranger;
    CHECK_FALSE(stranger.arrive(relay_tokens, other, RelayEnd::client));
    CHECK(stranger.was_sent_away());
  }
  CHECK(relay_tokens.size() == 1);
}

TEST_CASE("a token expires, and with it the end that waits") {
  RelayTokens relay_tokens;
  const std::uint64_t token = relay_tokens.open(1, kStart).value();
  const std::uint64_t later = relay_tokens.open(2, kStart + milliseconds(1)).value();
  Visitor waiting, late, in_time;
  CHECK_FALSE(waiting.arrive(relay_tokens, token, RelayEnd::client));
  relay_tokens.expire(kStart + RelayTokens::kValid - milliseconds(1));
  CHECK_FALSE(waiting.was_sent_away());
  // Even before expire() was called.
  CHECK_FALSE(late.arrive(relay_tokens, token, RelayEnd::board, kStart + RelayTokens::kValid));
  CHECK(late.was_sent_away());
  relay_tokens.expire(kStart + RelayTokens::kValid);
  CHECK(waiting.was_sent_away());
  CHECK_FALSE(in_time.arrive(relay_tokens, later, RelayEnd::client, kStart + RelayTokens::kValid));
  CHECK_FALSE(in_time.was_sent_away());
  relay_tokens.expire(kStart + milliseconds(1) + RelayTokens::kValid);
  CHECK(in_time.was_sent_away());
  CHECK(relay_tokens.size() == 0);
}

TEST_CASE("tokens differ, and have a limit in all and for each lease") {
  RelayTokens relay_tokens;
  std::set<std::uint64_t> tokens;
  for (std::size_t i = 0; i < RelayTokens::kMaxTokens; ++i) {
    const auto token = relay_tokens.open(i / RelayTokens::kMaxTokensOfLease, kStart);
    REQUIRE(token.is_ok());
    tokens.insert(token.value());
  }
  CHECK(relay_tokens.size() == RelayTokens::kMaxTokens);
  CHECK(relay_tokens.open(~0ull, kStart).status().code() == ErrorCode::busy);
  // Those that have expired need no place.
  CHECK(relay_tokens.open(1, kStart + RelayTokens::kValid).is_ok());
  CHECK(relay_tokens.size() == 1);
  for (std::size_t i = 1; i < RelayTokens::kMaxTokensOfLease; ++i)
    CHECK(relay_tokens.open(1, kStart + RelayTokens::kValid).is_ok());
  CHECK(relay_tokens.open(1, kStart + RelayTokens::kValid).status().code() == ErrorCode::busy);
  CHECK(relay_tokens.open(2, kStart + RelayTokens::kValid).is_ok());
}

}  // namespace
}  // namespace ferry::test
