// Checks of kernels that are wrong in calls that are held against a definition.
#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/cheat_session.h"

namespace ferry::test {
namespace {

// A call beside the timed ones, which gets their tensors or gives it its own.
struct Beside {
  rpc::Handle x, y;
};

// Uploads tensors with these contents for so many, and adds their buffers.
std::vector<Beside> add_beside(CheatSession& session, std::size_t count, const std::vector<float>& input,
                               std::vector<std::uint64_t>& buffers) {
  std::vector<Beside> beside;
  for (std::size_t i = 0; i < count; ++i) {
    beside.push_back({session.client.upload(input), session.client.upload(std::vector<float>(kElements, -1))});
    buffers.push_back(beside.back().x);
    buffers.push_back(beside.back().y);
  }
  return beside;
}

bool is_square(CheatSession& session, const Beside& beside) {
  const auto x = session.client.download<float>(beside.x, kElements);
  const auto y = session.client.download<float>(beside.y, kElements);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::abs(y[i] - x[i] * x[i]) > 1e-5F * x[i] * x[i]) return false;
  return true;
}

}  // namespace

void check_inexact_cheats(const OpenClient& open) {
  constexpr std::size_t kBeside = 16;
  for (const Cheat& cheat : inexact_cheats()) {
    CAPTURE(std::string(cheat.description));
    CheatSession session(open);
    rpc::Evaluate request = session.request({cheat.function}, true);
    std::vector<float> large;
    for (std::int64_t i = 0; i < kElements; ++i) large.push_back(static_cast<float>(i) * 1e4F);
    std::vector<Beside> witnesses = add_beside(session, kBeside - 1, session.input, request.options.witness_buffers);
    const std::vector<Beside> checks = add_beside(session, kBeside, large, request.options.check_buffers);
    const Beside& first = witnesses.emplace_back(session.client.upload(session.input), session.client.upload(large));
    request.calls.push_back(
        {session.module, cheat.function, {tensor(first.x, {kElements}), tensor(first.y, {kElements})}});
    request.options.witnesses = 1;
    const auto answer = session.measure(request);
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    const Samples& samples = answer.reply.calls.at(0);
    CHECK(samples.witnessed);
    CHECK(samples.more_witnessed == (1U << (kBeside - 1)) - 1);
    CHECK(samples.checked == (1U << kBeside) - 1);
    CHECK(samples.unwritten == 0);
    std::size_t right = 0;
    for (const Beside& witness : witnesses) right += is_square(session, witness) ? 1 : 0;
    for (const Beside& check : checks) right += is_square(session, check) ? 1 : 0;
    CHECK(right < 2 * kBeside);
    for (const Beside& check : checks) CHECK(session.client.download<float>(check.x, kElements) == large);
  }
}

void check_size_cheats(const OpenClient& open) {
  constexpr std::uint64_t kSizes[] = {1, 7, 101, kElements - 1, kElements + 1};
  std::vector<const char*> kernels{"square"};
  for (const Cheat& cheat : size_cheats()) kernels.push_back(cheat.function);
  for (const char* const kernel : kernels) {
    CAPTURE(std::string(kernel));
    CheatSession session(open);
    rpc::Evaluate request = session.request({kernel}, true);
    std::vector<rpc::Handle> outputs;
    std::vector<float> x;
    for (std::int64_t i = 0; i <= kElements; ++i) x.push_back(static_cast<float>(i % 977) + 0.25F);
    for (const std::uint64_t size : kSizes) {
      const std::vector<float> some(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(size));
      outputs.push_back(session.client.upload(std::vector<float>(some.size(), -1)));
      request.options.check_calls.insert(request.options.check_calls.end(),
                                         {session.client.upload(some), size, outputs.back(), size});
    }
    const auto answer = session.measure(request);
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    const Samples& samples = answer.reply.calls.at(0);
    CHECK(samples.checked == (1U << std::size(kSizes)) - 1);
    CHECK(samples.unwritten == 0);
    std::size_t right = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto y = session.client.download<float>(outputs[i], kSizes[i]);
      bool is_right = true;
      for (std::size_t e = 0; e < y.size(); ++e) is_right = is_right && std::abs(y[e] - x[e] * x[e]) <= 1e-5F * y[e];
      right += is_right ? 1 : 0;
    }
    if (kernel == kernels.front()) {
      CHECK(samples.changed == 0);
      CHECK(right == outputs.size());
    } else {
      CHECK(right <= 1);
    }
  }
}

}  // namespace ferry::test
