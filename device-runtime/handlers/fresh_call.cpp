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
// The window of a witness in turns is one of the first 2^this.
constexpr std::uint64_t kWitnessWindowBits = 12;
// Windows of one call, of which the shortest counts.
constexpr std::size_t kAloneWindows = 9;
// All elements of the outputs are compared if they are few, and otherwise after one window in so many.
constexpr std::uint64_t kFewBytes = 16 << 10, kWholeWindows = 8;

// Whether it has two different elements.
bool varies(const std::uint8_t* memory, std::uint64_t bytes, std::size_t element) {
  return std::memcmp(memory, memory + element, static_cast<std::size_t>(bytes - element)) != 0;
}

}  // namespace

FreshCall::FreshCall(IsolatedCalls& isolated, std::size_t call, const CheckedCall& checked, const SecretSeed& seed,
                     double rtol, std::function<void()> cool)
    : isolated_(isolated),
      call_(call),
      checked_(checked),
      timed_(isolated.workload(call)),
      twin_(isolated.twin(call)),
      random_(seed),
      outputs_({seed.low ^ 1, seed.high}, rtol),
      cool_(std::move(cool)) {}

Status FreshCall::prepare() {
  for (std::size_t s = 0; s < isolated_.sets(call_); ++s) {
    sets_.push_back({isolated_.arguments(call_, s), isolated_.twin_arguments(call_, s)});
    checked_.arguments = sets_.back().arguments;
    FERRY_TRY(outputs_.add(s, checked_));
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

void FreshCall::witness(std::span<const DeviceArgument> into, bool in_turns, std::uint64_t samples) {
  witness_.assign(into.begin(), into.end());
  if (!in_turns) return;
  std::uint64_t most = samples;
  // An early window as likely as a late one, however many there will be.
  if (random_.below(2) == 0) most = std::uint64_t{1} << random_.below(kWitnessWindowBits + 1);
  witness_window_ = random_.below(std::max<std::uint64_t>(most, 1));
}

bool FreshCall::is_witness_window() {
  const std::uint64_t window = timed_windows_++;
  return witness_window_ ? window == *witness_window_ : random_.below(window + 1) == 0;
}

void FreshCall::keep_witness(std::size_t first, std::uint64_t window) {
  const Set& set = sets_[(first + random_.below(window)) % sets_.size()];
  for (std::size_t p = 0; p < witness_.size(); ++p) {
    const std::uint64_t bytes = checked_.bound.tensor_bytes[p];
    if (!witness_[p].is_scalar && !checked_.info().parameters[p].is_constant && bytes != 0)
      std::memcpy(witness_[p].memory, set.arguments[p].memory, static_cast<std::size_t>(bytes));
  }
  witnessed_ = true;
}

// Runs so many calls with the next sets in turn, and checks them.
std::int32_t FreshCall::run_window(std::uint64_t calls, Change change, bool may_be_witness, std::int64_t& elapsed_ns) {
  const auto first = static_cast<std::size_t>(random_.below(sets_.size()));
  for (std::uint64_t i = 0; i < calls; ++i) {
    const std::size_t set = (first + i) % sets_.size();
    renew(sets_[set], change);
    outputs_.prepare(set, aims_);
  }
  if (cool_) cool_();
  const std::int32_t result = timed_.sample(calls, first, elapsed_ns);
  if (result != 0) return result;
  if (may_be_witness && !witness_.empty() && is_witness_window()) keep_witness(first, calls);
  return inspect(first, calls);
}

std::int32_t FreshCall::sample_windows(std::uint64_t calls, std::int64_t& elapsed_ns, bool is_timed) {
  const std::int64_t begin = now_ns();
  elapsed_ns = 0;
  was_interrupted_ = is_unwritten_ = is_wrong_ = false;
  std::int32_t result = 0;
  while (calls > 0 && result == 0) {
    const std::uint64_t window = std::min<std::uint64_t>(calls, sets_.size());
    std::int64_t window_ns = 0;
    if (is_timed && random_.below(kTimedWindows) == 0) {
      timed_.counters().stop();
      result = run_window(window, Change::few_elements, false, window_ns);
      timed_.counters().start();
      if (result != 0) break;
    }
    result = run_window(window, Change::lines, is_timed, window_ns);
    elapsed_ns += window_ns;
    was_interrupted_ = was_interrupted_ || *timed_.was_interrupted();
    calls -= window;
  }
  unwritten_ += is_unwritten_;
  wrong_ += is_wrong_;
  beside_ns_ = now_ns() - begin - elapsed_ns;
  return result;
}

void FreshCall::restore_for_twin(const Set& set) {
  for (std::size_t p = 0; p < set.of_twin.size(); ++p) {
    const std::uint64_t bytes = checked_.bound.tensor_bytes[p];
    if (checked_.info().parameters[p].direction == Direction::inout && bytes != 0)
      std::memcpy(set.of_twin[p].memory, isolated_.named(call_)[p].memory, static_cast<std::size_t>(bytes));
  }
}

std::int32_t FreshCall::inspect(std::size_t first, std::uint64_t calls) {
  const auto set_of = [&](std::uint64_t i) { return (first + i) % sets_.size(); };
  for (std::uint64_t i = 0; i < calls; ++i) is_unwritten_ |= !outputs_.were_written(set_of(i));
  // Not after the first window: what a kernel computes first must differ in both processes.
  if (windows_++ == 0 || random_.below(2) == 0) return 0;
  for (std::uint64_t i = 0; i < calls; ++i) restore_for_twin(sets_[set_of(i)]);
  std::int64_t elapsed_ns = 0;
  if (const std::int32_t result = twin_.sample(calls, first, elapsed_ns); result != 0) return result;
  const bool whole = output_bytes_ * calls <= kFewBytes || random_.below(kWholeWindows) == 0;
  for (std::uint64_t i = 0; i < calls; ++i)
    is_wrong_ |= !outputs_.are_equal(set_of(i), sets_[set_of(i)].of_twin, whole);
  return 0;
}

std::int32_t FreshCall::call_alone(double& least_s) {
  if (sets_.size() == 1) return 0;
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
  samples.witnessed = witnessed_;
  samples.sets = static_cast<std::uint32_t>(sets_.size());
}

}  // namespace ferry::device
