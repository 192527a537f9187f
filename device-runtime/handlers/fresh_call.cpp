#include "device-runtime/handlers/fresh_call.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device-runtime/measure/clock.h"
#include "module/fresh_inputs.h"

namespace ferry::device {
namespace {

// Lines of an input that are drawn anew before a call, at most: larger inputs change in part.
constexpr std::uint64_t kMostLines = (16 << 20) / kLineBytes;
// No cache foresees where the next line comes from.
constexpr std::uint64_t kLinesAhead = 16;
// Single elements that are replaced after that.
constexpr std::uint64_t kReplaced = 8, kFewReplaced = 3;
// Beside one timed window in so many there is another one in which only a few elements have changed: a kernel that
// looks at some elements does not notice. One that notices computes the changes alone, which counts as no time.
constexpr std::uint64_t kTimedWindows = 3;
constexpr std::size_t kAims = 16;
// The window of a witness in turns, and of a check, is one of the first 2^this.
constexpr std::uint64_t kDrawnWindowBits = 12;
// Windows of one call, of which the shortest counts.
constexpr std::size_t kAloneWindows = 9;
// All elements of the outputs are compared if they are few, and otherwise after one window in so many.
constexpr std::uint64_t kFewBytes = 16 << 10, kWholeWindows = 8;

// Whether it has two different elements.
bool varies(const std::uint8_t* memory, std::uint64_t bytes, std::size_t element) {
  return std::memcmp(memory, memory + element, static_cast<std::size_t>(bytes - element)) != 0;
}

std::uint64_t done(const std::vector<FreshCall::Beside>& all) {
  std::uint64_t bits = 0;
  for (std::size_t i = all.size(); i-- > 0;) bits = bits << 1 | (all[i].is_done ? 1 : 0);
  return bits;
}

}  // namespace

FreshCall::FreshCall(IsolatedCalls& isolated, std::size_t call, const CheckedCall& checked,
                     std::span<const OtherCall> others, const SecretSeed& seed, double rtol, std::function<void()> cool)
    : isolated_(isolated),
      call_(call),
      checked_(checked),
      others_(others),
      timed_(isolated.workload(call)),
      twin_(isolated.twin(call)),
      random_(seed),
      outputs_({seed.low ^ 1, seed.high}, rtol),
      cool_(std::move(cool)) {}

Status FreshCall::prepare() {
  turns_ = isolated_.sets(call_);
  for (std::size_t s = 0; s < turns_ + others_.size(); ++s) {
    const BoundCall& bound = s < turns_ ? checked_.bound : others_[s - turns_].bound;
    sets_.push_back({isolated_.arguments(call_, s), isolated_.twin_arguments(call_, s), &bound});
    CheckedCall of_set = checked_;
    of_set.arguments = sets_.back().arguments;
    of_set.bound = bound;
    FERRY_TRY(outputs_.add(s, of_set));
  }
  for (std::size_t p = 0; p < checked_.arguments.size(); ++p) {
    const ParameterInfo& parameter = checked_.info().parameters[p];
    const std::uint64_t bytes = checked_.bound.tensor_bytes[p];
    if (parameter.direction != Direction::in) output_bytes_ += bytes;
    const std::size_t element = dtype_bytes(parameter.dtype);
    const auto* named = static_cast<const std::uint8_t*>(isolated_.named(call_)[p].memory);
    if (may_get_fresh_contents(parameter) && bytes > element && varies(named, bytes, element))
      inputs_.push_back(
          {p, parameter.dtype, bytes / element, named, range_of(parameter.dtype, named, bytes / element)});
  }
  return {};
}

// Returns whether it has another value now.
bool FreshCall::replace_element(const Input& input, const Set& set) {
  const std::uint64_t at = random_.below(input.elements), from = random_.below(input.elements);
  auto* element = static_cast<std::uint8_t*>(set.arguments[input.parameter].memory) + at * input.element_bytes();
  const std::uint8_t* value = input.named + from * input.element_bytes();
  if (std::memcmp(element, value, input.element_bytes()) == 0) return false;
  std::memcpy(element, value, input.element_bytes());
  if (aims_.size() < kAims) aims_.push_back((static_cast<double>(at) + 0.5) / static_cast<double>(input.elements));
  return true;
}

// Draws successive lines, each from two lines of the input as the client gave it, from all over it with random steps
// between them. If they are to stay, writes them again, so that the caches hold the same.
void FreshCall::draw_lines(const Input& input, const Set& set, bool stay) {
  const std::uint64_t lines = input.elements * input.element_bytes() / kLineBytes;
  if (lines < 2) return;
  auto* const memory = static_cast<std::uint8_t*>(set.arguments[input.parameter].memory);
  std::uint64_t to = random_.below(lines), from = random_.below(lines);
  const std::uint64_t step = 1 + random_.below(lines - 1), count = std::min(lines, kMostLines);
  const auto next = [&](std::uint64_t line) { return line + step >= lines ? line + step - lines : line + step; };
  std::uint64_t ahead = from;
  for (std::uint64_t i = 0; i < kLinesAhead; ++i) ahead = next(ahead);
  const std::uint8_t* before = input.named + random_.below(lines) * kLineBytes;
  LineStream stream(random_);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint8_t* const line = memory + to * kLineBytes;
    if (stay) {
      auto* const byte = static_cast<volatile std::uint8_t*>(line);
      *byte = *byte;
    } else {
      __builtin_prefetch(input.named + ahead * kLineBytes);
      const std::uint8_t* const named = input.named + from * kLineBytes;
      stream.draw(input.dtype, input.range, named, std::exchange(before, named), line);
    }
    to = to + 1 == lines ? 0 : to + 1;
    from = next(from);
    ahead = next(ahead);
  }
}

