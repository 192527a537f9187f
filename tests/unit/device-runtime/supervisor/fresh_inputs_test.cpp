// Tests of measurements whose calls get inputs that they have not seen.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/fresh_inputs.h"

namespace ferry::test {
namespace {

TEST_CASE_FIXTURE(FreshInputs, "calls with fresh inputs leave the client's tensors as one call does") {
  for (const std::int64_t count : {1, 7, 1000, 300'007}) {
    for (const std::uint32_t threads : {1U, 2U}) {
      for (const bool cold : {false, true}) {
        if (cold && count != 1000) continue;
        CAPTURE(count);
        CAPTURE(threads);
        CAPTURE(cold);
        const std::vector<float> given = numbers(count);
        const auto a = client.upload(given), b = client.upload(given);
        const auto c = client.upload(std::vector<float>(given.size(), -1));
        rpc::Evaluate request = evaluation("add", {tensor(a, {count}), tensor(b, {count}), tensor(c, {count})});
        request.options.threads = threads;
        request.options.cold = cold;
        if (cold) request.options.number = 1;
        const auto reply = client.must(request).reply;
        check_right(reply.calls.at(0));
        CHECK(reply.calls[0].seconds.size() == 12);
        for (const double seconds : reply.calls[0].seconds) CHECK(seconds > 0);
        // Sets of arguments for several calls fit the cache, except for the largest.
        CHECK((reply.calls[0].alone_s > 0) == (is_isolated(reply.environment) && !cold && count < 300'000));
        CHECK(reply.environment.fresh_inputs == (is_isolated(reply.environment) && count > 1));
        CHECK(client.download<float>(a, given.size()) == given);
        const auto sums = client.download<float>(c, given.size());
        for (std::size_t i = 0; i < given.size(); ++i) REQUIRE(sums[i] == given[i] + given[i]);
        for (const rpc::Handle buffer : {a, b, c}) client.must(rpc::Free{buffer});
      }
    }
  }
}

TEST_CASE_FIXTURE(FreshInputs, "a tensor that is read and written gets its contents back before each call") {
  for (const std::int64_t count : {1, 7, 5000}) {
    CAPTURE(count);
    const std::vector<float> given = numbers(count);
    const auto a = client.upload(given);
    const auto reply = client.must(evaluation("scale", {scalar(3.0F), tensor(a, {count})})).reply;
    check_right(reply.calls.at(0));
    CHECK_FALSE(reply.environment.fresh_inputs);  // there is no other input
    const auto scaled = client.download<float>(a, given.size());
    for (std::size_t i = 0; i < given.size(); ++i) CHECK(scaled[i] == 3 * given[i]);
  }
}

TEST_CASE_FIXTURE(FreshInputs, "inputs whose elements are all equal stay as they are, and the answer says so") {
  const std::vector<float> given(100, 2.5F);
  const auto a = client.upload(given), b = client.upload(given), c = client.upload(given);
  const auto reply = client.must(evaluation("add", {tensor(a, {100}), tensor(b, {100}), tensor(c, {100})})).reply;
  check_right(reply.calls.at(0));
  CHECK_FALSE(reply.environment.fresh_inputs);
}

TEST_CASE("without the memory for a second process, calls are isolated all the same") {
  FreshInputs fixture({"--threads", "1", "--sessions", "1", "--memory-limit", "48M"});
  constexpr std::int64_t kCount = 1'900'000;  // 7.6 MB; three of them twice are 45.6 MB
  const std::vector<float> given = numbers(kCount);
  const auto a = fixture.client.upload(given), b = fixture.client.upload(given), c = fixture.client.upload(given);
  const auto reply =
      fixture.client.must(fixture.evaluation("add", {tensor(a, {kCount}), tensor(b, {kCount}), tensor(c, {kCount})}))
          .reply;
  check_right(reply.calls.at(0));
  CHECK_FALSE(reply.environment.fresh_inputs);
  CHECK(is_isolated(reply.environment) == is_native());
}

TEST_CASE_FIXTURE(FreshInputs,
                  "a witness gets the arguments of one of the timed calls, the same one of calls in turns") {
  constexpr std::int64_t kCount = 1009;
  const std::vector<float> given = numbers(kCount);
  for (const std::size_t calls : {std::size_t{1}, std::size_t{2}}) {
    CAPTURE(calls);
    rpc::Evaluate request = evaluation("add", {});
    std::vector<rpc::Call> witnesses;
    request.calls.clear();
    const auto add = [&](rpc::Handle x, rpc::Handle y, rpc::Handle z) {
      return rpc::Call{module, "add", {tensor(x, {kCount}), tensor(y, {kCount}), tensor(z, {kCount})}};
    };
    for (std::size_t i = 0; i < calls; ++i) {
      const auto upload = [&] { return client.upload(given); };
      request.calls.push_back(add(upload(), upload(), upload()));
      witnesses.push_back(add(upload(), upload(), upload()));
    }
    request.options.witnesses = static_cast<std::uint32_t>(calls);
    request.calls.insert(request.calls.end(), witnesses.begin(), witnesses.end());
    const auto reply = client.must(request).reply;
    REQUIRE(reply.calls.size() == calls);
    std::vector<float> first;
    for (std::size_t i = 0; i < calls; ++i) {
      if (!is_isolated(reply.environment)) CHECK_FALSE(reply.calls[i].witnessed);
      // In turns it may be a window that did not come.
      if (calls == 1) CHECK(reply.calls[i].witnessed == is_isolated(reply.environment));
      if (!reply.calls[i].witnessed) continue;
      const auto tensor_of = [&](std::size_t p) {
        return client.download<float>(witnesses[i].arguments[p].buffer, given.size());
      };
      const std::vector<float> a = tensor_of(0), b = tensor_of(1), c = tensor_of(2);
      CHECK(a != given);
      for (std::size_t e = 0; e < c.size(); ++e) REQUIRE(c[e] == a[e] + b[e]);
      if (i == 0) first = a;
      CHECK(a == first);
    }
  }
}

TEST_CASE_FIXTURE(FreshInputs, "the inputs of a timed call are new all over, in values of the range that was given") {
  constexpr std::int64_t kCount = 2'500'013;  // 10 MB
  std::vector<float> given = numbers(kCount);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (i % 10 != 0) given[i] += 0.37F;
  const std::set<float> known(given.begin(), given.end());
  const auto upload = [&] { return client.upload(given); };
  rpc::Evaluate request = evaluation("add", {});
  request.calls.clear();
  for (std::size_t i = 0; i < 2; ++i)
    request.calls.push_back(
        {module, "add", {tensor(upload(), {kCount}), tensor(upload(), {kCount}), tensor(upload(), {kCount})}});
  request.options.number = 1;
  request.options.repeat = 3;
  request.options.witnesses = 1;
  const auto reply = client.must(request).reply;
  check_right(reply.calls.at(0));
  if (!reply.calls[0].witnessed) return;  // nothing is isolated here
  const auto drawn = client.download<float>(request.calls[1].arguments[0].buffer, given.size());
  std::size_t same = 0, unknown = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    REQUIRE(drawn[i] >= -3);
    REQUIRE(drawn[i] <= 996.37F);
    same += drawn[i] == given[i];
    unknown += !known.contains(drawn[i]);
  }
  CHECK(same < drawn.size() / 100);
  CHECK(unknown > drawn.size() * 85 / 100);
  CHECK(unknown < drawn.size() * 91 / 100);  // the others are integers
}

TEST_CASE_FIXTURE(FreshInputs, "equal seeds draw equal inputs for a call, and each half of a seed matters") {
  constexpr std::int64_t kCount = 1009;
  const std::vector<float> given = numbers(kCount);
  const auto drawn_by = [&](const SecretSeed& seed) {
    const auto upload = [&] { return client.upload(given); };
    rpc::Evaluate request = evaluation("add", {});
    request.calls.clear();
    for (std::size_t i = 0; i < 2; ++i)
      request.calls.push_back(
          {module, "add", {tensor(upload(), {kCount}), tensor(upload(), {kCount}), tensor(upload(), {kCount})}});
    request.options.poison = seed;
    request.options.witnesses = 1;
    const auto reply = client.must(request).reply;
    CHECK(reply.calls.at(0).witnessed == is_isolated(reply.environment));
    return client.download<float>(request.calls[1].arguments[0].buffer, given.size());
  };
  const std::vector<float> drawn = drawn_by({7, 7});
  CHECK(drawn_by({7, 7}) == drawn);
  if (drawn == given) return;  // nothing is isolated here
  CHECK(drawn_by({7, 8}) != drawn);
  CHECK(drawn_by({8, 7}) != drawn);
}

// Tensors of a call beside the timed ones.
struct Beside {
  rpc::Handle a, b, c;
};

TEST_CASE_FIXTURE(FreshInputs,
                  "further witnesses get the arguments of calls of their own, and of calls in turns the same") {
  constexpr std::int64_t kCount = 1009;
  constexpr std::size_t kMore = 5;
  const std::vector<float> given = numbers(kCount);
  for (const std::size_t calls : {std::size_t{1}, std::size_t{2}}) {
    CAPTURE(calls);
    rpc::Evaluate request = evaluation("add", {});
    request.calls.clear();
    const auto upload = [&] { return client.upload(given); };
    for (std::size_t i = 0; i < 2 * calls; ++i)
      request.calls.push_back(
          {module, "add", {tensor(upload(), {kCount}), tensor(upload(), {kCount}), tensor(upload(), {kCount})}});
    request.options.witnesses = static_cast<std::uint32_t>(calls);
    std::vector<Beside> more;
    for (std::size_t i = 0; i < kMore * calls; ++i) {
      const Beside& one = more.emplace_back(upload(), upload(), upload());
      for (const rpc::Handle buffer : {one.a, one.b, one.c}) request.options.witness_buffers.push_back(buffer);
    }
    const auto reply = client.must(request).reply;
    REQUIRE(reply.calls.size() == calls);
    for (const Samples& samples : reply.calls) {
      check_right(samples);
      if (!is_isolated(reply.environment)) CHECK(samples.more_witnessed == 0);
      if (calls == 1 && is_isolated(reply.environment)) CHECK(samples.more_witnessed == (1U << kMore) - 1);
      CHECK(samples.more_witnessed == reply.calls[0].more_witnessed);
      CHECK(samples.more_witnessed < 1U << kMore);
    }
    std::set<std::vector<float>> drawn;
    for (std::size_t i = 0; i < more.size(); ++i) {
      if ((reply.calls[0].more_witnessed >> (i / calls) & 1) == 0) continue;
      const auto a = client.download<float>(more[i].a, given.size()),
                 b = client.download<float>(more[i].b, given.size()),
                 c = client.download<float>(more[i].c, given.size());
      CHECK(a != given);
      for (std::size_t e = 0; e < c.size(); ++e) REQUIRE(c[e] == a[e] + b[e]);
      drawn.insert(a);
      if (i % calls != 0) CHECK(a == client.download<float>(more[i - 1].a, given.size()));
    }
    // In turns they may be of the same window.
    if (calls == 1 && is_isolated(reply.environment)) CHECK(drawn.size() > 1);
  }
}

TEST_CASE_FIXTURE(FreshInputs, "a check between timed calls has inputs of its own, and nothing of it is left behind") {
  for (const std::int64_t count : {1, 7, 1009, 300'007}) {
    for (const std::uint32_t repeat : {1U, 12U}) {
      CAPTURE(count);
      CAPTURE(repeat);
      constexpr std::size_t kChecks = 3;
      const std::vector<float> given = numbers(count);
      const auto upload = [&] { return client.upload(given); };
      rpc::Evaluate request =
          evaluation("add", {tensor(upload(), {count}), tensor(upload(), {count}), tensor(upload(), {count})});
      request.options.repeat = repeat;
      std::vector<Beside> checks;
      for (std::size_t i = 0; i < kChecks; ++i) {
        const auto other = [&](float value) { return client.upload(std::vector<float>(given.size(), value)); };
        const Beside& one = checks.emplace_back(other(static_cast<float>(i) + 1e6F), other(0.25F), other(-1));
        for (const rpc::Handle buffer : {one.a, one.b, one.c}) request.options.check_buffers.push_back(buffer);
      }
      const auto reply = client.must(request).reply;
      check_right(reply.calls.at(0));
      CHECK(reply.calls[0].checked == (is_isolated(reply.environment) ? (1U << kChecks) - 1 : 0));
      for (std::size_t i = 0; i < kChecks; ++i) {
        const float sum = static_cast<float>(i) + 1e6F + 0.25F;
        const auto c = client.download<float>(checks[i].c, given.size());
        CHECK(c == std::vector<float>(given.size(), is_isolated(reply.environment) ? sum : -1));
      }
      const auto sums = client.download<float>(request.calls[0].arguments[2].buffer, given.size());
      for (std::size_t e = 0; e < sums.size(); ++e) REQUIRE(sums[e] == given[e] + given[e]);
    }
  }
}

TEST_CASE_FIXTURE(FreshInputs, "a check gives a tensor that is read and written its contents, in both processes") {
  constexpr std::int64_t kCount = 1009;
  const std::vector<float> given = numbers(kCount), other(given.size(), 1e6F);
  const auto a = client.upload(given);
  rpc::Evaluate request = evaluation("scale", {scalar(3.0F), tensor(a, {kCount})});
  for (int i = 0; i < 8; ++i) request.options.check_buffers.push_back(client.upload(other));
  const auto reply = client.must(request).reply;
  check_right(reply.calls.at(0));
  CHECK(reply.calls[0].checked == (is_isolated(reply.environment) ? 255 : 0));
  for (const std::uint64_t buffer : request.options.check_buffers)
    CHECK(client.download<float>(buffer, given.size()) ==
          std::vector<float>(given.size(), is_isolated(reply.environment) ? 3e6F : 1e6F));
  CHECK(client.download<float>(a, given.size())[5] == 3 * given[5]);
}

TEST_CASE_FIXTURE(FreshInputs,
                  "buffers for calls beside the timed ones that are too few, too short or too many are refused") {
  constexpr std::int64_t kCount = 64;
  for (const std::string wrong : {"nothing", "few", "nowhere", "short", "many"}) {
    CAPTURE(wrong);
    const auto a = client.upload(numbers(kCount)), c = client.upload(numbers(kCount));
    for (auto list : {&BenchOptions::witness_buffers, &BenchOptions::check_buffers}) {
      rpc::Evaluate request = evaluation("add", {tensor(a, {kCount}), tensor(a, {kCount}), tensor(c, {kCount})});
      std::vector<std::uint64_t>& buffers = request.options.*list;
      buffers = {client.upload(numbers(kCount)), client.upload(numbers(kCount)), client.upload(numbers(kCount))};
      if (wrong == "few") buffers.pop_back();
      if (wrong == "nowhere") buffers[1] = 999'999;
      if (wrong == "short") buffers[2] = client.upload(numbers(kCount - 1));
      if (wrong == "many")
        for (int i = 1; i < 65; ++i) buffers.insert(buffers.end(), {buffers[0], buffers[1], buffers[2]});
      CHECK(client.ask(request).status.is_ok() == (wrong == "nothing"));
    }
  }
}

TEST_CASE_FIXTURE(FreshInputs, "witnesses that are not like the calls are refused") {
  constexpr std::int64_t kCount = 64;
  for (const std::string wrong : {"shorter", "unknown", "nowhere", "too many", "missing"}) {
    CAPTURE(wrong);
    const auto a = client.upload(numbers(kCount)), c = client.upload(numbers(kCount));
    rpc::Evaluate request = evaluation("add", {tensor(a, {kCount}), tensor(a, {kCount}), tensor(c, {kCount})});
    rpc::Call witness = request.calls[0];
    if (wrong == "shorter")
      for (rpc::Argument& argument : witness.arguments) argument.shape = {kCount - 1};
    if (wrong == "unknown") witness.function = "nothing";
    if (wrong == "nowhere") witness.arguments[2].buffer = 999;
    request.options.witnesses = 1;
    if (wrong != "missing") request.calls.push_back(witness);
    if (wrong == "too many") request.calls.push_back(witness);
    CHECK_FALSE(client.ask(request).status.is_ok());
  }
}

}  // namespace
}  // namespace ferry::test
