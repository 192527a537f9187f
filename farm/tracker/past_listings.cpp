#include "farm/tracker/past_listings.h"

#include <algorithm>
#include <utility>

#include "farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

constexpr std::size_t kAsked = wire::kMaxPage + 1;  // one more says that there are more
// Pages whose elements may be long have fewer of them.
constexpr std::size_t kSessionsAsked = 51;

Time from_ms(std::uint64_t count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
  return Time(Duration(static_cast<Duration::rep>(std::min(count, kMost))));
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

}  // namespace

Result<std::optional<BoardId>> PastListings::find_filter(const std::string& name) const {
  if (name.empty()) return std::optional<BoardId>();
  const auto board = boards_.find(name);
  if (!board) return Status(ErrorCode::not_found, "the farm has no board '" + name + "'");
  return board;
}

Result<NumberedQuery> PastListings::numbered_query(const std::string& board, std::uint64_t before,
                                                   std::size_t limit) const {
  NumberedQuery query;
  FERRY_ASSIGN(query.board, find_filter(board));
  if (before != 0) query.before = before;
  query.limit = limit;
  return query;
}

wire::HistoryListing PastListings::listing_of(const EndedLease& lease) const {
  wire::HistoryListing listing;
  listing.lease = static_cast<std::uint64_t>(lease.request.id);
  listing.holder = fit(lease.request.holder, wire::kMaxText);
  listing.selectors = slot_texts(lease.request);
  for (const LeasePart& part : lease.parts) listing.boards.push_back(fit(boards_.name_of(part.board), wire::kMaxName));
  listing.priority = lease.request.priority;
  listing.kind = to_wire(lease.request.kind);
  listing.submitted_ms = to_wire(lease.submitted);
  if (lease.start) listing.started_ms = to_wire(*lease.start);
  listing.ended_ms = to_wire(lease.ended);
  listing.reason = end_reason_name(lease.reason);
  listing.failure_class = failure_class_name(class_of(lease.reason));
  listing.text = fit(lease.text, wire::kMaxText);
  listing.job = fit(lease.request.job, wire::kMaxText);
  return listing;
}

void PastListings::answer(const Caller&, const wire::ListHistory& query, const Answer<wire::HistoryPage>& then) {
  HistoryQuery asked;
  const auto board = find_filter(query.board);
  if (!board.is_ok()) return then(board.status());
  asked.board = board.value();
  if (!query.holder.empty()) asked.holder = query.holder;
  if (query.before_ended_ms != 0)
    asked.before = HistoryPosition{from_ms(query.before_ended_ms), LeaseId{query.before_lease}};
  asked.limit = kAsked;
  database_.ask([asked](Store& store) { return store.ended_leases(asked); },
                [this, then](const Result<std::vector<EndedLease>>& leases) {
                  give_page<wire::HistoryPage, EndedLease, wire::HistoryListing>(
                      leases, kAsked, &wire::HistoryPage::leases,
                      [this](const EndedLease& lease) { return listing_of(lease); }, then);
                });
}

void PastListings::answer(const Caller& caller, const wire::ListAudit& query, const Answer<wire::AuditPage>& then) {
  if (caller.role != wire::Role::admin)
    return then(Status(ErrorCode::unauthenticated, "only admins may read the audit log"));
  AuditQuery asked;
  const auto board = find_filter(query.board);
  if (!board.is_ok()) return then(board.status());
  asked.board = board.value();
  if (query.before != 0) asked.before = query.before;
  asked.limit = kAsked;
  database_.ask([asked](Store& store) { return store.audit_log(asked); },
                [this, then](const Result<std::vector<NumberedAuditEntry>>& entries) {
                  give_page<wire::AuditPage, NumberedAuditEntry, wire::AuditListing>(
                      entries, kAsked, &wire::AuditPage::entries,
                      [this](const NumberedAuditEntry& one) {
                        return wire::AuditListing{
                            one.number,
                            to_wire(one.entry.at),
                            fit(one.entry.actor, wire::kMaxText),
                            fit(one.entry.action, wire::kMaxName),
                            one.entry.board ? fit(boards_.name_of(*one.entry.board), wire::kMaxName) : std::string(),
                            fit(one.entry.text, wire::kMaxText)};
                      },
                      then);
                });
}

void PastListings::answer(const Caller&, const wire::ListHealth& query, const Answer<wire::HealthPage>& then) {
  const auto asked = numbered_query(query.board, query.before, kAsked);
  if (!asked.is_ok()) return then(asked.status());
  database_.ask([asked = asked.value()](Store& store) { return store.health_entries(asked); },
                [then](const Result<std::vector<NumberedHealthEntry>>& entries) {
                  give_page<wire::HealthPage, NumberedHealthEntry, wire::HealthListing>(
                      entries, kAsked, &wire::HealthPage::checks,
                      [](const NumberedHealthEntry& one) {
                        return wire::HealthListing{one.number,
                                                   to_wire(one.entry.at),
                                                   fit(one.entry.job, wire::kMaxName),
                                                   one.entry.picoseconds,
                                                   one.entry.baseline_picoseconds,
                                                   fit(one.entry.verdict, wire::kMaxName),
                                                   one.entry.millidegrees,
                                                   fit(one.entry.text, wire::kMaxText)};
                      },
                      then);
                });
}

void PastListings::answer(const Caller&, const wire::ListSessions& query, const Answer<wire::SessionPage>& then) {
  const auto asked = numbered_query(query.board, query.before, kSessionsAsked);
  if (!asked.is_ok()) return then(asked.status());
  database_.ask([asked = asked.value()](Store& store) { return store.sessions(asked); },
                [then](const Result<std::vector<NumberedSessionEntry>>& entries) {
                  give_page<wire::SessionPage, NumberedSessionEntry, wire::SessionListing>(
                      entries, kSessionsAsked, &wire::SessionPage::sessions,
                      [](const NumberedSessionEntry& one) {
                        return wire::SessionListing{one.number,
                                                    to_wire(one.entry.ended),
                                                    to_wire(one.entry.length),
                                                    static_cast<std::uint64_t>(one.entry.lease),
                                                    fit(one.entry.holder, wire::kMaxText),
                                                    fit(one.entry.client, wire::kMaxText),
                                                    fit(one.entry.failure, wire::kMaxReport)};
                      },
                      then);
                });
}

}  // namespace ferry::farm