void FreshCall::renew(const Set& set, Change change) {
  aims_.clear();
  const bool few = change == Change::few_elements;
  for (const Input& input : inputs_) {
    draw_lines(input, set, few);
    const std::uint64_t wanted = std::min(few ? kFewReplaced : kReplaced, input.elements / 4 + 1);
    std::uint64_t replaced = 0;
    for (std::uint64_t i = 0; i < 4 * wanted && replaced < wanted; ++i) replaced += replace_element(input, set) ? 1 : 0;
  }
}

std::int32_t FreshCall::run() {
  std::int64_t elapsed_ns = 0;
  return first_call(elapsed_ns);
}

std::int32_t FreshCall::first_call(std::int64_t& elapsed_ns) { return sample_windows(1, elapsed_ns, false); }

std::int32_t FreshCall::sample(std::uint64_t calls, std::int64_t& elapsed_ns) {
  return sample_windows(calls, elapsed_ns, true);
}

void FreshCall::draw_windows(std::vector<Beside>& all, std::uint64_t samples) {
  for (Beside& one : all) {
    std::uint64_t most = samples;
    // An early window as likely as a late one, however many there will be.
    if (random_.below(2) == 0) most = std::uint64_t{1} << random_.below(kDrawnWindowBits + 1);
    one.window = random_.below(std::max<std::uint64_t>(most, 1));
  }
}

void FreshCall::take(std::vector<Beside> witnesses, std::vector<Beside> checks, bool in_turns, std::uint64_t samples) {
  witnesses_ = std::move(witnesses);
  checks_ = std::move(checks);
  if (in_turns) draw_windows(witnesses_, samples);
  draw_windows(checks_, samples);
}

void FreshCall::copy(const std::vector<DeviceArgument>& from, const std::vector<DeviceArgument>& to,
                     const BoundCall& bound, unsigned what) {
  for (std::size_t p = 0; p < to.size(); ++p) {
    const ParameterInfo& parameter = checked_.info().parameters[p];
    const std::uint64_t bytes = bound.tensor_bytes[p];
    const unsigned kind = parameter.direction == Direction::in    ? parameter.is_constant ? 0 : kInputs
                          : parameter.direction == Direction::out ? kOutputs
                                                                  : kInouts;
    if (!to[p].is_scalar && bytes != 0 && (what & kind) != 0)
      std::memcpy(to[p].memory, from[p].memory, static_cast<std::size_t>(bytes));
  }
}

// After a timed window of so many calls.
void FreshCall::keep_witnesses(std::uint64_t calls) {
  for (Beside& witness : witnesses_) {
    if (witness.window == kAny ? random_.below(timed_windows_ + 1) != 0 : witness.window != timed_windows_) continue;
    copy(sets_[(first_ + random_.below(calls)) % turns_].arguments, witness.arguments, checked_.bound,
         kInputs | kOutputs | kInouts);
    witness.is_done = true;
  }
}

// Runs so many calls with the next sets in turn, and looks at what they wrote.
std::int32_t FreshCall::run_window(std::uint64_t calls, Change change, std::int64_t& elapsed_ns, Beside* check) {
  first_ = static_cast<std::size_t>(random_.below(turns_));
  for (std::uint64_t i = 0; i < calls; ++i) {
    const std::size_t set = (first_ + i) % turns_;
    renew(sets_[set], change);
    outputs_.prepare(set, aims_);
  }
  Calls window{first_, calls, check};
  if (check != nullptr) {
    window.turn = (first_ + random_.below(calls)) % turns_;
    window.checked = check->other == 0 ? window.turn : turns_ + check->other - 1;
    if (check->other != 0) outputs_.prepare(window.checked);
    copy(check->arguments, sets_[window.checked].arguments, *sets_[window.checked].bound, kInputs | kInouts);
  }
  if (cool_) cool_();
  if (const std::int32_t result = timed_.sample(calls, first_, window.exchange(), elapsed_ns); result != 0)
    return result;
  const std::int32_t result = inspect(window);
  if (check != nullptr) {
    copy(sets_[window.checked].arguments, check->arguments, *sets_[window.checked].bound, kOutputs | kInouts);
    check->is_done = true;
    // The next inputs are drawn from the client's contents, in part.
    if (check->other == 0)
      copy(isolated_.named(call_), sets_[window.checked].arguments, checked_.bound, kInputs | kInouts);
  }
  return result;
}

