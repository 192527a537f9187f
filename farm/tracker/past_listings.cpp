// Lists ended leases, sessions, health checks, and what people did, all of which the database keeps.
#include <algorithm>
#include <utility>

#include "farm/tracker/query_service.h"
#include "farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

using namespace wire;

constexpr std::size_t kAsked = wire::kMaxPage + 1;  // one more says that there are more
// Pages whose elements may be long have fewer of them.
constexpr std::size_t kSessionsAsked = 51;

Time from_ms(std::uint64_t count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
  return Time(Duration(static_cast<Duration::rep>(std::min(count, kMost))));
}

// Nothing for an empty name; fails with not_found for a board that the farm does not have.
Result<std::optional<BoardId>> find_filter(const Core& core, const std::string& name) {
  if (name.empty()) return std::optional<BoardId>();
  const auto board = core.find_board(name);
  if (!board) return Status(ErrorCode::not_found, "the farm has no board '" + name + "'");
  return board;
}

Result<NumberedQuery> numbered_query(const Core& core, const std::string& board, std::uint64_t before,
                                     std::size_t limit) {
  NumberedQuery query;
  FERRY_ASSIGN(query.board, find_filter(core, board));
  if (before != 0) query.before = before;
  query.limit = limit;
  return query;
}

// Passes on a page made of at most limit - 1 of the entries.
template <class Page, class Entry, class Listing>
void give_page(const Result<std::vector<Entry>>& entries, std::size_t limit, std::vector<Listing> Page::* list,
               const std::function<Listing(const Entry&)>& listing_of, const Answer<Page>& then) {
  if (!entries.is_ok()) return then(entries.status());
  Page page;
  for (const Entry& entry : entries.value())
    if ((page.*list).size() + 1 < limit) (page.*list).push_back(listing_of(entry));
  page.has_more = entries.value().size() >= limit;
  then(std::move(page));
}

HistoryListing listing_of(const Core& core, const EndedLease& lease) {
  HistoryListing listing;
  listing.lease = static_cast<std::uint64_t>(lease.request.id);
  listing.holder = fit(lease.request.holder, kMaxText);
  listing.selectors = slot_texts(lease.request);
  for (const LeasePart& part : lease.parts) listing.boards.push_back(fit(core.name_of(part.board), kMaxName));
  listing.priority = lease.request.priority;
  listing.kind = to_wire(lease.request.kind);
  listing.submitted_ms = to_wire(lease.submitted);
  if (lease.start) listing.started_ms = to_wire(*lease.start);
  listing.ended_ms = to_wire(lease.ended);
  listing.reason = end_reason_name(lease.reason);
  listing.failure_class = failure_class_name(class_of(lease.reason));
  listing.text = fit(lease.text, kMaxText);
  listing.job = fit(lease.request.job, kMaxText);
  return listing;
}

}  // namespace

void answer(Core& core, const Caller&, const ListHistory& query, const Answer<HistoryPage>& then) {
  HistoryQuery asked;
  const auto board = find_filter(core, query.board);
  if (!board.is_ok()) return then(board.status());
  asked.board = board.value();
  if (!query.holder.empty()) asked.holder = query.holder;
  if (query.before_ended_ms != 0)
    asked.before = HistoryPosition{from_ms(query.before_ended_ms), LeaseId{query.before_lease}};
  asked.limit = kAsked;
  core.database->ask([asked](Store& store) { return store.ended_leases(asked); },
                     [&core, then](const Result<std::vector<EndedLease>>& leases) {
                       give_page<HistoryPage, EndedLease, HistoryListing>(
                           leases, kAsked, &HistoryPage::leases,
                           [&core](const EndedLease& lease) { return listing_of(core, lease); }, then);
                     });
}

