#include "farm/tracker/admin_commands.h"

#include <utility>

#include "base/format.h"
#include "farm/core/selector/board_name.h"
#include "farm/protocol/lease_id.h"
#include "farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

constexpr std::uint64_t kDayMs = 86'400'000, kMostTokenMs = 36'500 * kDayMs;

Status expect_admin(const Caller& caller, const char* what) {
  if (caller.role == wire::Role::admin) return {};
  return {ErrorCode::unauthenticated, std::string("only admins may ") + what};
}

Status check_holder(const std::string& holder) {
  if (!holder.empty() && holder.size() <= wire::kMaxText) return {};
  return {ErrorCode::invalid_argument, format("expected a name of 1 to %zu bytes", wire::kMaxText)};
}

farm::BoardOrder order_of(wire::BoardOrder order) {
  switch (order) {
    case wire::BoardOrder::maintain: return farm::BoardOrder::maintain;
    case wire::BoardOrder::retire: return farm::BoardOrder::retire;
    case wire::BoardOrder::return_to_service: break;
  }
  return farm::BoardOrder::return_to_service;
}

const char* name_of(wire::BoardOrder order) {
  switch (order) {
    case wire::BoardOrder::maintain: return "maintain";
    case wire::BoardOrder::retire: return "retire";
    case wire::BoardOrder::return_to_service: break;
  }
  return "return";
}

}  // namespace

// A word in a selector is either the name of a board or a tag that admins give to some.
Status AdminCommands::check_enrolment(const wire::EnrolBoard& query) const {
  FERRY_TRY(check_board_name(query.name));
  for (const wire::Label& tag : query.tags) {
    if (tag.name.empty()) return {ErrorCode::invalid_argument, "a tag: expected NAME or NAME=VALUE"};
    if (tag.name != query.name && boards_.find(tag.name))
      return {ErrorCode::invalid_argument,
              "a tag: expected another word than the name of a board, got '" + tag.name + "'"};
  }
  if (boards_.find(query.name)) return {};
  for (const BoardView& board : scheduler_.machine().boards()) {
    if (board.record->enrolled_tags.contains(query.name))
      return {ErrorCode::invalid_argument, "a board's name: expected another word than a tag, got '" + query.name +
                                               "', a tag of " + board.record->description.name};
  }
  return {};
}

void AdminCommands::give_key(const Credential& credential, const Answer<wire::KeyMade>& then) {
  const wire::KeyMade made{credentials_.keys().key_of(credential).bytes};
  const Status busy(ErrorCode::unavailable, "this tracker does not schedule any more");
  if (!scheduler_) return then(busy);
  then(made);
}

void AdminCommands::answer(const Caller& caller, const wire::OrderBoard& query, const Answer<wire::Done>& then) {
  const Status allowed = expect_admin(caller, "give orders about boards");
  if (!allowed.is_ok()) return then(allowed);
  const auto board = boards_.find(query.board);
  if (!board) return then(Status(ErrorCode::not_found, "the farm has no board '" + query.board + "'"));
  const auto view = scheduler_.machine().find_board(*board);
  if (view && view->record->state == BoardState::retired)
    return then(Status(ErrorCode::invalid_argument, "board " + query.board + " is retired for good"));
  scheduler_.handle(BoardOrdered{*board, order_of(query.order)});
  on_change_();
  audit_.write(caller, name_of(query.order), board, {},
               [then](const Status& written) { written.is_ok() ? then(wire::Done{}) : then(written); });
}

void AdminCommands::answer(const Caller& caller, const wire::EndLease& query, const Answer<wire::Done>& then) {
  const auto request = scheduler_.machine().find_request(LeaseId{query.lease});
  const bool is_own = request && request->request->holder == caller.holder && caller.role != wire::Role::viewer;
  if (caller.role != wire::Role::admin) audit_.write_if_foreign(caller, "end lease", query.lease);
  // Others need not know which leases there are.
  if (!request || (!is_own && caller.role != wire::Role::admin))
    return then(Status(ErrorCode::not_found, caller.holder + " has no lease or request " + lease_text(query.lease)));
  if (is_own) {
    scheduler_.handle(LeaseReleased{LeaseId{query.lease}});
    // The database runs this after the commits before it.
    return database_.ask([](Store&) { return Status(); }, [then](const Status&) { then(wire::Done{}); });
  }
  const std::string holder = request->request->holder;
  scheduler_.handle(LeaseRevoked{LeaseId{query.lease}});
  audit_.write(caller, "end lease", {}, lease_text(query.lease) + " of " + holder,
               [then](const Status& written) { written.is_ok() ? then(wire::Done{}) : then(written); });
}

