#include "host/verify/other_sizes.h"

#include <algorithm>
#include <functional>
#include <span>

#include "ferry/error.h"
#include "host/client/bind.h"
#include "host/kernel/call_inputs.h"
#include "host/stats/random.h"
#include "host/verify/same_parameters.h"

namespace ferry::verify {

namespace {

constexpr std::int64_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61};
constexpr std::int64_t kBesideBlocks[] = {3, 5, 7, 9, 15, 17, 31, 33, 63, 65};
// Functions of more sizes than this get those below kLargestOfMany, so that their tensors stay small.
constexpr std::size_t kFewSizes = 3;
constexpr std::int64_t kLargestOfMany = 18;
// Sizes that depend on each other are drawn again so often.
constexpr int kAttempts = 8;

// Throws Error (invalid_argument) if the function does not take these sizes.
CallPlan with_sizes(const FunctionInfo& info, const CallPlan& plan, const std::vector<std::int64_t>& sizes) {
  CallPlan changed = plan;
  changed.shapes = session::shapes_of(info, session::SymbolValues(sizes.begin(), sizes.end()), {});
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    if (!is_size(info, p)) continue;
    const auto symbol = std::ranges::find(info.symbols, info.parameters[p].name) - info.symbols.begin();
    changed.scalars[p] = sizes[static_cast<std::size_t>(symbol)];
  }
  changed.places.clear();
  changed.strides.clear();
  bind_plan(info, changed);
  for (std::size_t p = 0; p < info.parameters.size(); ++p)
    if (changed.contents[p].distribution)
      changed.contents[p].bytes = drawn_bytes(info, changed, p, changed.contents[p]);
  return changed;
}

std::string sizes_text(const FunctionInfo& info, const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (std::size_t s = 0; s < sizes.size(); ++s)
    text += (s > 0 ? "," : "") + info.symbols[s] + "=" + std::to_string(sizes[s]);
  return text;
}

bool reads_files(const FunctionInfo& info, const CallPlan& plan) {
  for (std::size_t p = 0; p < info.parameters.size(); ++p)
    if (!plan.contents[p].file.empty()) return true;
  return false;
}

}  // namespace

std::vector<CallOfOtherSizes> calls_of_other_sizes(const FunctionInfo& info, const CallPlan& plan, std::uint64_t seed) {
  std::vector<CallOfOtherSizes> calls;
  if (info.symbols.empty() || reads_files(info, plan)) return calls;
  stats::Random random(seed);
  const auto one_of = [&](std::span<const std::int64_t> sizes) {
    const bool has_few = info.symbols.size() <= kFewSizes;
    const auto end = has_few ? sizes.end() : std::ranges::upper_bound(sizes, kLargestOfMany);
    return sizes[random.below(static_cast<std::uint64_t>(end - sizes.begin()))];
  };
  const std::function<std::int64_t(std::int64_t)> kinds[] = {
      [](std::int64_t) { return 1; }, [&](std::int64_t) { return one_of(kPrimes); },
      [&](std::int64_t) { return one_of(kBesideBlocks); },
      [](std::int64_t size) { return std::max<std::int64_t>(size - 1, 1); },
      [](std::int64_t size) { return size + 1; }};
  for (const auto& kind : kinds) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::vector<std::int64_t> sizes;
      for (const std::int64_t size : plan.symbols) sizes.push_back(kind(size));
      if (sizes == plan.symbols) break;
      try {
        calls.push_back({sizes_text(info, sizes), with_sizes(info, plan, sizes)});
        break;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::invalid_argument) throw;  // otherwise it does not take these
      }
    }
  }
  return calls;
}

}  // namespace ferry::verify
