#include "farm/tracker/admin_commands.h"

#include <utility>

#include "base/format.h"
#include "farm/core/selector/board_name.h"
#include "farm/protocol/lease_id.h"
#include "farm/tracker/foreign_ids.h"
#include "farm/tracker/query_service.h"
#include "farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

using namespace wire;

constexpr std::uint64_t kDayMs = 86'400'000, kMostTokenMs = 36'500 * kDayMs;

Status expect_admin(const Caller& caller, const char* what) {
  if (caller.role == wire::Role::admin) return {};
  return {ErrorCode::unauthenticated, std::string("only admins may ") + what};
}

Status check_holder(const std::string& holder) {
  if (!holder.empty() && holder.size() <= kMaxText) return {};
  return {ErrorCode::invalid_argument, format("expected a name of 1 to %zu bytes", kMaxText)};
}

// A word in a selector is either the name of a board or a tag that admins give to some.
Status check_enrolment(const Core& core, const EnrolBoard& query) {
  FERRY_TRY(check_board_name(query.name));
  for (const Label& tag : query.tags) {
    if (tag.name.empty()) return {ErrorCode::invalid_argument, "a tag: expected NAME or NAME=VALUE"};
    if (tag.name != query.name && core.find_board(tag.name))
      return {ErrorCode::invalid_argument,
              "a tag: expected another word than the name of a board, got '" + tag.name + "'"};
  }
  if (core.find_board(query.name)) return {};
  for (const BoardView& board : core.scheduler->machine().boards()) {
    if (board.record->enrolled_tags.contains(query.name))
      return {ErrorCode::invalid_argument, "a board's name: expected another word than a tag, got '" + query.name +
                                               "', a tag of " + board.record->description.name};
  }
  return {};
}

// Writes credentials, then calls then() with whether that succeeded. The keys count from then on.
void write_credentials(Core& core, std::vector<Credential> credentials, std::function<void(const Status&)> then) {
  core.database->ask(
      [credentials](Store& store) {
        for (const Credential& one : credentials) FERRY_TRY(store.replace_credential(one));
        return Status();
      },
      [&core, credentials, then = std::move(then)](const Status& written) {
        if (written.is_ok())
          for (const Credential& one : credentials) core.keys.put(one);
        then(written);
      });
}

