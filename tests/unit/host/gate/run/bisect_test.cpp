// Tests of finding the module that made a case slower, on this machine but by the rounds of its kernels, in a history
// that has modules which cannot be compared.
#include "host/gate/run/bisect.h"

#include <doctest/doctest.h>

#include "tests/unit/host/gate/run/fake_store.h"
#include "tests/unit/host/gate/run/sides.h"
#include "tests/unit/host/gate/run/times_by_rounds.h"

using namespace ferry;
using namespace ferry::gate;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string spin(int rounds) {
  return "for (int r = 0; r < " + std::to_string(rounds) +
         "; ++r) for (int i = 0; i < 64; ++i) y[i] = (r == 0 ? 0 : y[i]) * 0.5f + x[i];";
}

constexpr const char* kCrash = "*(volatile int*)8 = 1; y[0] = x[0];";

class History {
 public:
  History() {
    suite_.name = "suite";
    suite_case_ =
        test::case_of(folder_.file("f.c", test::kSignature + ("void f(const float* x, float* y) {" + spin(9) + "}")));
    const KernelSource source = read_kernel(test::own_compiler(), suite_case_.kernel);
    target_ = target_for(local_device(), "", source);
  }

  // Adds a commit whose kernel is this text, with the signature.
  void add_text(const std::string& label, const std::string& text) {
    const SuiteCase suite_case = test::case_of(folder_.file("g.c", text));
    const KernelSource source = read_kernel(test::own_compiler(), suite_case.kernel);
    const CompiledModule module = compile_kernel(source, "", target_, {}, {}, CodeForm::relinkable).module;
    add(label, store.put(module.bytes()));
  }
  void add_body(const std::string& label, const std::string& body) {
    add_text(label, test::kSignature + ("void f(const float* x, float* y) {" + body + "}"));
  }
  void add(const std::string& label, const Hash& module) {
    HistoryEntry entry;
    entry.name = suite_case_.name;
    entry.target = target_.text;
    entry.label = label;
    entry.module.module = module;
    entry.when = static_cast<std::int64_t>(store.entries.size());
    store.entries.push_back(entry);
  }

  Bisection bisect(const std::string& good, const std::string& bad, const Observer& observer = {}) {
    return gate::bisect(
        {.suite = suite_,
         .suite_case = suite_case_,
         .compiler = *test::own_compiler(),
         .store = store,
         .good = good,
         .bad = bad,
         .seed = 5,
         .measure = test::times_by_rounds("r < ")},
        [](const ConnectOptions& options) { return local_device(options); }, observer);
  }
  std::string mistake(const std::string& good, const std::string& bad) {
    try {
      bisect(good, bad);
    } catch (const UsageError& error) {
      return error.what();
    }
    FAIL("expected a UsageError");
    return {};
  }

  test::FakeStore store;

 private:
  test::Folder folder_;
  Suite suite_;
  SuiteCase suite_case_;
  Target target_;
};

std::vector<std::string> skipped(const Bisection& found) {
  std::vector<std::string> labels;
  for (const BisectStep& step : found.steps) {
    if (step.is_skipped) labels.push_back(step.label);
  }
  return labels;
}

}  // namespace

TEST_CASE("modules that crash, take other arguments, are damaged or lost are stepped past") {
  History history;
  history.add_body("c0", spin(400));
  history.add_body("c1", spin(401));
  history.add_text("c2",
                   "// ferry: f(in f32[64] x, in f32[64] z, out f32[64] y)\n"
                   "void f(const float* x, const float* z, float* y) { y[0] = x[0] + z[0]; }");
  history.add_body("c3", spin(402));
  history.add_body("c4", spin(1200));
  history.add_body("c5", kCrash);
  history.add_body("c6", spin(1201));
  history.add("c7", Hash{1, 2, 3});
  history.add_body("c8", spin(1202));
  std::vector<std::string> notes;
  Observer observer;
  observer.message = [&](const std::string& line) { notes.push_back(line); };
  const Bisection found = history.bisect("c0", "c8", observer);
  CAPTURE(found.reason);
  CHECK(found.failure == nullptr);
  CHECK(found.first_bad == "c4");
  CHECK(found.last_good == "c3");
  CHECK(found.candidates == std::vector<std::string>{"c4"});
  for (const std::string& label : skipped(found)) CHECK((label == "c2" || label == "c5" || label == "c7"));
  CHECK(notes.size() == skipped(found).size());
}

