#include "farm/protocol/codec.h"
#include "farm/protocol/fields.h"

namespace ferry::farm::wire {
namespace {

bool is_valid_order(std::uint8_t tag) { return tag >= 1 && tag <= 3; }
bool is_valid_credential_kind(std::uint8_t tag) { return tag >= 1 && tag <= 4; }
bool is_valid_role(std::uint8_t tag) { return tag >= 1 && tag <= 3; }

}  // namespace

template <class Archive>
void serialize(Archive& archive, ListDevices& message) {
  archive(limited(message.selector, kMaxSelector), name(message.after));
}

template <class Archive>
void serialize(Archive& archive, DeviceListing& listing) {
  archive(name(listing.name), nested(listing.description), name(listing.state), listing.is_connected, listing.lease,
          text(listing.holder), listing.millidegrees, listing.is_throttled, listing.load_permille,
          name(listing.transport), limited(listing.neighbours, kMaxNeighbours, kMaxName), name(listing.blocked_by));
}

template <class Archive>
void serialize(Archive& archive, DevicePage& message) {
  archive(limited_nested(message.devices, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListQueue& message) {
  archive(message.after);
}

template <class Archive>
void serialize(Archive& archive, QueueListing& listing) {
  archive(listing.request, text(listing.holder), selectors(listing.slots), listing.priority, listing.waited_ms,
          listing.place, listing.estimate_ms, name(listing.blocked_by), text(listing.job));
}

template <class Archive>
void serialize(Archive& archive, QueuePage& message) {
  archive(limited_nested(message.requests, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListLeases& message) {
  archive(message.after);
}

template <class Archive>
void serialize(Archive& archive, LeaseListing& listing) {
  archive(listing.lease, text(listing.holder), names(listing.boards), enum_field(listing.kind, is_valid_lease_kind),
          listing.remaining_ms, text(listing.job));
}

template <class Archive>
void serialize(Archive& archive, LeasePage& message) {
  archive(limited_nested(message.leases, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListHistory& message) {
  archive(name(message.board), text(message.holder), message.before_ended_ms, message.before_lease);
}

template <class Archive>
void serialize(Archive& archive, HistoryListing& listing) {
  archive(listing.lease, text(listing.holder), selectors(listing.slots), names(listing.boards), listing.priority,
          enum_field(listing.kind, is_valid_lease_kind), listing.submitted_ms, listing.start_ms, listing.ended_ms,
          name(listing.reason), name(listing.failure_class), text(listing.text), text(listing.job));
}

template <class Archive>
void serialize(Archive& archive, HistoryPage& message) {
  archive(limited_nested(message.leases, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListAudit& message) {
  archive(name(message.board), message.before);
}

template <class Archive>
void serialize(Archive& archive, AuditListing& listing) {
  archive(listing.number, listing.at_ms, text(listing.actor), name(listing.action), name(listing.board),
          text(listing.text));
}

template <class Archive>
void serialize(Archive& archive, AuditPage& message) {
  archive(limited_nested(message.entries, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListHealth& message) {
  archive(name(message.board), message.before);
}

template <class Archive>
void serialize(Archive& archive, HealthListing& listing) {
  archive(listing.number, listing.at_ms, name(listing.job), listing.picoseconds, listing.baseline_picoseconds,
          name(listing.verdict), listing.millidegrees, text(listing.text));
}

template <class Archive>
void serialize(Archive& archive, HealthPage& message) {
  archive(limited_nested(message.checks, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListSessions& message) {
  archive(name(message.board), message.before);
}

template <class Archive>
void serialize(Archive& archive, SessionListing& listing) {
  archive(listing.number, listing.ended_ms, listing.length_ms, listing.lease, text(listing.holder),
          text(listing.client), limited(listing.failure, kMaxReport));
}

template <class Archive>
void serialize(Archive& archive, SessionPage& message) {
  archive(limited_nested(message.sessions, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListCredentials& message) {
  archive(message.after);
}

template <class Archive>
void serialize(Archive& archive, CredentialListing& listing) {
  archive(enum_field(listing.kind, is_valid_credential_kind), text(listing.name),
          enum_field(listing.role, is_valid_role), listing.revoked_ms, listing.expires_ms);
}

template <class Archive>
void serialize(Archive& archive, CredentialPage& message) {
  archive(limited_nested(message.credentials, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, OrderBoard& message) {
  archive(name(message.board), enum_field(message.order, is_valid_order));
}

template <class Archive>
void serialize(Archive& archive, EndLease& message) {
  archive(message.lease);
}

template <class Archive>
void serialize(Archive& archive, EnrolBoard& message) {
  archive(name(message.name), limited_nested(message.tags, kMaxTags), name(message.machine), message.shares_machine);
}

template <class Archive>
void serialize(Archive& archive, AddClient& message) {
  archive(text(message.holder), enum_field(message.role, is_valid_role));
}

template <class Archive>
void serialize(Archive& archive, KeyMade& message) {
  archive(bytes(message.psk));
}

template <class Archive>
void serialize(Archive& archive, AddToken& message) {
  archive(text(message.holder), enum_field(message.role, is_valid_role), message.lasts_ms);
}

template <class Archive>
void serialize(Archive& archive, TokenMade& message) {
  archive(name(message.token));
}

template <class Archive>
void serialize(Archive& archive, RevokeCredential& message) {
  archive(enum_field(message.kind, is_valid_credential_kind), text(message.name));
}

#define FERRY_INSTANTIATE_REQUEST(tag, request, reply, name, directions) FERRY_INSTANTIATE(request)
FERRY_FARM_QUERIES(FERRY_INSTANTIATE_REQUEST)
#undef FERRY_INSTANTIATE_REQUEST
FERRY_INSTANTIATE(DevicePage)
FERRY_INSTANTIATE(QueuePage)
FERRY_INSTANTIATE(LeasePage)
FERRY_INSTANTIATE(HistoryPage)
FERRY_INSTANTIATE(AuditPage)
FERRY_INSTANTIATE(HealthPage)
FERRY_INSTANTIATE(SessionPage)
FERRY_INSTANTIATE(CredentialPage)
FERRY_INSTANTIATE(Done)
FERRY_INSTANTIATE(KeyMade)
FERRY_INSTANTIATE(TokenMade)

}  // namespace ferry::farm::wire
