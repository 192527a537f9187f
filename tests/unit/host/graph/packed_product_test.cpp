// Products with weights of few bits, compared with loops in double precision.
#include <doctest/doctest.h>

#include "tests/unit/host/graph/node_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace ferry;
using namespace ferry::graph;
using namespace ferry::test;

TEST_CASE(
    "the program of a product with weights of few bits unpacks them with the zero points and scales of their blocks") {
  struct Packing {
    std::int64_t bits;
    DType word;
    bool sums_blocks;
  };
  std::vector<Packing> packings;
  for (const bool sums_blocks : {false, true})
    for (const std::int64_t bits : {2, 4, 8})
      for (const DType word : {DType::u8, DType::u32}) packings.push_back({bits, word, sums_blocks});
  for (const auto [bits, word, sums_blocks] : packings) {
    const std::int64_t in_word = static_cast<std::int64_t>(dtype_bytes(word)) * 8 / bits, block = 16, blocks = 3,
                       most = std::int64_t{1} << bits;
    const Values x = random_values({5, block * blocks}, 1), scales = random_values({2, blocks, 7}, 3);
    Values w = integers({2, block * blocks / in_word, 7}, {}, word), zeros = integers({2, blocks, 7}, {}, DType::u8);
    const std::uint64_t words = word == DType::u8 ? 256 : std::uint64_t{1} << 32;
    for (std::size_t i = 0; i < count_of(w.shape); ++i)
      w.elements.push_back(static_cast<double>(i * 0x9e3779b97f4a7c15 % words));
    for (std::size_t i = 0; i < count_of(zeros.shape); ++i)
      zeros.elements.push_back(static_cast<double>(i * 5 % static_cast<std::size_t>(most)));
    const auto product = [&](const Index& i, bool has_zeros) {
      double sum = 0;
      for (std::int64_t k = 0; k < block * blocks; ++k) {
        const auto numbers = static_cast<std::int64_t>(w({i[1], k / in_word, i[2]}));
        const std::int64_t weight = (numbers >> (k % in_word * bits)) % most;
        const double zero = has_zeros ? zeros({i[1], k / block, i[2]}) : static_cast<double>(most / 2);
        sum += x({i[0], k}) * (static_cast<double>(weight) - zero) * scales({i[1], k / block, i[2]});
      }
      return sum;
    };
    const PackedMatmulAttributes packed = {bits, block, sums_blocks};
    check(run(Operator::packed_matmul, packed, {x, w, scales}), {5, 2, 7},
          [&](const Index& i) { return product(i, false); });
    check(run(Operator::packed_matmul, packed, {x, w, scales, zeros}), {5, 2, 7},
          [&](const Index& i) { return product(i, true); });
  }
}

TEST_CASE("the program of a product with int8 rows rounds them to 127ths of the largest in a block") {
  struct Packing {
    std::int64_t bits;
    DType number;
  };
  for (const auto [bits, number] : {Packing{2, DType::i8}, {4, DType::u8}, {4, DType::i8}, {8, DType::u8}}) {
    CAPTURE(bits);
    constexpr std::int64_t kBlock = 16, kBlocks = 3, kGroup = 4;
    const std::int64_t in_byte = 8 / bits, most = std::int64_t{1} << bits, words = kBlock / (in_byte * kGroup);
    Values x = random_values({5, kBlock * kBlocks}, 1);
    for (std::int64_t k = 0; k < kBlock; ++k) x.elements[static_cast<std::size_t>(k)] = 0;
    const Values scales = random_values({2, kBlocks, 7}, 3);
    Values w = integers({2, kBlocks * words, 7, kGroup}, {}, DType::u8),
           zeros = integers({2, kBlocks, 7}, {}, DType::u8);
    for (std::size_t i = 0; i < count_of(w.shape); ++i)
      w.elements.push_back(static_cast<double>(i * 0x9e3779b97f4a7c15 >> 56));
    for (std::size_t i = 0; i < count_of(zeros.shape); ++i)
      zeros.elements.push_back(static_cast<double>(i * 5 % static_cast<std::size_t>(most)));
    const auto product = [&](const Index& i, bool has_zeros) {
      double sum = 0;
      for (std::int64_t b = 0; b < kBlocks; ++b) {
        float largest = 0;
        for (std::int64_t k = 0; k < kBlock; ++k)
          largest = std::max(largest, std::abs(static_cast<float>(x({i[0], b * kBlock + k}))));
        const double zero = has_zeros ? zeros({i[1], b, i[2]}) : static_cast<double>(most / 2);
        for (std::int64_t k = 0; k < kBlock; ++k) {
          const float steps = largest > 0 ? 127 / largest : 0;
          const double rounded = std::nearbyint(static_cast<float>(x({i[0], b * kBlock + k})) * steps);
          const std::int64_t byte = k / in_byte, place = b * words + byte / kGroup;
          const auto numbers = static_cast<std::int64_t>(w({i[1], place, i[2], byte % kGroup}));
          const std::int64_t weight = (numbers >> (k % in_byte * bits)) % most;
          sum += rounded * largest / 127 * (static_cast<double>(weight) - zero) * scales({i[1], b, i[2]});
        }
      }
      return sum;
    };
    const PackedMatmulAttributes packed = {
        .bits = bits, .block = kBlock, .allows_int8 = true, .has_int8_rows = true, .number = number};
    check(run(Operator::packed_matmul, packed, {x, w, scales}), {5, 2, 7},
          [&](const Index& i) { return product(i, false); });
    check(run(Operator::packed_matmul, packed, {x, w, scales, zeros}), {5, 2, 7},
          [&](const Index& i) { return product(i, true); });
  }
}
