#include "farm/client/farm_access.h"

namespace ferry::farm {

Result<std::vector<TcpAddress>> parse_trackers(std::string_view text) {
  FERRY_ASSIGN(std::vector<TcpAddress> trackers, parse_tcp_addresses(text, kTrackerPort));
  if (trackers.size() > kMaxTrackers) {
    return Status(ErrorCode::invalid_argument,
                  "expected at most " + std::to_string(kMaxTrackers) + " trackers, got more");
  }
  return trackers;
}

std::string to_text(const std::vector<TcpAddress>& trackers) {
  std::string text;
  for (const TcpAddress& tracker : trackers) text += (text.empty() ? "" : ",") + ferry::to_text(tracker);
  return text;
}

}  // namespace ferry::farm