void answer(Core& core, const Caller& caller, const ListAudit& query, const Answer<AuditPage>& then) {
  if (caller.role != wire::Role::admin)
    return then(Status(ErrorCode::unauthenticated, "only admins may read the audit log"));
  AuditQuery asked;
  const auto board = find_filter(core, query.board);
  if (!board.is_ok()) return then(board.status());
  asked.board = board.value();
  if (query.before != 0) asked.before = query.before;
  asked.limit = kAsked;
  core.database->ask([asked](Store& store) { return store.audit_log(asked); },
                     [&core, then](const Result<std::vector<NumberedAuditEntry>>& entries) {
                       give_page<AuditPage, NumberedAuditEntry, AuditListing>(
                           entries, kAsked, &AuditPage::entries,
                           [&core](const NumberedAuditEntry& one) {
                             return AuditListing{
                                 one.number,
                                 to_wire(one.entry.at),
                                 fit(one.entry.actor, kMaxText),
                                 fit(one.entry.action, kMaxName),
                                 one.entry.board ? fit(core.name_of(*one.entry.board), kMaxName) : std::string(),
                                 fit(one.entry.text, kMaxText)};
                           },
                           then);
                     });
}

void answer(Core& core, const Caller&, const ListHealth& query, const Answer<HealthPage>& then) {
  const auto asked = numbered_query(core, query.board, query.before, kAsked);
  if (!asked.is_ok()) return then(asked.status());
  core.database->ask([asked = asked.value()](Store& store) { return store.health_entries(asked); },
                     [then](const Result<std::vector<NumberedHealthEntry>>& entries) {
                       give_page<HealthPage, NumberedHealthEntry, HealthListing>(
                           entries, kAsked, &HealthPage::checks,
                           [](const NumberedHealthEntry& one) {
                             return HealthListing{one.number,
                                                  to_wire(one.entry.at),
                                                  fit(one.entry.job, kMaxName),
                                                  one.entry.picoseconds,
                                                  one.entry.baseline_picoseconds,
                                                  fit(one.entry.verdict, kMaxName),
                                                  one.entry.millidegrees,
                                                  fit(one.entry.text, kMaxText)};
                           },
                           then);
                     });
}

void answer(Core& core, const Caller&, const ListSessions& query, const Answer<SessionPage>& then) {
  const auto asked = numbered_query(core, query.board, query.before, kSessionsAsked);
  if (!asked.is_ok()) return then(asked.status());
  core.database->ask([asked = asked.value()](Store& store) { return store.sessions(asked); },
                     [then](const Result<std::vector<NumberedSessionEntry>>& entries) {
                       give_page<SessionPage, NumberedSessionEntry, SessionListing>(
                           entries, kSessionsAsked, &SessionPage::sessions,
                           [](const NumberedSessionEntry& one) {
                             return SessionListing{one.number,
                                                   to_wire(one.entry.ended),
                                                   to_wire(one.entry.length),
                                                   static_cast<std::uint64_t>(one.entry.lease),
                                                   fit(one.entry.holder, kMaxText),
                                                   fit(one.entry.client, kMaxText),
                                                   fit(one.entry.failure, kMaxReport)};
                           },
                           then);
                     });
}

void answer(Core& core, const Caller& caller, const ListCredentials& query, const Answer<CredentialPage>& then) {
  if (caller.role != wire::Role::admin)
    return then(Status(ErrorCode::unauthenticated, "only admins may see who may use the farm"));
  const std::vector<const Credential*> all = core.keys.all();
  CredentialPage page;
  for (std::size_t i = query.after; i < all.size() && page.credentials.size() < wire::kMaxPage; ++i) {
    CredentialListing listing{all[i]->kind, fit(all[i]->label, kMaxText), all[i]->role, {}};
    if (all[i]->revoked) listing.revoked_ms = to_wire(*all[i]->revoked);
    if (all[i]->expires) listing.expires_ms = to_wire(*all[i]->expires);
    page.credentials.push_back(std::move(listing));
  }
  page.has_more = query.after + page.credentials.size() < all.size();
  then(std::move(page));
}

}  // namespace ferry::farm
