#include "host/client/connect/connector.h"

namespace ferry::session {

void throw_explained(const Lease* lease, const Error& error) {
  const std::string why = lease != nullptr ? lease->why_ended() : "";
  const std::string said = error.what();
  if (why.empty() || said.starts_with(why)) throw;
  throw Error(ErrorCode::unavailable, why + " (" + said + ")");
}

}  // namespace ferry::session
