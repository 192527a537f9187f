// Converts between the structs of the farm's protocol and those of its scheduler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "farm/core/lease/actions.h"
#include "farm/core/lease/events.h"
#include "farm/protocol/messages.h"

namespace ferry::farm {

// Cuts a text to the limit of a field, between two characters of UTF-8.
std::string fit(std::string_view text, std::size_t most);

// The short name of a board's model as its firmware states it: "rpi4" for "Raspberry Pi 4 Model B Rev 1.4", otherwise
// the words in lower case, joined by dashes.
std::string model_name(std::string_view firmware_name);

BoardDescription from_wire(const wire::Description& description);
// Cut to the limits of the protocol. The version of the board's server is not part of the scheduler's description.
wire::Description to_wire(const BoardDescription& description, const std::string& server_version);

// Fails with invalid_argument that names the selector or the number that is not valid.
Result<Request> from_wire(const wire::LeaseRequest& request, const std::string& holder);

inline LeaseKind from_wire(wire::LeaseKind kind) {
  return kind == wire::LeaseKind::reserved ? LeaseKind::reserved : LeaseKind::attached;
}
inline wire::LeaseKind to_wire(LeaseKind kind) {
  return kind == LeaseKind::reserved ? wire::LeaseKind::reserved : wire::LeaseKind::attached;
}

inline std::uint64_t to_wire(Duration duration) {
  return duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count());
}
inline std::uint64_t to_wire(Time time) { return to_wire(time.time_since_epoch()); }

std::optional<std::uint64_t> to_wire(const std::optional<Duration>& duration);
std::vector<std::string> slot_texts(const Request& request);

}  // namespace ferry::farm
