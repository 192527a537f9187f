#include "host/kernel/argument_spec.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("a type with sizes is a random tensor") {
  const ArgumentSpec spec = parse_argument("A=f32[64,128]");
  CHECK(spec.name == "A");
  CHECK(spec.dtype == DType::f32);
  CHECK(spec.shape == Shape{64, 128});
  CHECK(spec.kind == FillKind::random);
  CHECK(!spec.number);
}

TEST_CASE("contents stand after a colon, with or without a type") {
  CHECK(parse_argument("A=f32[8]:zeros").kind == FillKind::zeros);
  CHECK(parse_argument("A=int8[8]:iota").dtype == DType::i8);
  const ArgumentSpec bare = parse_argument("A=:ones");
  CHECK(bare.kind == FillKind::ones);
  CHECK(!bare.dtype);
  CHECK(!bare.shape);
}

TEST_CASE("a distribution stands after a colon like other contents") {
  const ArgumentSpec spec = parse_argument("I=i32[8,4]:below(N)");
  CHECK(spec.shape == Shape{8, 4});
  CHECK(spec.distribution.value().kind == DistributionKind::below);
  CHECK(spec.distribution.value().parameters == std::vector<std::string>{"N"});
  CHECK(parse_argument("A=:normal").distribution.value().kind == DistributionKind::normal);
  CHECK(parse_argument("A=f32[4]:uniform(-1,1)").distribution.value().parameters ==
        std::vector<std::string>{"-1", "1"});
}

TEST_CASE("a type without sizes is a tensor of rank 0") {
  CHECK(parse_argument("a=f32").shape == Shape{});
  CHECK(parse_argument("a=f32[]").shape == Shape{});
}

TEST_CASE("files and numbers") {
  CHECK(parse_argument("A=@dir/a=b.npy").file == "dir/a=b.npy");
  CHECK(parse_argument("n=5").number == Argument::Scalar(std::int64_t{5}));
  CHECK(parse_argument("n=9223372036854775807").number == Argument::Scalar(std::int64_t{9223372036854775807}));
  CHECK(parse_argument("n=9223372036854775808").number == Argument::Scalar(std::uint64_t{1} << 63));
  CHECK(parse_argument("n=18446744073709551615").number == Argument::Scalar(~std::uint64_t{0}));
  CHECK(parse_argument("n=18446744073709551616").number == Argument::Scalar(0x1p64));
  CHECK(parse_argument("n=-1.5e3").number == Argument::Scalar(-1500.0));
  CHECK(parse_argument("flag=true").number == Argument::Scalar(std::int64_t{1}));
}

TEST_CASE("what is none of these is shown with what was expected") {
  for (const char* text : {"A", "=f32[1]", "A=", "A=f32[64,", "A=f32[a]", "A=f32[-1]", "A=f32[4]]", "A=@", "n=5x",
                           "A=f32[99999999999999999999]"}) {
    CAPTURE(text);
    try {
      parse_argument(text);
      FAIL("expected an OptionError");
    } catch (const OptionError& error) {
      CHECK(error.option() == Option::argument);
      CHECK(std::string(error.what()).starts_with(std::string(text) + ": expected NAME="));
    }
  }
}

TEST_CASE("an element type and contents that do not exist are named, with those that do") {
  CHECK_THROWS_WITH_AS(parse_argument("A=f33[4]:ones"),
                       "A=f33[4]:ones: expected an element type, one of f16, bf16, f32, f64, i8, i16, i32, i64, u8, "
                       "u16, u32, u64, bool; got 'f33'",
                       OptionError);
  for (const std::string contents : {"twos", "below(0)", ""}) {
    CHECK_THROWS_WITH_AS(parse_argument("A=f32[4]:" + contents),
                         ("A=f32[4]:" + contents +
                          ": expected contents such as zeros, ones, iota, below(N), uniform(A,B), full, normal or "
                          "normal(MEAN,DEVIATION) after the colon, got '" +
                          contents + "'")
                             .c_str(),
                         OptionError);
  }
}

TEST_CASE("a name may contain '=', if a parameter has it or nothing else makes sense") {
  const ArgumentSpec known = parse_argument("in=put=3", {"in", "in=put"});
  CHECK(known.name == "in=put");
  CHECK(std::get<std::int64_t>(*known.number) == 3);
  CHECK(parse_argument("in=@put=x.npy", {"in"}).file == "put=x.npy");
  CHECK(parse_argument("in=put=f32[2]:ones").name == "in=put");
  CHECK(parse_argument("A=@a=b.npy").file == "a=b.npy");
  CHECK_THROWS_WITH_AS(parse_argument("A=f33[4]=1", {"A"}),
                       "A=f33[4]=1: expected an element type, one of f16, bf16, f32, f64, i8, i16, i32, i64, u8, "
                       "u16, u32, u64, bool; got 'f33'",
                       OptionError);
}

TEST_CASE("a size below 0 or beyond 2^63 is told as that") {
  CHECK_THROWS_WITH_AS(parse_sizes({"M=-4,N=2"}), "M=-4: expected a size of at least 0", OptionError);
  CHECK_THROWS_WITH_AS(parse_sizes({"M=99999999999999999999"}), "M=99999999999999999999: expected a size below 2^63",
                       OptionError);
  CHECK_THROWS_WITH_AS(parse_sizes({"M=4.5"}), "M=4.5: expected NAME=SIZE such as M=512, several with commas between",
                       OptionError);
}

TEST_CASE("a mistake in a size names the option that the size was given for") {
  for (const Option option : {Option::size, Option::fixed_size}) {
    try {
      parse_sizes({"M=four"}, option);
      FAIL("expected an OptionError");
    } catch (const OptionError& error) {
      CHECK(error.option() == option);
    }
  }
}

TEST_CASE("sizes come in one text or several, and must agree") {
  CHECK(parse_sizes({"M=512,N=256", "K=1"}) == std::map<std::string, std::int64_t>{{"M", 512}, {"N", 256}, {"K", 1}});
  CHECK_THROWS_WITH_AS(parse_sizes({"M=1", "M=2"}), "M: expected one value, got 1 and 2", OptionError);
  CHECK_THROWS_WITH_AS(parse_sizes({"M"}), "M: expected NAME=SIZE such as M=512, several with commas between",
                       UsageError);
  CHECK_THROWS_AS(parse_sizes({"M=-1"}), UsageError);
}
