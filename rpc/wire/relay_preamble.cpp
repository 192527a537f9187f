#include "rpc/wire/relay_preamble.h"

#include <array>

namespace ferry::rpc {

Status send_relay_preamble(Transport& transport, const RelayTicket& ticket) {
  Preamble preamble;
  preamble.mode = PreambleMode::relay;
  preamble.relay = ticket;
  const auto bytes = encode_preamble(preamble);
  const std::array<ByteSpan, 1> pieces{bytes};
  return transport.send(pieces);
}

}  // namespace ferry::rpc
