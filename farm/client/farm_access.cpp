#include "farm/client/farm_access.h"

namespace ferry::farm {

Result<std::vector<TcpAddress>> parse_trackers(std::string_view text) {
  std::vector<TcpAddress> trackers;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = text.find(',');
    is_last = comma == std::string_view::npos;
    FERRY_ASSIGN(TcpAddress tracker, parse_tcp_address(text.substr(0, comma), kTrackerPort));
    if (trackers.size() == kMaxTrackers) {
      return Status(ErrorCode::invalid_argument,
                    "expected at most " + std::to_string(kMaxTrackers) + " trackers, got more");
    }
    trackers.push_back(std::move(tracker));
    if (!is_last) text.remove_prefix(comma + 1);
  }
  return trackers;
}

std::string to_text(const std::vector<TcpAddress>& trackers) {
  std::string text;
  for (const TcpAddress& tracker : trackers) text += (text.empty() ? "" : ",") + ferry::to_text(tracker);
  return text;
}

}  // namespace ferry::farm
