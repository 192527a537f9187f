#include "farm/core/lease/lease_machine.h"

#include "farm/core/lease/handlers.h"
#include "farm/core/lease/limits.h"
#include "farm/core/lease/restore.h"
#include "farm/core/lease/state.h"

namespace ferry::farm {
namespace {

// Does what the timers and the changes of an event have made due.
void settle(State& state, Time now) {
  while (const auto timer = state.timers.take_due(now)) handle_timer(state, *timer, now);
  if (state.boards.take_gained()) state.must_schedule = true;
  if (std::exchange(state.must_schedule, false)) schedule(state, now);
  if (state.queue.empty()) return;
  if (state.has_queue_changed && !std::exchange(state.is_notice_due, true))
    state.timers.set(now + kQueueNoticePeriod, TimerKind::queue_notice);
  if (!std::exchange(state.is_step_due, true)) state.timers.set(now + kPriorityStep, TimerKind::priority_step);
}

}  // namespace

LeaseMachine::LeaseMachine(const Snapshot& snapshot, TrackerTerm term, const Options& options, Time now)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->term = term;
  restore(*state_, snapshot, now);
}

LeaseMachine::~LeaseMachine() = default;

std::vector<Action> LeaseMachine::handle(const Event& event, Time now) {
  if (std::holds_alternative<TermLost>(event)) state_.reset();
  if (state_ == nullptr) return {};
  State& state = *state_;
  std::visit(
      [&](const auto& one) {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (!std::is_same_v<Kind, Tick> && !std::is_same_v<Kind, TermLost>) handle_event(state, one, now);
      },
      event);
  settle(state, now);
  return state.outbox.flush(state.term);
}

std::optional<Time> LeaseMachine::next_deadline() const {
  return state_ == nullptr ? std::nullopt : state_->timers.next();
}

}  // namespace ferry::farm
