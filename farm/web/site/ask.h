// Asks the farm within the limits of its protocol, so that both interfaces pass on the same.
#pragma once

#include <concepts>

#include "farm/api/farm.h"
#include "farm/protocol/codec.h"

namespace ferry::farm::http {

// Fails with invalid_argument if a name or text is too long. Texts that the farm keeps become printable.
template <class Query>
Result<typename wire::MessageOf<Query>::Reply> ask_within_limits(Farm& farm, const Caller& caller, const Query& query) {
  constexpr bool kIsKept = std::same_as<Query, wire::EnrolBoard> || std::same_as<Query, wire::AddClient> ||
                           std::same_as<Query, wire::AddToken>;
  const auto checked = wire::decode<Query>(wire::encode(query), kIsKept ? Strings::printable : Strings::as_sent);
  if (!checked.is_ok()) {
    return Status(ErrorCode::invalid_argument,
                  "expected names of at most 64 bytes, texts of at most 256 and selectors of at most 1024, got more");
  }
  return farm.ask(caller, checked.value());
}

}  // namespace ferry::farm::http
