// Tests of calls of other sizes between those that are timed.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/fresh_inputs.h"

namespace ferry::test {
namespace {

TEST_CASE_FIXTURE(FreshInputs, "a check of other sizes takes the place of a call, and nothing of it is left behind") {
  for (const std::int64_t count : {1, 7, 1009, 300'007}) {
    for (const std::size_t calls : {std::size_t{1}, std::size_t{2}}) {
      CAPTURE(count);
      CAPTURE(calls);
      const std::vector<float> given = numbers(count);
      const auto upload = [&] { return client.upload(given); };
      rpc::Evaluate request = evaluation("add", {});
      request.calls.clear();
      for (std::size_t i = 0; i < calls; ++i)
        request.calls.push_back(
            {module, "add", {tensor(upload(), {count}), tensor(upload(), {count}), tensor(upload(), {count})}});
      request.options.threads = 2;
      // One check of the same size, behind which those of others are.
      for (std::size_t i = 0; i < calls; ++i)
        request.options.check_buffers.insert(request.options.check_buffers.end(), {upload(), upload(), upload()});
      struct Other {
        std::uint64_t count;
        rpc::Handle c;
      };
      std::vector<Other> others;
      for (const std::uint64_t other : {std::uint64_t{1}, std::uint64_t{13}, static_cast<std::uint64_t>(count) + 1}) {
        for (std::size_t i = 0; i < calls; ++i) {
          const auto filled = [&](float value) { return client.upload(std::vector<float>(other, value)); };
          others.push_back({other, filled(-1)});
          request.options.check_calls.insert(
              request.options.check_calls.end(),
              {filled(static_cast<float>(other) + 0.5F), other, filled(0.25F), other, others.back().c, other});
        }
      }
      const auto reply = client.must(request).reply;
      REQUIRE(reply.calls.size() == calls);
      const bool isolated = is_isolated(reply.environment);
      for (const Samples& samples : reply.calls) {
        check_right(samples);
        CHECK(samples.checked == (isolated ? 15 : 0));
      }
      for (const Other& other : others) {
        const float sum = isolated ? static_cast<float>(other.count) + 0.75F : -1;
        CHECK(client.download<float>(other.c, other.count) == std::vector<float>(other.count, sum));
      }
      for (const rpc::Call& call : request.calls) {
        const auto sums = client.download<float>(call.arguments[2].buffer, given.size());
        for (std::size_t e = 0; e < sums.size(); ++e) REQUIRE(sums[e] == given[e] + given[e]);
      }
    }
  }
}

TEST_CASE_FIXTURE(FreshInputs,
                  "a check of other sizes has numbers of its own, and gives tensors their contents twice") {
  constexpr std::int64_t kCount = 1009;
  const std::vector<float> given = numbers(kCount), other(77, 1e6F);
  const auto a = client.upload(given);
  rpc::Evaluate request = evaluation("scale", {scalar(3.0F), tensor(a, {kCount})});
  std::vector<rpc::Handle> checks;
  for (const float factor : {2.0F, 5.0F, 0.5F}) {
    checks.push_back(client.upload(other));
    request.options.check_calls.insert(request.options.check_calls.end(),
                                       {scalar(factor).scalar_bits, checks.back(), other.size()});
  }
  const auto reply = client.must(request).reply;
  check_right(reply.calls.at(0));
  const bool isolated = is_isolated(reply.environment);
  CHECK(reply.calls[0].checked == (isolated ? 7 : 0));
  const float found[] = {2e6F, 5e6F, 5e5F};
  for (std::size_t i = 0; i < checks.size(); ++i)
    CHECK(client.download<float>(checks[i], other.size()) ==
          std::vector<float>(other.size(), isolated ? found[i] : 1e6F));
  CHECK(client.download<float>(a, given.size())[5] == 3 * given[5]);
}

TEST_CASE_FIXTURE(FreshInputs, "checks of other sizes that are no calls of the function are refused") {
  const auto upload = [&](std::int64_t count) { return client.upload(numbers(count)); };
  for (const std::string wrong : {"nothing", "few", "nowhere", "short", "unequal", "negative", "many"}) {
    CAPTURE(wrong);
    rpc::Evaluate request =
        evaluation("add", {tensor(upload(64), {64}), tensor(upload(64), {64}), tensor(upload(64), {64})});
    std::vector<std::uint64_t>& words = request.options.check_calls;
    words = {upload(9), 9, upload(9), 9, upload(9), 9};
    if (wrong == "few") words.pop_back();
    if (wrong == "nowhere") words[2] = 999'999;
    if (wrong == "short") words[4] = upload(8);
    if (wrong == "unequal") words[3] = 8;
    if (wrong == "negative") words[1] = words[3] = words[5] = ~std::uint64_t{0};
    if (wrong == "many")
      for (int i = 1; i < 65; ++i)
        for (std::size_t w = 0; w < 6; ++w) words.push_back(std::uint64_t{words[w]});
    CHECK(client.ask(request).status.is_ok() == (wrong == "nothing"));
  }
}

}  // namespace
}  // namespace ferry::test
