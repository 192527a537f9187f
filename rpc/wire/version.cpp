#include "rpc/wire/version.h"

#include <algorithm>

#include "base/format.h"
#include "rpc/messages.h"

namespace ferry::rpc {

Result<std::uint32_t> negotiate_version(std::uint32_t version_min, std::uint32_t version_max) {
  const std::uint32_t newest = std::min(version_max, kProtocolVersionMax);
  if (newest >= std::max(version_min, kProtocolVersionMin)) return newest;
  return Status(ErrorCode::version_mismatch,
                format("this server speaks protocol versions %u to %u, the client %u to %u", kProtocolVersionMin,
                       kProtocolVersionMax, version_min, version_max));
}

}  // namespace ferry::rpc
