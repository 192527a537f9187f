#include "tests/support/farm/scripted_farm.h"

#include <algorithm>

#include "farm/core/selector/selector.h"

namespace ferry::test {

using namespace farm::wire;
using farm::Caller;
using farm::FarmNumbers;

namespace {

Status failure(ErrorCode code, const std::string& text) { return {code, text}; }

farm::BoardDescription described(const DeviceListing& board) {
  const Description& from = board.description;
  farm::BoardDescription result{board.name, from.model,    from.arch, from.cpu, from.memory_bytes,
                                from.cores, from.features, {},        {}};
  for (const Label& tag : from.tags) result.tags[tag.name] = tag.value;
  return result;
}

// The elements of one page, after those for which `is_before` holds.
template <class T, class Before>
std::vector<T> page_of(const std::vector<T>& all, Before is_before, bool& has_more) {
  std::vector<T> page;
  for (const T& element : all) {
    if (is_before(element)) continue;
    has_more = page.size() == kMaxPage;
    if (has_more) break;
    page.push_back(element);
  }
  return page;
}

}  // namespace

ScriptedFarm::ScriptedFarm() {
  tokens_ = {{kViewer, {"vera", Role::viewer}}, {kUser, {"uwe", Role::user}}, {kAdmin, {"ada", Role::admin}}};
  for (const auto& [token, caller] : tokens_) {
    credentials_.push_back({CredentialKind::token, caller.holder, caller.role, std::nullopt});
  }
  numbers_.is_scheduling = true;
}

void ScriptedFarm::change() {
  ++count_;
  if (on_change_) on_change_();
}

void ScriptedFarm::touch() {
  const std::lock_guard lock(mutex_);
  change();
}

void ScriptedFarm::add_board(const DeviceListing& board) {
  const std::lock_guard lock(mutex_);
  boards_[board.name] = board;
  change();
}

void ScriptedFarm::revoke_token(const std::string& token) {
  const std::lock_guard lock(mutex_);
  tokens_.erase(token);
}

void ScriptedFarm::set_available(bool is_available) {
  const std::lock_guard lock(mutex_);
  is_available_ = is_available;
}

void ScriptedFarm::set_numbers(const FarmNumbers& numbers) {
  const std::lock_guard lock(mutex_);
  numbers_ = numbers;
}

void ScriptedFarm::set_blocked(bool is_blocked) {
  is_blocked_ = is_blocked;
  is_blocked_.notify_all();
}

DeviceListing ScriptedFarm::board(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return boards_.at(name);
}

std::vector<AuditListing> ScriptedFarm::audit() {
  const std::lock_guard lock(mutex_);
  return audit_;
}

Status ScriptedFarm::check(const Caller& caller, Role least) const {
  if (!is_available_) return failure(ErrorCode::unavailable, "this tracker stands by");
  if (caller.role >= least) return {};
  return failure(ErrorCode::unauthenticated, "expected an admin's or a user's key, got another one");
}

void ScriptedFarm::note(const Caller& caller, const std::string& action, const std::string& board,
                        const std::string& text) {
  audit_.push_back({audit_.size() + 1, 1'780'000'000'000 + audit_.size(), caller.holder, action, board, text});
  change();
}

Result<DevicePage> ScriptedFarm::ask(const Caller& caller, const ListDevices& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  std::optional<farm::Selector> selector;
  if (!query.selector.empty()) {
    FERRY_ASSIGN(selector, farm::parse_selector(query.selector));
  }
  std::vector<DeviceListing> matching;
  for (const auto& [name, board] : boards_) {
    if (!selector || farm::matches(*selector, described(board))) matching.push_back(board);
  }
  DevicePage page;
  page.devices =
      page_of(matching, [&](const DeviceListing& board) { return board.name <= query.after; }, page.has_more);
  return page;
}

Result<QueuePage> ScriptedFarm::ask(const Caller& caller, const ListQueue& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  QueuePage page;
  bool is_after = query.after == 0;
  page.requests = page_of(
      queue_,
      [&](const QueueListing& request) {
        const bool is_before = !is_after;
        is_after = is_after || request.request == query.after;
        return is_before;
      },
      page.has_more);
  return page;
}

Result<LeasePage> ScriptedFarm::ask(const Caller& caller, const ListLeases& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  std::vector<LeaseListing> all;
  for (const auto& [id, lease] : leases_) all.push_back(lease);
  LeasePage page;
  page.leases = page_of(all, [&](const LeaseListing& lease) { return lease.lease <= query.after; }, page.has_more);
  return page;
}

Result<HistoryPage> ScriptedFarm::ask(const Caller& caller, const ListHistory& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  HistoryPage page;
  page.leases = page_of(
      history_,
      [&](const HistoryListing& lease) {
        const bool has_board = std::find(lease.boards.begin(), lease.boards.end(), query.board) != lease.boards.end();
        if ((!query.board.empty() && !has_board) || (!query.holder.empty() && lease.holder != query.holder))
          return true;
        return query.before_ended_ms != 0 &&
               std::pair(lease.ended_ms, lease.lease) >= std::pair(query.before_ended_ms, query.before_lease);
      },
      page.has_more);
  return page;
}

Result<AuditPage> ScriptedFarm::ask(const Caller& caller, const ListAudit& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  std::vector<AuditListing> newest_first(audit_.rbegin(), audit_.rend());
  AuditPage page;
  page.entries = page_of(
      newest_first,
      [&](const AuditListing& entry) {
        return (!query.board.empty() && entry.board != query.board) ||
               (query.before != 0 && entry.number >= query.before);
      },
      page.has_more);
  return page;
}

Result<HealthPage> ScriptedFarm::ask(const Caller& caller, const ListHealth& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  HealthPage page;
  page.checks = page_of(
      health_[query.board],
      [&](const HealthListing& check) { return query.before != 0 && check.number >= query.before; }, page.has_more);
  return page;
}

Result<SessionPage> ScriptedFarm::ask(const Caller& caller, const ListSessions& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  SessionPage page;
  page.sessions = page_of(
      sessions_[query.board],
      [&](const SessionListing& session) { return query.before != 0 && session.number >= query.before; },
      page.has_more);
  return page;
}

Result<FarmSummary> ScriptedFarm::ask(const Caller& caller, const Summarize&) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  return FarmSummary{12, 11, 3, 2, 60'000};
}

Result<CredentialPage> ScriptedFarm::ask(const Caller& caller, const ListCredentials& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::admin));
  CredentialPage page;
  std::uint32_t number = 0;
  page.credentials =
      page_of(credentials_, [&](const CredentialListing&) { return number++ < query.after; }, page.has_more);
  return page;
}

