#include "farm/client/relay.h"

#include "farm/client/farm_client.h"
#include "rpc/transport/tcp.h"
#include "rpc/wire/relay_preamble.h"

namespace ferry::farm {

Result<std::unique_ptr<Transport>> open_relay(const RelayRoute& route) {
  FarmClient client(route.farm);
  FERRY_ASSIGN(const wire::RelayOffered offered, client.ask(wire::UseRelay{route.lease, route.slot}));
  // Only the tracker that schedules listens.
  Status failure;
  for (const TcpAddress& tracker : route.farm.trackers) {
    auto transport = connect_tcp(tracker.host, tracker.port);
    failure = transport.status();
    if (!transport.is_ok()) continue;
    FERRY_TRY(rpc::send_relay_preamble(*transport.value(), {offered.token, rpc::RelayEnd::client}));
    return transport;
  }
  return failure;
}

}  // namespace ferry::farm
