#include "farm/tracker/health_rounds.h"

#include <algorithm>
#include <variant>

#include "base/format.h"
#include "farm/protocol/lease_id.h"

namespace ferry::farm {
namespace {

using std::chrono::milliseconds;

// No peer has this number.
constexpr ClientConnection kHealthClient{~std::uint64_t{0}};
constexpr const char* kHealthHolder = "health check";
constexpr Duration kCheckLength = std::chrono::minutes(5);
constexpr Duration kCheckWait = std::chrono::minutes(30);
// A check that found nothing out is tried again after a pause, which doubles.
constexpr milliseconds kFirstPause{10'000};
constexpr milliseconds kLongestPause{600'000};
// For a board that must cool before its times are confirmed.
constexpr milliseconds kCooling{30'000};

bool is_checked_at_once(BoardState state) { return state == BoardState::unknown || state == BoardState::suspect; }

}  // namespace

HealthRounds::HealthRounds(const ActiveScheduler& scheduler, const BoardRegistry& boards, KeyDirectory& keys,
                           Database& database, HealthChecker& checker, const TcpAddress& tracker, milliseconds idle,
                           Log log)
    : scheduler_(scheduler),
      boards_(boards),
      database_(database),
      keys_(keys),
      checker_(checker),
      access_{"", {tracker}, keys.make_own(kHealthHolder), "", kHealthHolder},
      idle_(idle),
      log_(std::move(log)) {}

void HealthRounds::tick() {
  scheduler_.handle(ClientHeard{kHealthClient});
  if (!scheduler_) return;
  const Clock::time_point now = Clock::now();
  std::vector<BoardId> due;
  for (const BoardView& board : scheduler_.machine().boards()) {
    Round& round = rounds_[board.record->id];
    if (board.lease && round.request != *board.lease) round.used_at = now;
    if (round.request != LeaseId{} || !board.connection || board.lease || now < round.not_before) continue;
    // A board that nobody has used is not checked while another one of its machine is.
    const bool is_idle =
        board.record->state == BoardState::good && !board.leased_neighbour && now - round.used_at >= idle_;
    if (is_checked_at_once(board.record->state) || is_idle) due.push_back(board.record->id);
  }
  for (const BoardId id : due) {
    const auto board = scheduler_ ? scheduler_.machine().find_board(id) : std::nullopt;
    if (board) submit(rounds_[id], *board);
  }
}

void HealthRounds::submit(Round& round, const BoardView& board) {
  Request request;
  request.id = round.request = LeaseId{random_id()};
  request.holder = kHealthHolder;
  request.slots = {Selector{{TextTerm{TextKey::name, true, board.record->description.name}}}};
  // Nobody else gets a board before it is checked; one that is only idle is left to those who want it.
  request.priority = is_checked_at_once(board.record->state) ? 100 : 0;
  request.length = kCheckLength;
  request.wait = kCheckWait;
  request.is_health_check = true;
  scheduler_.handle(RequestSubmitted{kHealthClient, std::move(request)});
}

std::pair<const BoardId, HealthRounds::Round>* HealthRounds::find(LeaseId request) {
  const auto found = std::ranges::find_if(rounds_, [&](const auto& round) { return round.second.request == request; });
  return found == rounds_.end() ? nullptr : &*found;
}

bool HealthRounds::handle(const Action& action) {
  const auto is_own = [](const auto& one) {
    if constexpr (requires { one.client; }) return one.client == kHealthClient;
    return false;
  };
  if (!std::visit(is_own, action)) return false;
  if (const auto* told = std::get_if<TellGranted>(&action)) granted(*told);
  if (const auto* over = std::get_if<TellEnded>(&action)) ended(over->lease);
  return true;
}

void HealthRounds::granted(const TellGranted& action) {
  auto* const round = find(action.lease);
  if (round == nullptr || action.parts.size() != 1) return;
  const auto board = scheduler_.machine().find_board(round->first);
  const BoardFacts* const facts = board ? boards_.facts_of(*board) : nullptr;
  const secure::Key key = keys_.lease_key(static_cast<std::uint64_t>(action.lease),
                                          static_cast<std::uint64_t>(round->first), action.parts[0].epoch);
  const Status started = facts == nullptr ? Status(ErrorCode::unavailable, "it has left")
                                          : checker_.start(round->first, facts->address, key, action.parts[0].epoch,
                                                           {access_, static_cast<std::uint64_t>(action.lease), 0});
  round->second.is_running = started.is_ok();
  if (started.is_ok()) return;
  log_("board " + boards_.name_of(round->first) + " could not be checked: " + started.message());
  wait_longer(round->second);
  scheduler_.handle(LeaseReleased{action.lease});
}

void HealthRounds::ended(LeaseId lease) {
  auto* const round = find(lease);
  if (round == nullptr) return;
  round->second.request = {};
  if (round->second.is_running) {
    round->second.is_running = false;
    checker_.cancel(round->first);
  }
  const Clock::time_point soon = Clock::now() + std::chrono::seconds(1);
  round->second.not_before = std::max(round->second.not_before, soon);
}

void HealthRounds::wait_longer(Round& round) {
  round.pause = std::clamp(2 * round.pause, kFirstPause, kLongestPause);
  round.not_before = Clock::now() + round.pause;
}

void HealthRounds::checked(const CheckedBoard& checked) {
  Round& round = rounds_[checked.board];
  round.is_running = false;
  if (checked.result == CheckedBoard::Result::unknown) {
    wait_longer(round);
  } else {
    round.pause = milliseconds(0);
    round.used_at = Clock::now();
    round.not_before = Clock::now() + (checked.result == CheckedBoard::Result::again ? kCooling : milliseconds(0));
  }
  const auto board = scheduler_ ? scheduler_.machine().find_board(checked.board) : std::nullopt;
  if (!board) return;
  log_("board " + boards_.name_of(checked.board) + ": " +
       (checked.result == CheckedBoard::Result::passed ? std::string("it has passed its health check")
                                                       : "its health check: " + checked.reason));
  database_.ask(
      [entries = checked.entries, state = checked.state](Store& store) -> Status {
        for (const HealthEntry& entry : entries) FERRY_TRY(store.add_health_entry(entry));
        return state ? store.set_health_state(state->board, state->state) : Status();
      },
      [log = log_](const Status& written) {  // these rounds may be over by then
        if (!written.is_ok()) log("a health check could not be recorded: " + written.message());
      });
  const auto baseline = board->record->baseline_millidegrees;
  if (checked.millidegrees && (!baseline || *checked.millidegrees < *baseline))
    scheduler_.handle(BaselineMeasured{checked.board, *checked.millidegrees});
  if (checked.result == CheckedBoard::Result::passed || checked.result == CheckedBoard::Result::failed)
    scheduler_.handle(HealthChecked{checked.board, checked.result == CheckedBoard::Result::passed});
  if (round.request != LeaseId{}) scheduler_.handle(LeaseReleased{round.request});
}

}  // namespace ferry::farm