void give_key(Core& core, const Credential& credential, const Answer<KeyMade>& then) {
  const KeyMade made{core.keys.key_of(credential).bytes};
  const Status busy(ErrorCode::unavailable, "this tracker does not schedule any more");
  if (!core.scheduler) return then(busy);
  then(made);
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

void confirm_enrolment(Core& core, BoardId board) {
  const Credential* const enrolment = core.keys.find_id(CredentialKind::enrolment, static_cast<std::uint64_t>(board));
  if (enrolment == nullptr || enrolment->revoked) return;
  Credential consumed = *enrolment;
  consumed.revoked = core.scheduler->now();
  if (const Status noted = core.note_revocation(consumed); !noted.is_ok()) return core.log(noted.message());
  core.keys.put(consumed);
  write_credentials(core, {consumed}, [&core, board](const Status& written) {
    core.log(core.name_of(board) + ": " +
             (written.is_ok() ? "its enrolment is complete" : "its enrolment stays open: " + written.message()));
  });
}

void revoke_access(Core& core, const Credential& credential) {
  core.peers.close_key(core.keys.key_of(credential).id(), "this key was revoked");
  // The end of a connection may have ended this tracker's turn.
  if (credential.kind != CredentialKind::client || !core.scheduler) return;
  const Credential* const other = core.keys.find_label(CredentialKind::client, credential.label);
  if (other != nullptr && !other->revoked) return;
  std::vector<LeaseId> leases;
  for (const RequestView& lease : core.scheduler->machine().leases())
    if (lease.request->holder == credential.label) leases.push_back(lease.request->id);
  for (const QueuedRequest& request : core.scheduler->machine().queue(core.scheduler->now()))
    if (request.holder == credential.label) leases.push_back(request.id);
  for (const LeaseId lease : leases) core.handle(LeaseRevoked{lease});
}

void answer(Core& core, const Caller& caller, const OrderBoard& query, const Answer<Done>& then) {
  const Status allowed = expect_admin(caller, "give orders about boards");
  if (!allowed.is_ok()) return then(allowed);
  const auto board = core.find_board(query.board);
  if (!board) return then(Status(ErrorCode::not_found, "the farm has no board '" + query.board + "'"));
  const auto view = core.scheduler->machine().find_board(*board);
  if (view && view->record->state == BoardState::retired)
    return then(Status(ErrorCode::invalid_argument, "board " + query.board + " is retired for good"));
  core.handle(BoardOrdered{*board, order_of(query.order)});
  core.on_change();
  core.audit(caller, name_of(query.order), board, {},
             [then](const Status& written) { written.is_ok() ? then(Done{}) : then(written); });
}

void answer(Core& core, const Caller& caller, const EndLease& query, const Answer<Done>& then) {
  const auto request = core.scheduler->machine().find_request(LeaseId{query.lease});
  const bool is_own = request && request->request->holder == caller.holder && caller.role != wire::Role::viewer;
  if (caller.role != wire::Role::admin) audit_if_foreign(core, caller, "end lease", query.lease);
  // Others need not know which leases there are.
  if (!request || (!is_own && caller.role != wire::Role::admin))
    return then(Status(ErrorCode::not_found, caller.holder + " has no lease or request " + lease_text(query.lease)));
  if (is_own) {
    core.handle(LeaseReleased{LeaseId{query.lease}});
    // The database runs this after the commits before it.
    return core.database->ask([](Store&) { return Status(); }, [then](const Status&) { then(Done{}); });
  }
  const std::string holder = request->request->holder;
  core.handle(LeaseRevoked{LeaseId{query.lease}});
  core.audit(caller, "end lease", {}, lease_text(query.lease) + " of " + holder,
             [then](const Status& written) { written.is_ok() ? then(Done{}) : then(written); });
}

void answer(Core& core, const Caller& caller, const EnrolBoard& query, const Answer<KeyMade>& then) {
  if (const Status allowed = expect_admin(caller, "enrol boards"); !allowed.is_ok()) return then(allowed);
  if (const Status fine = check_enrolment(core, query); !fine.is_ok()) return then(fine);
  const auto known = core.find_board(query.name);
  const auto view = known ? core.scheduler->machine().find_board(*known) : std::nullopt;
  if (view && view->record->state == BoardState::retired)
    return then(Status(ErrorCode::invalid_argument,
                       "board " + query.name + " is retired for good; a board that replaces it needs another name"));
  const std::uint64_t id = known ? static_cast<std::uint64_t>(*known) : random_id();
  const Credential enrolment = KeyDirectory::make(CredentialKind::enrolment, id, query.name, wire::Role::user);
  // The key of an earlier enrolment is worthless from now on, also after a backup was restored.
  if (const Credential* const last = core.keys.find_id(CredentialKind::enrolment, id); last && !last->revoked) {
    if (const Status noted = core.note_revocation(*last); !noted.is_ok()) return then(noted);
  }
  std::vector<Credential> credentials{enrolment};
  const Credential* const own = core.keys.find_id(CredentialKind::board, id);
  if (own == nullptr || own->revoked)
    credentials.push_back(KeyDirectory::make(CredentialKind::board, id, query.name, wire::Role::user));
  BoardEnrolled event{BoardId{id}, query.name, {}, query.machine, query.shares_machine};
  for (const Label& tag : query.tags) event.tags[tag.name] = tag.value;
  core.names[query.name] = BoardId{id};
  core.handle(event);
  core.on_change();
  write_credentials(core, credentials, [&core, caller, id, enrolment, then](const Status& written) {
    if (!written.is_ok()) return then(written);
    core.audit(caller, "enrol", BoardId{id}, {}, [&core, enrolment, then](const Status& logged) {
      logged.is_ok() ? give_key(core, enrolment, then) : then(logged);
    });
  });
}

void answer(Core& core, const Caller& caller, const AddClient& query, const Answer<KeyMade>& then) {
  if (const Status allowed = expect_admin(caller, "add clients"); !allowed.is_ok()) return then(allowed);
  if (const Status fine = check_holder(query.holder); !fine.is_ok()) return then(fine);
  const Credential made = KeyDirectory::make(CredentialKind::client, random_id(), query.holder, query.role);
  write_credentials(core, {made}, [&core, caller, made, then](const Status& written) {
    if (!written.is_ok()) return then(written);
    core.audit(caller, "add client", {}, made.label, [&core, made, then](const Status& logged) {
      logged.is_ok() ? give_key(core, made, then) : then(logged);
    });
  });
}

void answer(Core& core, const Caller& caller, const AddToken& query, const Answer<TokenMade>& then) {
  if (const Status allowed = expect_admin(caller, "make tokens"); !allowed.is_ok()) return then(allowed);
  if (const Status fine = check_holder(query.holder); !fine.is_ok()) return then(fine);
  if (query.lasts_ms > kMostTokenMs)
    return then(Status(ErrorCode::invalid_argument, format("expected a token that lasts at most %llu days",
                                                           static_cast<unsigned long long>(kMostTokenMs / kDayMs))));
  KeyDirectory::NewToken made = KeyDirectory::make_token(query.holder, query.role);
  if (query.lasts_ms != 0)
    made.credential.expires = core.scheduler->now() + Duration(static_cast<Duration::rep>(query.lasts_ms));
  write_credentials(core, {made.credential}, [&core, caller, made, then](const Status& written) {
    if (!written.is_ok()) return then(written);
    core.audit(caller, "add token", {}, made.credential.label,
               [made, then](const Status& logged) { logged.is_ok() ? then(TokenMade{made.token}) : then(logged); });
  });
}

void answer(Core& core, const Caller& caller, const RevokeCredential& query, const Answer<Done>& then) {
  if (const Status allowed = expect_admin(caller, "revoke keys and tokens"); !allowed.is_ok()) return then(allowed);
  std::vector<Credential> revoked;
  for (const Credential* one : core.keys.all()) {
    if (one->kind != query.kind || one->label != query.name || one->revoked) continue;
    revoked.push_back(*one);
    revoked.back().revoked = core.scheduler->now();
  }
  if (revoked.empty())
    return then(
        Status(ErrorCode::not_found, "nobody holds a key or token of this kind in the name of '" + query.name + "'"));
  // Whoever is revoked is shut out at once, whether disks and databases remember it or not.
  for (const Credential& one : revoked) core.keys.put(one);
  for (const Credential& one : revoked) revoke_access(core, one);
  Status noted;
  for (const Credential& one : revoked)
    if (const Status status = core.note_revocation(one); noted.is_ok()) noted = status;
  write_credentials(core, revoked, [&core, caller, name = query.name, noted, then](const Status& written) {
    const Status& failure = noted.is_ok() ? written : noted;
    if (!failure.is_ok())
      return then(Status(failure.code(), "revoked for now, but not for good: " + failure.message()));
    core.audit(caller, "revoke", {}, name,
               [then](const Status& logged) { logged.is_ok() ? then(Done{}) : then(logged); });
  });
}

}  // namespace ferry::farm
