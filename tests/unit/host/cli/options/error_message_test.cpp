// Tests of how the command line words errors about its options.
#include "host/cli/options/error_message.h"

#include <doctest/doctest.h>

#include "ferry/kernel/option_error.h"

using namespace ferry;
using cli::error_message;

TEST_CASE("an error about an option starts or ends with the option's name") {
  CHECK(error_message(OptionError(Option::size, "Q=1: mm has no size 'Q'")) == "--size Q=1: mm has no size 'Q'");
  CHECK(error_message(OptionError(Option::function, "mm.tc has several functions")) ==
        "mm.tc has several functions (--fn NAME)");
}

TEST_CASE("the option's name stands before the details on further lines") {
  CHECK(error_message(OptionError(Option::reference, "mm.ferry defines nothing\nmm.ferry:1: expected 'def'")) ==
        "mm.ferry defines nothing (--check-against FILE)\nmm.ferry:1: expected 'def'");
}

TEST_CASE("an option of one kernel of two has that kernel's name, where both have one") {
  CHECK(error_message(OptionError(Option::knob, "rows: expected NAME=VALUE", KernelOfPair::a)) ==
        "--knob-a rows: expected NAME=VALUE");
  CHECK(error_message(OptionError(Option::function, "two.tc has several functions", KernelOfPair::b)) ==
        "two.tc has several functions (--fn-b NAME)");
  CHECK(error_message(OptionError(Option::schedule, "expected one", KernelOfPair::a)) ==
        "expected one (--schedule-a FILE)");
  CHECK(error_message(OptionError(Option::size, "M=x: expected a size", KernelOfPair::b)) ==
        "--size M=x: expected a size");
}

TEST_CASE("other errors are told as they are") {
  CHECK(error_message(UsageError("cannot read 'a'")) == "cannot read 'a'");
}
