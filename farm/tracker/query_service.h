// Answers what people ask of the farm, through whichever interface: passes each request on to what answers it.
#pragma once

#include <span>

#include "farm/tracker/admin_commands.h"
#include "farm/tracker/answer.h"
#include "farm/tracker/client_connections.h"
#include "farm/tracker/listings.h"
#include "farm/tracker/module_service.h"
#include "farm/tracker/past_listings.h"
#include "farm/tracker/relay_service.h"

namespace ferry::farm {

class QueryService {
 public:
  // All must outlive this object.
  QueryService(const Listings& listings, PastListings& past_listings, AdminCommands& commands,
               ClientConnections& clients, Peers& peers, ModuleService& modules, RelayService& relays)
      : listings_(listings),
        past_listings_(past_listings),
        commands_(commands),
        clients_(clients),
        peers_(peers),
        modules_(modules),
        relays_(relays) {}
  QueryService(const QueryService&) = delete;
  QueryService& operator=(const QueryService&) = delete;

  // Require that the tracker schedules. Say no to roles that may not ask this.
#define FERRY_ANSWER(owner, request, reply)                                                        \
  void answer(const Caller& caller, const wire::request& query, const Answer<wire::reply>& then) { \
    owner.answer(caller, query, then);                                                             \
  }
#define FERRY_ANSWER_NOW(tag, request, reply, name, directions) FERRY_ANSWER(listings_, request, reply)
#define FERRY_ANSWER_PAST(tag, request, reply, name, directions) FERRY_ANSWER(past_listings_, request, reply)
#define FERRY_ANSWER_COMMAND(tag, request, reply, name, directions) FERRY_ANSWER(commands_, request, reply)
  FERRY_FARM_LISTINGS(FERRY_ANSWER_NOW)
  FERRY_FARM_PAST_LISTINGS(FERRY_ANSWER_PAST)
  FERRY_FARM_COMMANDS(FERRY_ANSWER_COMMAND)
#undef FERRY_ANSWER_COMMAND
#undef FERRY_ANSWER_PAST
#undef FERRY_ANSWER_NOW
#undef FERRY_ANSWER

  // Decodes the query of a client's frame and sends the answer to the connection. Fails if the frame is none of the
  // protocol.
  Status answer_frame(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body);

 private:
  Status offer_relay(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body);

  const Listings& listings_;
  PastListings& past_listings_;
  AdminCommands& commands_;
  ClientConnections& clients_;
  Peers& peers_;
  ModuleService& modules_;
  RelayService& relays_;
};

}  // namespace ferry::farm
