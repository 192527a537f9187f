// The farm's answers as JSON documents. Listings come in pages, each of which is asked for with the place where it
// begins.
#pragma once

#include <string>

#include "farm/json/shown_fields.h"
#include "farm/protocol/codec.h"

namespace ferry::farm {

// The elements of a page.
inline const auto& elements_of(const wire::DevicePage& page) { return page.devices; }
inline const auto& elements_of(const wire::QueuePage& page) { return page.requests; }
inline const auto& elements_of(const wire::LeasePage& page) { return page.leases; }
inline const auto& elements_of(const wire::HistoryPage& page) { return page.leases; }
inline const auto& elements_of(const wire::AuditPage& page) { return page.entries; }
inline const auto& elements_of(const wire::HealthPage& page) { return page.checks; }
inline const auto& elements_of(const wire::SessionPage& page) { return page.sessions; }
inline const auto& elements_of(const wire::CredentialPage& page) { return page.credentials; }

// Lets the query begin behind this element, the last one of a page.
inline void begin_behind(wire::ListDevices& query, const wire::DeviceListing& last) { query.after = last.name; }
inline void begin_behind(wire::ListQueue& query, const wire::QueueListing& last) { query.after = last.request; }
inline void begin_behind(wire::ListLeases& query, const wire::LeaseListing& last) { query.after = last.lease; }
inline void begin_behind(wire::ListHistory& query, const wire::HistoryListing& last) {
  query.before_ended_ms = last.ended_ms;
  query.before_lease = last.lease;
}
inline void begin_behind(wire::ListAudit& query, const wire::AuditListing& last) { query.before = last.number; }
inline void begin_behind(wire::ListHealth& query, const wire::HealthListing& last) { query.before = last.number; }
inline void begin_behind(wire::ListSessions& query, const wire::SessionListing& last) { query.before = last.number; }

// Returns the query of the next page; nothing after the last one.
template <class Query, class Page>
std::optional<Query> next_page(Query query, const Page& page) {
  const auto& elements = elements_of(page);
  if (!page.has_more || elements.empty()) return std::nullopt;
  if constexpr (std::same_as<Query, wire::ListCredentials>) {
    query.after += static_cast<std::uint32_t>(elements.size());
  } else {
    begin_behind(query, elements.back());
  }
  return query;
}

// "ferry.farm.queue/1" for list_queue.
template <class Query>
std::string schema_of() {
  const std::string_view name = wire::tag_name(static_cast<std::uint16_t>(wire::MessageOf<Query>::kTag));
  return "ferry.farm." + std::string(name.substr(std::string_view("list_").size())) + "/1";
}
// "requests" for list_queue: the name of the list in its page.
template <class Query>
std::string list_name() {
  const typename wire::MessageOf<Query>::Reply page;
  return shown_fields(page).front().name;
}

// The schema of a record that is a document of its own; null where it has none.
template <class Record>
inline constexpr const char* kSchema = nullptr;
template <>
inline constexpr const char* kSchema<wire::FarmSummary> = "ferry.farm.status/1";
template <>
inline constexpr const char* kSchema<wire::DeviceListing> = "ferry.farm.device/1";

template <HasFields T>
text::Json document_of(const T& record) {
  text::Json json = text::Json::object();
  if constexpr (kSchema<T> != nullptr) json["schema"] = kSchema<T>;
  json.update(to_json(record));
  return json;
}

}  // namespace ferry::farm
