#include "ferry/fill.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "ferry/hash.h"

namespace ferry {
namespace {

constexpr DType kAll[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8,  DType::i16,    DType::i32,
                          DType::i64, DType::u8,   DType::u16, DType::u32, DType::u64, DType::boolean};

std::vector<std::uint8_t> filled(FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t first,
                                 std::uint64_t count) {
  std::vector<std::uint8_t> bytes(count * dtype_bytes(dtype));
  fill(kind, seed, dtype, first, count, bytes.data());
  return bytes;
}

template <class T>
std::vector<T> values(FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t first, std::uint64_t count) {
  std::vector<T> result(count);
  fill(kind, seed, dtype, first, count, result.data());
  return result;
}

TEST_CASE("random contents are these bits on every machine") {
  const auto random = [](DType dtype) { return to_hex(blake2b(filled(FillKind::random, 42, dtype, 0, 1000))); };
  const std::vector<float> first = values<float>(FillKind::random, 42, DType::f32, 0, 4);
  const std::vector<std::uint32_t> bits{std::bit_cast<std::uint32_t>(first[0]), std::bit_cast<std::uint32_t>(first[1]),
                                        std::bit_cast<std::uint32_t>(first[2]), std::bit_cast<std::uint32_t>(first[3])};
  CHECK(bits == std::vector<std::uint32_t>{0x3e976eb0u, 0x3f473a08u, 0xbf05b9f8u, 0x3f57a0eau});
  CHECK(random(DType::f16) == "9a8cda8ba5f294260fdc24cae826019a9cb45994ec6a85fc04bf155314ca190d");
  CHECK(random(DType::bf16) == "3789e0ad2aa6aa6f88135f105355d041c8dfb112a50b7c2b6c07b37a151e201d");
  CHECK(random(DType::f32) == "3ff04383a3242240c45adc6a96bf40b3147a6d2915d5f6aced307d2a6fd2ac06");
  CHECK(random(DType::f64) == "d1653ce85cdf31a0251ccd73ec14cc52c9cabfee84ac1c44596a2da257989052");
  CHECK(random(DType::i8) == "d630c89c12d5511b9bf32dac84d339a7752d836f2c9e18f8d6a76edbcbdb2898");
  CHECK(random(DType::i16) == "b83f2f5a43de2ddf654ac13c2743aa14eff3486a7ab506284322dca8b9ce0741");
  CHECK(random(DType::i32) == "c4111dc41c6ba4f56d46e1c2e7128d75609fb0da5da1edc6f1fbc968600d693b");
  CHECK(random(DType::i64) == "9ae6fecc48d6de7273c906c813f21986735fe2e924b8dd5cc01be95524ea5f8d");
  CHECK(random(DType::u8) == "a7b0d2cd1d4d7cc7ed2ef56c522c6ff38bdfa96d1d4aab6f7bf8a2c813506ce6");
  CHECK(random(DType::u16) == "432b4da2002e911660d943c47565662a5e591b89a349b808cd727ed6d707f6cd");
  CHECK(random(DType::u32) == "816608924b53a96b5d5880d663cfb7fda01ff564a7f21b8c63d199aa3e56d4d2");
  CHECK(random(DType::u64) == "3bc76b197738cb7ffc7f0965c6d8413dbed322e255c9a6814fbbaf57f3dcad7e");
  CHECK(random(DType::boolean) == "f57324f60d89df47e0b70aa8c10dff57e9a733c4ec94d5e89deaedc8cce3ac97");
}

TEST_CASE("an element depends on its number alone, also where 32 bits of it run over") {
  for (const DType dtype : kAll) {
    CAPTURE(dtype_name(dtype));
    for (const FillKind kind : {FillKind::ones, FillKind::iota, FillKind::random}) {
      const std::uint64_t start = (std::uint64_t{1} << 32) - 50;
      const std::vector<std::uint8_t> whole = filled(kind, 7, dtype, start, 100);
      std::vector<std::uint8_t> pieces;
      for (std::uint64_t i = 0; i < 100; i += 10) {
        const std::vector<std::uint8_t> piece = filled(kind, 7, dtype, start + i, 10);
        pieces.insert(pieces.end(), piece.begin(), piece.end());
      }
      CHECK(whole == pieces);
    }
  }
}

TEST_CASE("zeros, ones and iota are what they say in every type") {
  CHECK(filled(FillKind::zeros, 1, DType::f64, 3, 2) == std::vector<std::uint8_t>(16));
  CHECK(values<float>(FillKind::ones, 1, DType::f32, 3, 2) == std::vector<float>{1, 1});
  CHECK(values<std::uint16_t>(FillKind::ones, 1, DType::f16, 0, 1) == std::vector<std::uint16_t>{0x3c00});
  CHECK(values<std::uint16_t>(FillKind::ones, 1, DType::bf16, 0, 1) == std::vector<std::uint16_t>{0x3f80});
  CHECK(values<std::uint8_t>(FillKind::ones, 1, DType::boolean, 0, 2) == std::vector<std::uint8_t>{1, 1});
  CHECK(values<double>(FillKind::iota, 0, DType::f64, 0, 3) == std::vector<double>{0, 1, 2});
  CHECK(values<std::int8_t>(FillKind::iota, 0, DType::i8, 127, 3) == std::vector<std::int8_t>{127, -128, -127});
  CHECK(values<std::uint8_t>(FillKind::iota, 0, DType::boolean, 0, 3) == std::vector<std::uint8_t>{0, 1, 1});
  CHECK(values<std::uint16_t>(FillKind::iota, 0, DType::f16, 65520, 1) == std::vector<std::uint16_t>{0x7c00});
  CHECK(values<float>(FillKind::iota, 0, DType::f32, (1u << 24) + 1, 1) == std::vector<float>{16777216});
}

TEST_CASE("random numbers stay in their range, fill it and centre on its middle") {
  constexpr std::size_t kCount = 20000;
  const auto check_floats = [](const std::vector<double>& numbers) {
    double sum = 0;
    double least = 0;
    double most = 0;
    for (const double number : numbers) {
      sum += number;
      least = std::fmin(least, number);
      most = std::fmax(most, number);
    }
    CHECK(least >= -1);
    CHECK(least < -0.99);
    CHECK(most < 1);
    CHECK(most > 0.98);
    CHECK(std::fabs(sum / kCount) < 0.02);
  };
  const auto widened = []<class T>(const std::vector<T>& from, auto widen) {
    std::vector<double> to;
    for (const T value : from) to.push_back(widen(value));
    return to;
  };
  const auto same = [](auto value) { return static_cast<double>(value); };
  check_floats(widened(values<float>(FillKind::random, 5, DType::f32, 0, kCount), same));
  check_floats(widened(values<double>(FillKind::random, 5, DType::f64, 0, kCount), same));
  check_floats(widened(values<std::uint16_t>(FillKind::random, 5, DType::f16, 0, kCount), f16_to_f32));
  check_floats(widened(values<std::uint16_t>(FillKind::random, 5, DType::bf16, 0, kCount), bf16_to_f32));

  std::vector<int> seen(24);
  for (const std::int64_t value : values<std::int64_t>(FillKind::random, 5, DType::i64, 0, kCount)) {
    REQUIRE((value >= -8 && value <= 7));
    ++seen[static_cast<std::size_t>(value + 8)];
  }
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::abs(seen[i] - 1250) < 200);
  int ones = 0;
  for (const std::uint8_t value : values<std::uint8_t>(FillKind::random, 5, DType::boolean, 0, kCount)) {
    REQUIRE(value <= 1);
    ones += value;
  }
  CHECK(std::abs(ones - 10000) < 500);
  for (const std::uint8_t value : values<std::uint8_t>(FillKind::random, 5, DType::u8, 0, kCount)) REQUIRE(value <= 15);
}

TEST_CASE("neighbouring seeds give unrelated numbers") {
  constexpr std::size_t kCount = 20000;
  const std::vector<float> a = values<float>(FillKind::random, 5, DType::f32, 0, kCount);
  const std::vector<float> b = values<float>(FillKind::random, 6, DType::f32, 0, kCount);
  for (std::size_t shift = 0; shift < 4; ++shift) {
    double product = 0;
    for (std::size_t i = 0; i + shift < kCount; ++i) product += a[i] * b[i + shift];
    CAPTURE(shift);
    CHECK(std::fabs(3 * product / kCount) < 0.03);
  }
}

}  // namespace
}  // namespace ferry
