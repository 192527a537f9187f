#include "farm/protocol/codec.h"

#include "farm/protocol/fields.h"

namespace ferry::lease {

template <class Archive>
void serialize(Archive& archive, LeaseKey& key) {
  archive(key.lease, key.epoch);
}

}  // namespace ferry::lease

namespace ferry::farm::wire {

template <class Archive>
void serialize(Archive& archive, Join& message) {
  archive(message.version_min, message.version_max, name(message.name), message.boot_id, message.boot_ms,
          message.ceiling, nested(message.serving), text(message.address), nested(message.description));
}

template <class Archive>
void serialize(Archive& archive, Joined& message) {
  archive(message.version, name(message.name));
}

template <class Archive>
void serialize(Archive& archive, Heartbeat& message) {
  archive(message.boot_ms, message.millidegrees, message.is_throttled, message.load_permille, message.probe);
}

template <class Archive>
void serialize(Archive& archive, Acknowledged& message) {
  archive(nested(message.key), message.extension);
}

template <class Archive>
void serialize(Archive& archive, LeaseOver& message) {
  archive(nested(message.key));
}

template <class Archive>
void serialize(Archive& archive, Announce& message) {
  archive(nested(message.key), message.extension, message.end_ms, bytes(message.psk));
}

template <class Archive>
void serialize(Archive& archive, LeaseHolder& message) {
  archive(nested(message.key), message.holder);
}

template <class Archive>
void serialize(Archive& archive, Withdraw& message) {
  archive(nested(message.key));
}

template <class Archive>
void serialize(Archive& archive, Probe& message) {
  archive(message.probe);
}

template <class Archive>
void serialize(Archive& archive, Refused& message) {
  archive(text(message.reason));
}

template <class Archive>
void serialize(Archive& archive, Hello& message) {
  archive(message.version_min, message.version_max, text(message.client));
}

template <class Archive>
void serialize(Archive& archive, Welcome& message) {
  archive(message.version, text(message.holder));
}

template <class Archive>
void serialize(Archive& archive, LeaseRequest& request) {
  archive(request.id, selectors(request.slots), request.priority, request.length_ms, request.wait_ms,
          enum_field(request.kind, is_valid_lease_kind), text(request.job));
}

template <class Archive>
void serialize(Archive& archive, Submit& message) {
  archive(nested(message.request));
}

template <class Archive>
void serialize(Archive& archive, Attach& message) {
  archive(nested(message.request), message.is_granted);
}

template <class Archive>
void serialize(Archive& archive, Release& message) {
  archive(message.lease);
}

template <class Archive>
void serialize(Archive& archive, Extend& message) {
  archive(message.lease, message.length_ms);
}

template <class Archive>
void serialize(Archive& archive, Waiting& message) {
  archive(message.lease, message.place, message.estimate_ms, text(message.why));
}

template <class Archive>
void serialize(Archive& archive, GrantedSlot& slot) {
  archive(name(slot.board), text(slot.address), slot.epoch, bytes(slot.psk));
}

template <class Archive>
void serialize(Archive& archive, Granted& message) {
  archive(message.lease, message.remaining_ms, limited_nested(message.slots, kMaxSlots));
}

template <class Archive>
void serialize(Archive& archive, Extension& message) {
  archive(message.lease, message.remaining_ms, text(message.refusal));
}

template <class Archive>
void serialize(Archive& archive, Warning& message) {
  archive(message.lease, message.remaining_ms);
}

template <class Archive>
void serialize(Archive& archive, Ended& message) {
  archive(message.lease, name(message.reason), name(message.failure_class), text(message.text));
}

template <class Archive>
void serialize(Archive& archive, Rekey& message) {
  archive(bytes(message.psk));
}

template <class Archive>
void serialize(Archive& archive, SessionEnded& message) {
  archive(nested(message.key), text(message.client), message.length_ms, limited(message.failure, kMaxReport));
}

template <class Archive>
void serialize(Archive& archive, OpenRelay& message) {
  archive(message.token);
}

template <class Archive>
void serialize(Archive& archive, UseRelay& message) {
  archive(message.lease, message.slot);
}

template <class Archive>
void serialize(Archive& archive, RelayOffered& message) {
  archive(message.token);
}

#define FERRY_INSTANTIATE_REQUEST(tag, request, reply, name, directions) \
  FERRY_INSTANTIATE(request)                                             \
  FERRY_INSTANTIATE(reply)
FERRY_FARM_OPENINGS(FERRY_INSTANTIATE_REQUEST)
FERRY_FARM_LEASE_REQUESTS(FERRY_INSTANTIATE_REQUEST)
#undef FERRY_INSTANTIATE_REQUEST
#define FERRY_INSTANTIATE_EVENT(tag, event, name, directions) FERRY_INSTANTIATE(event)
FERRY_FARM_EVENTS(FERRY_INSTANTIATE_EVENT)
#undef FERRY_INSTANTIATE_EVENT

const char* tag_name(std::uint16_t tag) {
  switch (static_cast<Tag>(tag)) {
#define FERRY_NAME(number, request, reply, name, directions) \
  case Tag::request: return name;
    FERRY_FARM_REQUESTS(FERRY_NAME)
#undef FERRY_NAME
#define FERRY_NAME(number, event, name, directions) \
  case Tag::event: return name;
    FERRY_FARM_EVENTS(FERRY_NAME)
#undef FERRY_NAME
  }
  return "unknown";
}

bool has_direction(std::uint16_t tag, Direction direction) {
  switch (static_cast<Tag>(tag)) {
#define FERRY_DIRECTION(number, request, reply, name, directions) \
  case Tag::request: return (unsigned{directions} & direction) != 0;
    FERRY_FARM_REQUESTS(FERRY_DIRECTION)
#undef FERRY_DIRECTION
#define FERRY_DIRECTION(number, event, name, directions) \
  case Tag::event: return (unsigned{directions} & direction) != 0;
    FERRY_FARM_EVENTS(FERRY_DIRECTION)
#undef FERRY_DIRECTION
  }
  return false;
}

}  // namespace ferry::farm::wire
