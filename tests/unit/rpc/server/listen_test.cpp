// Tests on which addresses and ports a server listens.
#include "rpc/server/listen.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

std::uint16_t port_of(const Descriptor& listener) {
  const std::string name = server::own_name(listener.number());
  return static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
}

TEST_CASE("without keys only loopback addresses are served") {
  CHECK(server::listen_at("127.0.0.1", 0, 0, false).is_ok());
  CHECK(server::listen_at("127.1.2.3", 0, 0, false).is_ok());
  const Status refused = server::listen_at("0.0.0.0", 0, 0, false).status();
  CHECK(refused.code() == ErrorCode::invalid_argument);
  CHECK(refused.message().find("expected a loopback address, got 0.0.0.0") != std::string::npos);
}

TEST_CASE("the first free port of the range is taken, and a range without one is named") {
  const auto first = server::listen_at("127.0.0.1", 0, 0, true);
  REQUIRE_MESSAGE(first.is_ok(), first.status().message());
  const std::uint16_t taken = port_of(first.value());
  const Status full = server::listen_at("127.0.0.1", taken, taken, true).status();
  CHECK(full.code() == ErrorCode::unavailable);
  CHECK(full.message().find("cannot listen on port " + std::to_string(taken)) != std::string::npos);
  const auto next = server::listen_at("127.0.0.1", taken, static_cast<std::uint16_t>(taken + 50), true);
  REQUIRE_MESSAGE(next.is_ok(), next.status().message());
  CHECK(port_of(next.value()) > taken);
}

TEST_CASE("names are not resolved, and the message says what is expected") {
  const Status refused = server::listen_at("board.example", 0, 0, true).status();
  CHECK(refused.code() == ErrorCode::invalid_argument);
  CHECK(refused.message().find("expected a numeric address") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
