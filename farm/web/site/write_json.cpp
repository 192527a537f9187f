#include <nlohmann/json.hpp>

#include "farm/protocol/lease_id.h"
#include "farm/web/site/json.h"
#include "farm/web/site/json_names.h"

namespace ferry::farm::http {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string text_of(const OrderedJson& json) {
  // Names and texts of boards may be anything; what is not UTF-8 becomes replacement characters.
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

template <class T>
OrderedJson optional_json(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

const char* name_of(wire::LeaseKind kind) { return kind == wire::LeaseKind::reserved ? "reserved" : "attached"; }

OrderedJson describe(const wire::DeviceListing& board) {
  const wire::Description& from = board.description;
  OrderedJson accelerators = OrderedJson::array(), tags = OrderedJson::object();
  for (const wire::Accelerator& device : from.accelerators) {
    accelerators.push_back({{"kind", device.kind}, {"arch", device.arch}});
  }
  for (const wire::Label& tag : from.tags) tags[tag.name] = tag.value;
  return {{"name", board.name},
          {"state", board.state},
          {"is_connected", board.is_connected},
          {"lease", board.lease == 0 ? OrderedJson(nullptr) : OrderedJson(lease_text(board.lease))},
          {"holder", board.lease == 0 ? OrderedJson(nullptr) : OrderedJson(board.holder)},
          {"millidegrees", optional_json(board.millidegrees)},
          {"is_throttled", board.is_throttled},
          {"load_permille", board.load_permille},
          {"transport", board.transport.empty() ? OrderedJson(nullptr) : OrderedJson(board.transport)},
          {"neighbours", board.neighbours},
          {"blocked_by", board.blocked_by.empty() ? OrderedJson(nullptr) : OrderedJson(board.blocked_by)},
          {"model", from.model},
          {"arch", from.arch},
          {"cpu", from.cpu},
          {"server_version", from.server_version},
          {"memory_bytes", from.memory_bytes},
          {"cores", from.cores},
          {"features", from.features},
          {"accelerators", accelerators},
          {"tags", tags}};
}

OrderedJson describe(const wire::QueueListing& request) {
  return {{"request", lease_text(request.request)},
          {"holder", request.holder},
          {"slots", request.selectors},
          {"priority", request.priority},
          {"waited_ms", request.waited_ms},
          {"place", request.place},
          {"estimate_ms", optional_json(request.expected_ms)},
          {"blocked_by", request.blocked_by.empty() ? OrderedJson(nullptr) : OrderedJson(request.blocked_by)},
          {"job", request.job}};
}

OrderedJson describe(const wire::LeaseListing& lease) {
  return {{"lease", lease_text(lease.lease)},
          {"holder", lease.holder},
          {"boards", lease.boards},
          {"kind", name_of(lease.kind)},
          {"remaining_ms", lease.remaining_ms},
          {"job", lease.job}};
}

OrderedJson describe(const wire::HistoryListing& lease) {
  return {{"lease", lease_text(lease.lease)},
          {"holder", lease.holder},
          {"slots", lease.selectors},
          {"boards", lease.boards},
          {"priority", lease.priority},
          {"kind", name_of(lease.kind)},
          {"submitted_ms", lease.submitted_ms},
          {"start_ms", optional_json(lease.started_ms)},
          {"ended_ms", lease.ended_ms},
          {"reason", lease.reason},
          {"failure_class", lease.failure_class},
          {"text", lease.text},
          {"job", lease.job}};
}

OrderedJson describe(const wire::AuditListing& entry) {
  return {{"number", std::to_string(entry.number)},
          {"at_ms", entry.at_ms},
          {"actor", entry.actor},
          {"action", entry.action},
          {"board", entry.board},
          {"text", entry.text}};
}

OrderedJson describe(const wire::HealthListing& check) {
  return {{"number", std::to_string(check.number)},
          {"at_ms", check.at_ms},
          {"job", check.job},
          {"picoseconds", check.picoseconds},
          {"baseline_picoseconds", check.baseline_picoseconds},
          {"verdict", check.verdict},
          {"millidegrees", optional_json(check.millidegrees)},
          {"text", check.text}};
}

OrderedJson describe(const wire::SessionListing& session) {
  return {{"number", std::to_string(session.number)},
          {"ended_ms", session.ended_ms},
          {"length_ms", session.length_ms},
          {"lease", lease_text(session.lease)},
          {"holder", session.holder},
          {"client", session.client},
          {"failure", session.failure}};
}

OrderedJson describe(const wire::CredentialListing& credential) {
  return {{"kind", word_of(kCredentialKinds, credential.kind)},
          {"name", credential.name},
          {"role", word_of(kRoles, credential.role)},
          {"revoked_ms", optional_json(credential.revoked_ms)},
          {"expires_ms", optional_json(credential.expires_ms)}};
}

template <class T>
std::string page_text(const char* name, const std::vector<T>& elements, bool has_more) {
  OrderedJson list = OrderedJson::array();
  for (const T& element : elements) list.push_back(describe(element));
  return text_of({{name, std::move(list)}, {"has_more", has_more}});
}

}  // namespace

std::string to_json(const wire::DevicePage& page) { return page_text("boards", page.devices, page.has_more); }
std::string to_json(const wire::DeviceListing& board) { return text_of(describe(board)); }
std::string to_json(const wire::QueuePage& page) { return page_text("requests", page.requests, page.has_more); }
std::string to_json(const wire::LeasePage& page) { return page_text("leases", page.leases, page.has_more); }
std::string to_json(const wire::HistoryPage& page) { return page_text("leases", page.leases, page.has_more); }
std::string to_json(const wire::AuditPage& page) { return page_text("entries", page.entries, page.has_more); }
std::string to_json(const wire::HealthPage& page) { return page_text("checks", page.checks, page.has_more); }
std::string to_json(const wire::SessionPage& page) { return page_text("sessions", page.sessions, page.has_more); }
std::string to_json(const wire::CredentialPage& page) {
  return page_text("credentials", page.credentials, page.has_more);
}

std::string to_json(const wire::KeyMade& made) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : made.psk) hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text_of({{"psk", hex}});
}

std::string to_json(const wire::TokenMade& made) { return text_of({{"token", made.token}}); }
std::string to_json(const wire::Done&) { return "{}"; }

std::string error_json(std::string_view code, std::string_view message) {
  return text_of({{"error", {{"code", code}, {"message", message}}}});
}

}  // namespace ferry::farm::http
