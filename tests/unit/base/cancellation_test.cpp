#include "base/cancellation.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>

#include "base/parallel_for.h"
#include "ferry/error.h"

namespace ferry {
namespace {

std::optional<ErrorCode> code_of(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST_CASE("work is cancelled once the innermost scope says so, and in no other thread") {
  bool outer = false, inner = false;
  const IsCancelled asks_outer = [&] { return outer; }, asks_inner = [&] { return inner; };
  CHECK_FALSE(code_of(check_cancelled));
  const CancellationScope scope(&asks_outer);
  outer = true;
  CHECK(code_of(check_cancelled) == ErrorCode::aborted);
  {
    const CancellationScope another(&asks_inner);
    CHECK_FALSE(code_of(check_cancelled));
    inner = true;
    CHECK(code_of(check_cancelled) == ErrorCode::aborted);
    const CancellationScope none(nullptr);
    CHECK_FALSE(code_of(check_cancelled));
  }
  inner = false;
  CHECK(code_of(check_cancelled) == ErrorCode::aborted);
  std::optional<ErrorCode> elsewhere = ErrorCode::ok;
  std::thread([&] { elsewhere = code_of(check_cancelled); }).join();
  CHECK_FALSE(elsewhere);
}

TEST_CASE("threads that share the work of a cancelled one begin nothing more") {
  std::atomic<bool> cancelled{false};
  std::atomic<std::size_t> begun{0}, asked{0};
  const IsCancelled asks = [&] { return cancelled.load(); };
  const CancellationScope scope(&asks);
  const auto loop = [&] {
    parallel_for(1'000'000, [&](std::size_t i) {
      ++begun;
      if (i == 100) cancelled = true;
      if (current_cancellation() == &asks) ++asked;
    });
  };
  CHECK(code_of(loop) == ErrorCode::aborted);
  CHECK(begun >= 101);
  CHECK(begun < 1'000'000);
  CHECK(asked == begun);
}

}  // namespace
}  // namespace ferry
