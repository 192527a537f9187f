// Answers what people ask of the farm, through whichever interface. The answer is given once, on the loop, maybe
// before answer() returns.
#pragma once

#include <functional>

#include "farm/tracker/core.h"

namespace ferry::farm {

template <class Reply>
using Answer = std::function<void(Result<Reply>)>;

// Requires that the tracker schedules. Says no to roles that may not ask this.
#define FERRY_ANSWER(tag, request, reply, name, directions) \
  void answer(Core& core, const Caller& caller, const wire::request& query, const Answer<wire::reply>& then);
FERRY_FARM_QUERIES(FERRY_ANSWER)
#undef FERRY_ANSWER

// One board as listings show it; not_found if there is none. Requires the same.
Result<wire::DeviceListing> list_board(const Core& core, const std::string& name);

// Decodes the query of a client's frame and sends the answer to the connection. Fails if the frame is none of the
// protocol.
Status answer_frame(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                    std::span<const std::uint8_t> body);

}  // namespace ferry::farm
