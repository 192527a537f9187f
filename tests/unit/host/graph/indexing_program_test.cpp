// The results of the programs of operators whose indices are data, compared with loops in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "tests/unit/host/graph/node_values.h"

namespace ferry::test {
namespace {

TEST_CASE("the programs that find the place of the greatest and the least element take the first of equal ones") {
  const Values x = integers({2, 4}, {1, 5, 5, 0, 7, 2, 2, 9});
  const ReduceAttributes along{{1}, false};
  check(run(Operator::arg_max, along, {x}), {2}, [](const Index& i) { return i[0] == 0 ? 1 : 3; });
  check(run(Operator::arg_min, along, {x}), {2}, [](const Index& i) { return i[0] == 0 ? 3 : 1; });
  check(run(Operator::arg_max, ReduceAttributes{{0}, true}, {x}), {1, 4},
        [](const Index& i) { return i[1] == 0 || i[1] == 3 ? 1 : 0; });
}

TEST_CASE("the program that ranks elements keeps the order of equal ones and counts NaN as the greatest") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Values x{{2, 4}, DType::f32, {3, 1, 3, 2, nan, 5, -1, nan}};
  const std::vector<double> ascending{2, 0, 3, 1, 2, 1, 0, 3}, descending{0, 3, 1, 2, 0, 2, 3, 1};
  const auto entry = [](const std::vector<double>& all) {
    return [&all](const Index& i) { return all[static_cast<std::size_t>(i[0] * 4 + i[1])]; };
  };
  check(run(Operator::sort_rank, SortAttributes{1, false}, {x}), {2, 4}, entry(ascending));
  check(run(Operator::sort_rank, SortAttributes{1, true}, {x}), {2, 4}, entry(descending));
}

TEST_CASE("the program of the first elements of lines keeps the order of equal ones and counts NaN as the greatest") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Values x{{2, 4}, DType::f32, {3, 1, 3, 2, nan, 5, -1, nan}};
  const std::vector<double> greatest{0, 2, 3, 0, 3, 1}, least{1, 3, 0, 2, 1, 0};
  const auto entry = [](const std::vector<double>& all) {
    return [&all](const Index& i) { return all[static_cast<std::size_t>(i[0] * 3 + i[1])]; };
  };
  check(run(Operator::top_k, TopKAttributes{3, true}, {x}), {2, 3}, entry(greatest));
  check(run(Operator::top_k, TopKAttributes{3, false}, {x}), {2, 3}, entry(least));
}

TEST_CASE("passes, networks and networks of groups find the same first elements as a sort") {
  const Values x = random_values({2, 1100}, 7);
  for (const std::int64_t count : {1, 3, 16, 17, 20, 300, 1100}) {
    CAPTURE(count);
    const Values got = run(Operator::top_k, TopKAttributes{count, true}, {x});
    for (std::int64_t row = 0; row < 2; ++row) {
      std::vector<std::int64_t> order(1100);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) { return x({row, i}) > x({row, j}); });
      for (std::int64_t i = 0; i < count; ++i)
        REQUIRE(got({row, i}) == static_cast<double>(order[static_cast<std::size_t>(i)]));
    }
  }
}

TEST_CASE(
    "the programs of cumulative sums and products combine elements from either end, with or without the own one") {
  const Values x = integers(
      {2, 5, 3}, {1, 2, 3, 1, 2, 1, 1, -1, 3, 2, 2, 2, -3, 1, 1, 3, 2, 1, 1, 1, 2, 2, 3, 1, 1, -2, 1, 1, 3, 2});
  for (std::size_t dimension = 0; dimension < 3; ++dimension)
    for (const bool exclusive : {false, true})
      for (const bool backwards : {false, true})
        for (const bool is_sum : {false, true}) {
          CAPTURE(dimension);
          CAPTURE(exclusive);
          CAPTURE(backwards);
          CAPTURE(is_sum);
          const auto expected = [&](const Index& i) {
            double value = is_sum ? 0 : 1;
            Index at = i;
            for (at[dimension] = 0; at[dimension] < x.shape[dimension]; ++at[dimension]) {
              const bool counts = backwards ? at[dimension] >= i[dimension] : at[dimension] <= i[dimension];
              if (!counts || (exclusive && at[dimension] == i[dimension])) continue;
              value = is_sum ? value + x(at) : value * x(at);
            }
            return value;
          };
          check(run(is_sum ? Operator::cumulative_sum : Operator::cumulative_prod,
                    CumulativeAttributes{dimension, exclusive, backwards}, {x}),
                {2, 5, 3}, expected);
        }
}

