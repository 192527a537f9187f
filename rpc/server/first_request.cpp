#include "rpc/server/first_request.h"

#include "rpc/messages.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/version.h"

namespace ferry::server {
namespace {

bool begins_session(std::uint16_t tag) { return rpc::has_property(tag, rpc::kFirst); }

// Only open has fields; its versions stand for those of a request without any.
Status check_session_request(std::uint16_t tag, std::span<const std::uint8_t> body) {
  rpc::Open open;
  if (tag == static_cast<std::uint16_t>(rpc::Tag::Open)) {
    FERRY_ASSIGN(open, rpc::decode<rpc::Open>(body));
  }
  return rpc::negotiate_version(open.version_min, open.version_max).status();
}

}  // namespace

const FirstRequestRules kSessionRequests{"open or status", 4096, begins_session, check_session_request};

}  // namespace ferry::server
