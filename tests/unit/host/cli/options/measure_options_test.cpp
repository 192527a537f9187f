#include "host/cli/options/measure_options.h"

#include <doctest/doctest.h>

#include "ferry/error.h"
#include "ferry/kernel/option_error.h"

using namespace ferry;
using bench::CoreKind;

namespace {

cli::SamplingCommand with_cores(const std::string& names) {
  cli::SamplingCommand command{bench::SamplingOptions{}};
  command.core_names = names;
  return command;
}

}  // namespace

TEST_CASE("cores are of a kind, or numbers, or any") {
  CHECK(cli::sampling_of(with_cores("big")).cores == CoreKind::big);
  CHECK(cli::sampling_of(with_cores("little")).cores == CoreKind::little);
  CHECK(cli::sampling_of(with_cores("any")).cores == CoreKind::any);
  const bench::SamplingOptions numbers = cli::sampling_of(with_cores("1"));
  CHECK(numbers.cores == CoreKind::any);
  CHECK(numbers.bench.cores == std::vector<std::uint32_t>{1});
  CHECK_THROWS_WITH_AS(cli::sampling_of(with_cores("huge")),
                       "expected 'any', 'big', 'little' or numbers such as 0,2-3, got 'huge'", OptionError);
}

TEST_CASE("the tolerance is typed in percent") {
  cli::SamplingCommand command{bench::SamplingOptions{}};
  command.tolerance_percent = 2;
  CHECK(cli::sampling_of(command).bench.tolerance == doctest::Approx(0.02));
}

TEST_CASE("options that contradict each other are named") {
  cli::SamplingCommand command{bench::SamplingOptions{}};
  command.bench.cold = true;
  command.bench.number = 4;
  CHECK_THROWS_WITH_AS(cli::sampling_of(command),
                       "--cold with --number 4: the second call of a sample would find the caches warm", UsageError);
}