Result<Done> ScriptedFarm::ask(const Caller& caller, const OrderBoard& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::admin));
  const auto found = boards_.find(query.board);
  if (found == boards_.end()) return failure(ErrorCode::not_found, "there is no board '" + query.board + "'");
  constexpr const char* kStates[] = {"", "maintenance", "retired", "unknown"};
  constexpr const char* kActions[] = {"", "maintain", "retire", "return"};
  found->second.state = kStates[static_cast<int>(query.order)];
  note(caller, kActions[static_cast<int>(query.order)], query.board, "");
  return Done{};
}

Result<Done> ScriptedFarm::ask(const Caller& caller, const EndLease& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::user));
  const auto is_other = [&](const std::string& holder) {
    return caller.role != Role::admin && holder != caller.holder;
  };
  const auto request = std::find_if(queue_.begin(), queue_.end(),
                                    [&](const QueueListing& entry) { return entry.request == query.lease; });
  const auto lease = leases_.find(query.lease);
  if (request == queue_.end() && lease == leases_.end()) {
    return failure(ErrorCode::not_found, "there is no lease " + std::to_string(query.lease));
  }
  if (is_other(request == queue_.end() ? lease->second.holder : request->holder)) {
    return failure(ErrorCode::unauthenticated, "the lease is somebody else's");
  }
  if (request != queue_.end()) {
    queue_.erase(request);
    note(caller, "cancel", "", std::to_string(query.lease));
    return Done{};
  }
  for (auto& [name, board] : boards_) {
    if (board.lease != query.lease) continue;
    board.lease = 0;
    board.holder.clear();
    note(caller, "release", name, "");
  }
  leases_.erase(lease);
  return Done{};
}

Result<KeyMade> ScriptedFarm::ask(const Caller& caller, const EnrolBoard& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::admin));
  if (query.name.empty()) return failure(ErrorCode::invalid_argument, "expected a name, got an empty one");
  note(caller, "enrol", query.name, query.machine);
  DeviceListing& board = boards_[query.name];
  board.name = query.name;
  board.state = "unknown";
  board.description.tags = query.tags;
  KeyMade made;
  for (std::size_t i = 0; i < made.psk.size(); ++i) made.psk[i] = static_cast<std::uint8_t>(i * 7 + 1);
  return made;
}

Result<KeyMade> ScriptedFarm::ask(const Caller& caller, const AddClient& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::admin));
  credentials_.push_back({CredentialKind::client, query.holder, query.role, std::nullopt});
  note(caller, "add client", "", query.holder);
  return KeyMade{};
}

Result<TokenMade> ScriptedFarm::ask(const Caller& caller, const AddToken& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::admin));
  const std::string token = "made-for-" + std::to_string(tokens_.size());
  tokens_[token] = {query.holder, query.role};
  credentials_.push_back({CredentialKind::token, query.holder, query.role, std::nullopt, std::nullopt});
  // As if the farm had begun in 1970.
  if (query.lasts_ms != 0) credentials_.back().expires_ms = query.lasts_ms;
  note(caller, "add token", "", query.holder);
  return TokenMade{token};
}

Result<Done> ScriptedFarm::ask(const Caller& caller, const RevokeCredential& query) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::admin));
  for (CredentialListing& credential : credentials_) {
    if (credential.kind != query.kind || credential.name != query.name) continue;
    credential.revoked_ms = 1'780'000'000'000;
    std::erase_if(tokens_, [&](const auto& token) { return token.second.holder == query.name; });
    note(caller, "revoke", "", query.name);
    return Done{};
  }
  return failure(ErrorCode::not_found, "there is no such credential");
}

Result<DeviceListing> ScriptedFarm::find_board(const Caller& caller, const std::string& name) {
  const std::lock_guard lock(mutex_);
  FERRY_TRY(check(caller, Role::viewer));
  const auto found = boards_.find(name);
  if (found == boards_.end()) return failure(ErrorCode::not_found, "there is no board '" + name + "'");
  return found->second;
}

Result<Caller> ScriptedFarm::find_token(std::string_view token) {
  ++token_lookups_;
  is_blocked_.wait(true);
  const std::lock_guard lock(mutex_);
  if (!is_available_) return failure(ErrorCode::unavailable, "the database does not answer");
  const auto found = tokens_.find(token);
  if (found == tokens_.end()) return failure(ErrorCode::unauthenticated, "unknown token");
  return found->second;
}

Result<FarmNumbers> ScriptedFarm::numbers() {
  const std::lock_guard lock(mutex_);
  if (!is_available_) return failure(ErrorCode::unavailable, "the database does not answer");
  return numbers_;
}

std::uint64_t ScriptedFarm::change_count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

void ScriptedFarm::set_change_listener(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  on_change_ = std::move(listener);
}

}  // namespace ferry::test