TEST_CASE("the program of cumulative sums of half precision rounds each of them once") {
  const Values x{{4000}, DType::f16, std::vector<double>(4000, 1)};
  // Above 2048, float16 has the even integers only.
  check(run(Operator::cumulative_sum, CumulativeAttributes{0, false, false}, {x}), {4000}, [](const Index& i) {
    const std::int64_t sum = i[0] + 1;
    return static_cast<double>(sum <= 2048 || sum % 2 == 0 ? sum : sum % 4 == 1 ? sum - 1 : sum + 1);
  });
}

TEST_CASE("the program that gathers single elements counts negative indices from the end and broadcasts") {
  const Values x = random_values({2, 3, 4}, 1),
               indices = integers({2, 2, 4}, {0, 1, 2, -1, 2, 2, 0, 1, -3, -2, 1, 0, 2, 1, 0, -1});
  const auto counted = [](double index) { return static_cast<std::int64_t>(index < 0 ? index + 3 : index); };
  check(run(Operator::gather_elements, DimensionAttributes{1}, {x, indices}), {2, 2, 4},
        [&](const Index& i) { return x({i[0], counted(indices(i)), i[2]}); });
  const Values line = integers({1, 2, 1}, {2, -3});
  check(run(Operator::gather_elements, DimensionAttributes{1}, {x, line}), {2, 2, 4},
        [&](const Index& i) { return x({i[0], counted(line({0, i[1], 0})), i[2]}); });
}

TEST_CASE("the program that scatters replaces elements by the last update, or combines them with all") {
  const Values x = random_values({2, 4}, 1), updates = random_values({2, 5}, 2),
               indices = integers({2, 5}, {1, -1, 1, 4, -9, 0, 2, 2, 2, 3});
  using Combine = std::function<double(double, double)>;
  const auto scattered = [&](const Index& i, const Combine& combine) {
    double value = x(i);
    for (std::int64_t k = 0; k < 5; ++k) {
      const double index = indices({i[0], k});
      if ((index < 0 ? index + 4 : index) == static_cast<double>(i[1])) value = combine(value, updates({i[0], k}));
    }
    return value;
  };
  const auto each = [&](ScatterMode mode, const Combine& combine) {
    check(run(Operator::scatter, ScatterAttributes{1, mode}, {x, indices, updates}), {2, 4},
          [&](const Index& i) { return scattered(i, combine); });
  };
  each(ScatterMode::replace, [](double, double update) { return update; });
  each(ScatterMode::add, [](double value, double update) { return value + update; });
  each(ScatterMode::mul, [](double value, double update) { return value * update; });
  each(ScatterMode::minimum, [](double value, double update) { return std::min(value, update); });
  each(ScatterMode::maximum, [](double value, double update) { return std::max(value, update); });
  const Values rows = integers({2, 1}, {1, 1}), values = random_values({2, 4}, 3);
  check(run(Operator::scatter, ScatterAttributes{0, ScatterMode::add}, {x, rows, values}), {2, 4},
        [&](const Index& i) { return x(i) + (i[0] == 1 ? values({0, i[1]}) + values({1, i[1]}) : 0); });
}

TEST_CASE("the program that counts takes the number of its elements from a size") {
  check(run(Operator::iota, IotaAttributes{3}, {}), {3}, [](const Index& i) { return static_cast<double>(i[0]); });
  NetworkBuilder network;
  const Size n = Size::symbol("N");
  network.input("x", {n});
  network.node(Operator::iota, {}, IotaAttributes{n * 2});
  const GroupKernel kernel = kernel_of(network.graph, {{0}});
  CHECK(to_text(kernel.sizes.at(0)) == "N*2");
  CHECK(group_program(kernel.key, "kernel").parameters.size() == 2);
}

}  // namespace
}  // namespace ferry::test
