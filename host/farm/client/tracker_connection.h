// Asks a farm's trackers what people want to know and to change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/farm/client/tracker_link.h"

namespace ferry::farm {

// Not thread-safe. A connection on which nothing is asked for 11 s ends; the next question opens another one.
class TrackerConnection {
 public:
  explicit TrackerConnection(FarmAccess farm) : farm_(std::move(farm)) {}

  // Sends one of the queries of rpc/farm/queries.h and waits for the answer. If a tracker cannot be reached, or stands
  // by, the next one is asked; the message then names each.
  template <class Query>
  Result<typename wire::MessageOf<Query>::Reply> ask(const Query& query) {
    FERRY_ASSIGN(const std::vector<std::uint8_t> body,
                 ask(static_cast<std::uint16_t>(wire::MessageOf<Query>::kTag), wire::encode(query)));
    return wire::decode<typename wire::MessageOf<Query>::Reply>(body);
  }

  const FarmAccess& farm() const { return farm_; }
  // In whose name the client speaks; empty before the first answer.
  const std::string& holder() const { return holder_; }

 private:
  Result<std::vector<std::uint8_t>> ask(std::uint16_t tag, const std::vector<std::uint8_t>& query);
  Result<std::vector<std::uint8_t>> ask_this(std::uint16_t tag, const std::vector<std::uint8_t>& query);

  FarmAccess farm_;
  std::unique_ptr<TrackerLink> link_;
  std::size_t next_ = 0;  // of the trackers
  std::uint64_t last_request_ = 1;
  std::string holder_;
};

}  // namespace ferry::farm