std::int32_t FreshCall::run_untimed(std::uint64_t calls, Change change, Beside* check) {
  std::int64_t elapsed_ns = 0;
  timed_.counters().stop();
  const std::int32_t result = run_window(calls, change, elapsed_ns, check);
  timed_.counters().start();
  return result;
}

std::int32_t FreshCall::sample_windows(std::uint64_t calls, std::int64_t& elapsed_ns, bool is_timed) {
  std::int64_t begin = now_ns();
  elapsed_ns = 0;
  was_interrupted_ = is_unwritten_ = is_wrong_ = false;
  std::int32_t result = 0;
  while (calls > 0 && result == 0) {
    const std::uint64_t window = std::min<std::uint64_t>(calls, turns_);
    // A sample is as long as others without its checks.
    const std::int64_t checks_begin = now_ns();
    for (std::size_t i = 0; i < checks_.size() && is_timed && result == 0; ++i)
      if (checks_[i].window == timed_windows_) result = run_untimed(window, Change::lines, &checks_[i]);
    begin += now_ns() - checks_begin;
    if (is_timed && result == 0 && random_.below(kTimedWindows) == 0)
      result = run_untimed(window, Change::few_elements);
    if (result != 0) break;
    std::int64_t window_ns = 0;
    result = run_window(window, Change::lines, window_ns);
    if (is_timed && result == 0) {
      keep_witnesses(window);
      ++timed_windows_;
      window_calls_ = window;
    }
    elapsed_ns += window_ns;
    was_interrupted_ = was_interrupted_ || *timed_.was_interrupted();
    calls -= window;
  }
  unwritten_ += is_unwritten_;
  wrong_ += is_wrong_;
  beside_ns_ = now_ns() - begin - elapsed_ns;
  return result;
}

std::int32_t FreshCall::finish_checks() {
  bool is_finished = true;
  for (Beside& check : checks_) {
    if (check.is_done) continue;
    check.window = timed_windows_;
    is_finished = false;
  }
  std::int64_t elapsed_ns = 0;
  return is_finished ? 0 : sample(window_calls_, elapsed_ns);
}

void FreshCall::restore_for_twin(std::size_t set, const Calls& calls) {
  const bool is_checked = calls.check != nullptr && set == calls.checked;
  const std::vector<DeviceArgument>& from = is_checked ? calls.check->arguments : isolated_.named(call_);
  copy(from, sets_[set].of_twin, *sets_[set].bound, kInouts);
}

std::int32_t FreshCall::inspect(const Calls& calls) {
  const auto set_of = [&](std::uint64_t i) {
    const std::size_t set = (calls.first + i) % turns_;
    return calls.check != nullptr && set == calls.turn ? calls.checked : set;
  };
  for (std::uint64_t i = 0; i < calls.count; ++i) is_unwritten_ |= !outputs_.were_written(set_of(i));
  // Not after the first window: what a kernel computes first must differ in both processes.
  if (windows_++ == 0 || random_.below(2) == 0) return 0;
  for (std::uint64_t i = 0; i < calls.count; ++i) restore_for_twin(set_of(i), calls);
  std::int64_t elapsed_ns = 0;
  if (const std::int32_t result = twin_.sample(calls.count, calls.first, calls.exchange(), elapsed_ns); result != 0)
    return result;
  const bool whole = output_bytes_ * calls.count <= kFewBytes || random_.below(kWholeWindows) == 0;
  for (std::uint64_t i = 0; i < calls.count; ++i)
    is_wrong_ |= !outputs_.are_equal(set_of(i), sets_[set_of(i)].of_twin, whole);
  return 0;
}

std::int32_t FreshCall::call_alone(double& least_s) {
  if (turns_ == 1) return 0;
  std::int64_t least_ns = 0;
  for (std::size_t i = 0; i < kAloneWindows; ++i) {
    std::int64_t window_ns = 0;
    if (const std::int32_t result = first_call(window_ns); result != 0) return result;
    least_ns = i == 0 ? window_ns : std::min(least_ns, window_ns);
  }
  least_s = static_cast<double>(least_ns) * 1e-9;
  return 0;
}

std::int32_t FreshCall::run_as_named() {
  for (const Input& input : inputs_)
    std::memcpy(sets_[0].arguments[input.parameter].memory, input.named,
                static_cast<std::size_t>(input.elements * input.element_bytes()));
  outputs_.prepare(0);
  std::int64_t elapsed_ns = 0;
  const std::int32_t result = timed_.sample(1, 0, elapsed_ns);
  if (result == 0) unwritten_ += outputs_.were_written(0) ? 0 : 1;
  return result;
}

void FreshCall::add_counts(Samples& samples) const {
  samples.unwritten += unwritten_;
  samples.changed += wrong_;
  const std::uint64_t witnessed = done(witnesses_);
  samples.witnessed = (witnessed & 1) != 0;
  samples.more_witnessed = witnessed >> 1;
  samples.checked = done(checks_);
  samples.sets = static_cast<std::uint32_t>(turns_);
}

}  // namespace ferry::device
