// fuzz --minutes N [--seed S] [--cases N] [--tries N] [--refusals]: runs random cases until the time is over. Failures
// are shrunk and printed as tests, slow cases as they are; the last line is a summary.
#include "tests/fuzz/cases/run_case.h"
#include "tests/fuzz/cases/shrink.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>

using namespace ferry::fuzz;

namespace {

struct Options {
  double minutes = 1;
  std::uint64_t seed = 1'000'000;
  std::uint64_t cases = ~std::uint64_t{0};
  int tries = 400;  // attempts at shrinking a failure
  bool refusals = false;
};

[[noreturn]] void usage() {
  std::fprintf(stderr, "usage: fuzz [--minutes N] [--seed S] [--cases N] [--tries N] [--refusals]\n");
  std::exit(2);
}

double number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0)) usage();
  return value;
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--refusals") {
      options.refusals = true;
      continue;
    }
    if (i + 1 == count) usage();
    const char* const value = words[++i];
    if (word == "--minutes")
      options.minutes = number(value);
    else if (word == "--seed")
      options.seed = static_cast<std::uint64_t>(number(value));
    else if (word == "--cases")
      options.cases = static_cast<std::uint64_t>(number(value));
    else if (word == "--tries")
      options.tries = static_cast<int>(number(value));
    else
      usage();
  }
  return options;
}

// Returns the message without the names and numbers of the case.
std::string kind_of_refusal(const std::string& sentence) {
  std::string kind;
  bool quoted = false;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    if (sentence[i] == '\'') {
      // A quote may also end a plural possessive, as in "another's"; names never contain one.
      const bool begins = !quoted && (i == 0 || std::isalnum(static_cast<unsigned char>(sentence[i - 1])) == 0);
      if (begins || quoted) {
        kind += quoted ? "" : "'...'";
        quoted = !quoted;
        continue;
      }
    }
    if (!quoted) kind += std::isdigit(static_cast<unsigned char>(sentence[i])) != 0 ? '#' : sentence[i];
  }
  return kind;
}

}  // namespace

int main(int count, char** words) {
  const Options options = parse(count, words);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.minutes * 60);
  std::uint64_t cases = 0, failures = 0, directives = 0, slow = 0;
  std::map<std::string, std::pair<std::uint64_t, std::string>> refusals;
  while (std::chrono::steady_clock::now() < end && cases < options.cases) {
    const auto [fuzz_case, outcome] = run_seed(options.seed + cases++);
    directives += outcome.directives.size();
    for (const auto& [directive, sentence] : outcome.refusals) {
      auto& entry = refusals[kind_of_refusal(sentence)];
      ++entry.first;
      entry.second = directive + "\n      " + sentence;
    }
    if (!outcome.slow.empty()) {
      ++slow;
      std::printf("seed %llu: too slow or too large in %s\n%s\n",
                  static_cast<unsigned long long>(options.seed + cases - 1), outcome.slow.front().c_str(),
                  as_test(fuzz_case).c_str());
    }
    if (!outcome.is_failure()) continue;
    ++failures;
    std::printf("seed %llu: %s in %s: %s\n", static_cast<unsigned long long>(fuzz_case.seed), outcome.kind.c_str(),
                outcome.step.c_str(), outcome.message.c_str());
    std::fflush(stdout);
    const Shrunk shrunk = shrink(fuzz_case, outcome, options.tries);
    std::printf("%s in %s: %s\n%s\n", shrunk.outcome.kind.c_str(), shrunk.outcome.step.c_str(),
                shrunk.outcome.message.c_str(), as_test(shrunk.fuzz_case).c_str());
    std::fflush(stdout);
  }
  std::uint64_t refused = 0;
  for (const auto& [kind, entry] : refusals) {
    refused += entry.first;
    if (options.refusals)
      std::printf("%6llu %s\n      %s\n", static_cast<unsigned long long>(entry.first), kind.c_str(),
                  entry.second.c_str());
  }
  std::printf("%llu cases from seed %llu, %llu directives, %llu refusals of %zu kinds, %llu slow, %llu failures\n",
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(directives), static_cast<unsigned long long>(refused), refusals.size(),
              static_cast<unsigned long long>(slow), static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}
