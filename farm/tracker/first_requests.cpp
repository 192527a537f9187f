#include "farm/tracker/first_requests.h"

#include "base/format.h"
#include "farm/protocol/codec.h"

namespace ferry::farm {
namespace {

bool is_first(std::uint16_t tag) {
  return tag == static_cast<std::uint16_t>(wire::Tag::Join) || tag == static_cast<std::uint16_t>(wire::Tag::Hello);
}

template <class First>
Status check_versions(std::span<const std::uint8_t> body) {
  FERRY_ASSIGN(const First first, wire::decode<First>(body));
  if (first.version_min <= wire::kVersionMax && first.version_max >= wire::kVersionMin) return {};
  return {ErrorCode::version_mismatch,
          format("this tracker speaks version %u of the farm's protocol, you speak %u to %u", wire::kVersionMax,
                 first.version_min, first.version_max)};
}

Status check_first(std::uint16_t tag, std::span<const std::uint8_t> body) {
  return tag == static_cast<std::uint16_t>(wire::Tag::Join) ? check_versions<wire::Join>(body)
                                                            : check_versions<wire::Hello>(body);
}

}  // namespace

const server::FirstRequestRules kFarmRequests{"join or hello", wire::kMaxFirstBody, is_first, check_first};

}  // namespace ferry::farm