void AdminCommands::answer(const Caller& caller, const wire::EnrolBoard& query, const Answer<wire::KeyMade>& then) {
  if (const Status allowed = expect_admin(caller, "enrol boards"); !allowed.is_ok()) return then(allowed);
  if (const Status fine = check_enrolment(query); !fine.is_ok()) return then(fine);
  const auto known = boards_.find(query.name);
  const auto view = known ? scheduler_.machine().find_board(*known) : std::nullopt;
  if (view && view->record->state == BoardState::retired)
    return then(Status(ErrorCode::invalid_argument,
                       "board " + query.name + " is retired for good; a board that replaces it needs another name"));
  const std::uint64_t id = known ? static_cast<std::uint64_t>(*known) : random_id();
  const Credential enrolment = KeyDirectory::make(CredentialKind::enrolment, id, query.name, wire::Role::user);
  // The key of an earlier enrolment is worthless from now on, also after a backup was restored.
  if (const Credential* const last = credentials_.keys().find_id(CredentialKind::enrolment, id);
      last && !last->revoked) {
    if (const Status noted = credentials_.note_revocation(*last); !noted.is_ok()) return then(noted);
  }
  std::vector<Credential> credentials{enrolment};
  const Credential* const own = credentials_.keys().find_id(CredentialKind::board, id);
  if (own == nullptr || own->revoked)
    credentials.push_back(KeyDirectory::make(CredentialKind::board, id, query.name, wire::Role::user));
  BoardEnrolled event{BoardId{id}, query.name, {}, query.machine, query.shares_machine};
  for (const wire::Label& tag : query.tags) event.tags[tag.name] = tag.value;
  boards_.set_name(query.name, BoardId{id});
  scheduler_.handle(event);
  on_change_();
  credentials_.write(credentials, [this, caller, id, enrolment, then](const Status& written) {
    if (!written.is_ok()) return then(written);
    audit_.write(caller, "enrol", BoardId{id}, {}, [this, enrolment, then](const Status& logged) {
      logged.is_ok() ? give_key(enrolment, then) : then(logged);
    });
  });
}

void AdminCommands::answer(const Caller& caller, const wire::AddClient& query, const Answer<wire::KeyMade>& then) {
  if (const Status allowed = expect_admin(caller, "add clients"); !allowed.is_ok()) return then(allowed);
  if (const Status fine = check_holder(query.holder); !fine.is_ok()) return then(fine);
  const Credential made = KeyDirectory::make(CredentialKind::client, random_id(), query.holder, query.role);
  credentials_.write({made}, [this, caller, made, then](const Status& written) {
    if (!written.is_ok()) return then(written);
    audit_.write(caller, "add client", {}, made.label,
                 [this, made, then](const Status& logged) { logged.is_ok() ? give_key(made, then) : then(logged); });
  });
}

void AdminCommands::answer(const Caller& caller, const wire::AddToken& query, const Answer<wire::TokenMade>& then) {
  if (const Status allowed = expect_admin(caller, "make tokens"); !allowed.is_ok()) return then(allowed);
  if (const Status fine = check_holder(query.holder); !fine.is_ok()) return then(fine);
  if (query.lasts_ms > kMostTokenMs)
    return then(Status(ErrorCode::invalid_argument, format("expected a token that lasts at most %llu days",
                                                           static_cast<unsigned long long>(kMostTokenMs / kDayMs))));
  KeyDirectory::NewToken made = KeyDirectory::make_token(query.holder, query.role);
  if (query.lasts_ms != 0)
    made.credential.expires = scheduler_.now() + Duration(static_cast<Duration::rep>(query.lasts_ms));
  credentials_.write({made.credential}, [this, caller, made, then](const Status& written) {
    if (!written.is_ok()) return then(written);
    audit_.write(caller, "add token", {}, made.credential.label, [made, then](const Status& logged) {
      logged.is_ok() ? then(wire::TokenMade{made.token}) : then(logged);
    });
  });
}

void AdminCommands::answer(const Caller& caller, const wire::RevokeCredential& query, const Answer<wire::Done>& then) {
  if (const Status allowed = expect_admin(caller, "revoke keys and tokens"); !allowed.is_ok()) return then(allowed);
  std::vector<Credential> revoked;
  for (const Credential* one : credentials_.keys().all()) {
    if (one->kind != query.kind || one->label != query.name || one->revoked) continue;
    revoked.push_back(*one);
    revoked.back().revoked = scheduler_.now();
  }
  if (revoked.empty())
    return then(
        Status(ErrorCode::not_found, "nobody holds a key or token of this kind in the name of '" + query.name + "'"));
  // Whoever is revoked is shut out at once, whether disks and databases remember it or not.
  credentials_.shut_out(revoked);
  Status noted;
  for (const Credential& one : revoked)
    if (const Status status = credentials_.note_revocation(one); noted.is_ok()) noted = status;
  credentials_.write(revoked, [this, caller, name = query.name, noted, then](const Status& written) {
    const Status& failure = noted.is_ok() ? written : noted;
    if (!failure.is_ok())
      return then(Status(failure.code(), "revoked for now, but not for good: " + failure.message()));
    audit_.write(caller, "revoke", {}, name,
                 [then](const Status& logged) { logged.is_ok() ? then(wire::Done{}) : then(logged); });
  });
}

void AdminCommands::answer(const Caller& caller, const wire::ListCredentials& query,
                           const Answer<wire::CredentialPage>& then) {
  if (const Status allowed = expect_admin(caller, "see who may use the farm"); !allowed.is_ok()) return then(allowed);
  const std::vector<const Credential*> all = credentials_.keys().all();
  wire::CredentialPage page;
  for (std::size_t i = query.after; i < all.size() && page.credentials.size() < wire::kMaxPage; ++i) {
    wire::CredentialListing listing{all[i]->kind, fit(all[i]->label, wire::kMaxText), all[i]->role, {}};
    if (all[i]->revoked) listing.revoked_ms = to_wire(*all[i]->revoked);
    if (all[i]->expires) listing.expires_ms = to_wire(*all[i]->expires);
    page.credentials.push_back(std::move(listing));
  }
  page.has_more = query.after + page.credentials.size() < all.size();
  then(std::move(page));
}

}  // namespace ferry::farm
