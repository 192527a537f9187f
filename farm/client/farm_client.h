// Asks a farm's trackers what people want to know and to change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "farm/client/tracker_connection.h"

namespace ferry::farm {

// Not thread-safe. A connection on which nothing is asked for 11 s ends; the next question opens another one.
class FarmClient {
 public:
  explicit FarmClient(FarmAccess farm) : farm_(std::move(farm)) {}

  // Sends one of the queries of farm/protocol/queries.h and waits for the answer. If a tracker cannot be reached, or
  // stands by, the next one is asked; the message then names each.
  template <class Query>
  Result<typename wire::MessageOf<Query>::Reply> ask(const Query& query) {
    FERRY_ASSIGN(const std::vector<std::uint8_t> body,
                 ask(static_cast<std::uint16_t>(wire::MessageOf<Query>::kTag), wire::encode(query)));
    return wire::decode<typename wire::MessageOf<Query>::Reply>(body);
  }

  // Sends query_of(0), query_of(1), ... of one kind, some of them ahead of the answers to those before, and passes each
  // answer on to take(i, answer), in order. All of them go over one connection. Ends with the first failure; what
  // became of the queries after the last answer is not known then.
  template <class Query, class QueryOf, class Take>
  Status ask_each(std::size_t count, const QueryOf& query_of, const Take& take) {
    using Reply = typename wire::MessageOf<Query>::Reply;
    return ask_each(
        static_cast<std::uint16_t>(wire::MessageOf<Query>::kTag), count,
        [&](std::size_t i) { return wire::encode(query_of(i)); },
        [&](std::size_t i, std::span<const std::uint8_t> body) -> Status {
          FERRY_ASSIGN(Reply reply, wire::decode<Reply>(body));
          return take(i, std::move(reply));
        });
  }

  const FarmAccess& farm() const { return farm_; }
  // In whose name the client speaks; empty before the first answer.
  const std::string& holder() const { return holder_; }

 private:
  Result<std::vector<std::uint8_t>> ask(std::uint16_t tag, const std::vector<std::uint8_t>& query);
  using QueryOf = std::function<std::vector<std::uint8_t>(std::size_t)>;
  using Take = std::function<Status(std::size_t, std::span<const std::uint8_t>)>;
  Status ask_each(std::uint16_t tag, std::size_t count, const QueryOf& query_of, const Take& take);
  // The same over the open connection. Increases `answered` with each answer.
  Status ask_pipelined(std::uint16_t tag, std::size_t count, const QueryOf& query_of, const Take& take,
                       std::size_t& answered);
  // Opens a connection to the next tracker, unless there is one.
  Status open_connection();
  Status send_query(std::uint16_t tag, std::uint64_t request, const std::vector<std::uint8_t>& query);
  // Waits for the answer to this request, which is the next one.
  Result<rpc::Frame> receive_answer(std::uint64_t request);

  FarmAccess farm_;
  std::unique_ptr<TrackerConnection> connection_;
  std::size_t next_ = 0;  // the next tracker's number
  std::uint64_t last_request_ = 1;
  std::string holder_;
};

}  // namespace ferry::farm