TEST_CASE("if only modules that cannot be compared are left, all of them may be the first slower one") {
  History history;
  history.add_body("c0", spin(400));
  history.add_body("c1", kCrash);
  history.add("c2", Hash{4, 5});
  history.add_body("c3", spin(1200));
  const Bisection found = history.bisect("c0", "c3");
  CHECK(found.first_bad.empty());
  CHECK(found.last_good == "c0");
  CHECK(found.candidates == std::vector<std::string>{"c1", "c2", "c3"});
  CHECK(found.reason ==
        "any of c1, c2, c3 may be the first slower one after c0, since all but the last of them cannot be "
        "compared");
  CHECK(skipped(found).size() == 2);
}

TEST_CASE("a bad module that cannot be compared and a good one that crashes or is lost say so") {
  History history;
  history.add_body("c0", spin(400));
  history.add_body("c1", kCrash);
  history.add_body("c2", spin(1200));
  history.add("c3", Hash{4, 5});
  history.add_body("c4", spin(1300));
  const Bisection found = history.bisect("c0", "c1");
  CHECK(found.first_bad.empty());
  CHECK(contains(found.reason, "c1: cannot be compared, "));
  const Bisection crashes = history.bisect("c1", "c2");
  REQUIRE(crashes.failure != nullptr);
  CHECK_THROWS_WITH_AS(std::rethrow_exception(crashes.failure),
                       doctest::Contains("the good one, c1, cannot be compared with: "), UsageError);
  CHECK(contains(history.mistake("c3", "c4"),
                 "the good one, c3, cannot be compared with: the store has no module of c3"));
}

TEST_CASE("a beginning of several names is a mistake that lists them, and a whole name is not") {
  History history;
  history.add("abc", Hash{1});
  history.add("abcd", Hash{2});
  history.add("abce", Hash{3});
  history.add("", Hash{4});
  CHECK(history.mistake("ab", "abce") ==
        "expected the name of one commit of f, got 'ab', with which 3 begin: abce, abcd, abc");
  CHECK(contains(history.mistake("abce", "abc"), "expected the good commit before the bad one, got abce"));
  CHECK(history.mistake("", "abc") == "expected a commit in the history of f, got an empty name");
  CHECK(history.mistake("x", "abc") == "the history of f has no commit 'x'; it begins at abc and ends at 040000000000");
  // Hashes of three modules begin with 0, which is not the name of one.
  CHECK(contains(history.mistake("0", "abc"), "4 begin"));
  CHECK(contains(history.mistake("0400", "abc"), "got 040000000000 that is not before abc"));
}

TEST_CASE("a history without an entry for the board says that it is empty") {
  History history;
  CHECK(history.mistake("a", "b") == "the history of f has no commit 'a'; it is empty");
}

TEST_CASE("a lost board ends the search with what was found until then") {
  History history;
  history.add_body("c0", spin(400));
  history.add_body("c1", spin(1200));
  History* const all = &history;
  int messages = 0;
  Observer observer;
  observer.step = [&](const std::string& what) -> StepGuard {
    if (contains(what, "pair 3")) throw Error(ErrorCode::unavailable, "the board is gone");
    ++messages;
    return nullptr;
  };
  const Bisection found = all->bisect("c0", "c1", observer);
  CHECK(messages > 0);
  REQUIRE(found.failure != nullptr);
  REQUIRE(found.steps.size() == 1);
  CHECK(found.steps.front().result.pairs.size() == 2);
  CHECK_THROWS_WITH(std::rethrow_exception(found.failure), "the board is gone");
}
