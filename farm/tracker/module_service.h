// Answers requests about the modules that the farm keeps (farm/protocol/modules.h).
#pragma once

#include <span>

#include "farm/tracker/core.h"

namespace ferry::farm {

// Sends the answer to the client's connection, once the database has given it. Fails if the frame is none of the
// protocol. Requires that the connection is a client's.
Status answer_modules(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                      std::span<const std::uint8_t> body);

}  // namespace ferry::farm
