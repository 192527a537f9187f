#include "host/text/chart.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace ferry::chart;
using Labels = std::vector<std::string>;

TEST_CASE("an axis has a width and a few round ticks whatever it shows") {
  const std::vector<std::vector<double>> cases = {
      {},           {0},          {1e-3},  {1e-300, 1e-300}, {1, 1 + 1e-15},
      {1e-9, 3e-9}, {0.97, 1.03}, {-5, 5}, {1e9, 1e9 + 1},   {1e6, 2e6, 3e6}};
  for (const std::vector<double>& values : cases) {
    CAPTURE(values.size());
    const Axis axis = axis_around(values, 100, 500);
    CHECK(axis.high > axis.low);
    for (const double value : values) {
      CHECK(axis.place(value) >= 100);
      CHECK(axis.place(value) <= 500);
    }
    const std::vector<double> ticks = axis.ticks(6);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 13);
    CHECK(std::ranges::is_sorted(ticks));
    CHECK(ticks.front() >= axis.low);
    CHECK(ticks.back() <= axis.high);
  }
}

TEST_CASE("ticks are multiples of one, two or five times a power of ten") {
  for (double width = 1e-7; width < 1e7; width *= 1.37) {
    const std::vector<double> ticks = Axis{3, 3 + width, 0, 1}.ticks(6);
    REQUIRE(ticks.size() >= 3);
    const double step = ticks[1] - ticks[0];
    const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-4));
    CAPTURE(width);
    CAPTURE(mantissa);
    CHECK(std::min({std::abs(mantissa - 1), std::abs(mantissa - 2), std::abs(mantissa - 5)}) < 1e-4);
  }
}

TEST_CASE("a value far away does not squeeze the others, and is drawn at the end") {
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back(1 + 0.001 * i);
  values.push_back(1000);
  const Axis axis = axis_around(values, 0, 100);
  CHECK(axis.high < 1.2);
  CHECK(axis.place(1000) == 100);
  CHECK(axis.place(1.029) - axis.place(1) > 25);
}

TEST_CASE("an axis of values that are not negative begins at 0 or later") {
  CHECK(axis_around({1e-3, 0.1}, 0, 1).low == 0);
  CHECK(axis_around({0, 5}, 0, 1).low == 0);
  CHECK(axis_around({0.9, 1}, 0, 1).low > 0.8);
  CHECK(axis_around({-1, 1}, 0, 1).low < -1);
}

TEST_CASE("a logarithmic axis places equal ratios at equal distances") {
  const Axis axis{1e-6, 1e-2, 400, 0, Scale::logarithmic};
  CHECK(axis.place(1e-6) == 400);
  CHECK(axis.place(1e-5) == doctest::Approx(300));
  CHECK(axis.place(1e-4) == doctest::Approx(200));
  CHECK(axis.place(1e-2) == 0);
  CHECK(axis.place(2e-5) - axis.place(4e-5) == doctest::Approx(axis.place(1e-3) - axis.place(2e-3)));
  CHECK(axis.place(1e-9) == 400);
  CHECK(axis.place(1) == 0);
  CHECK(axis.place(0) == 400);
}

TEST_CASE("a logarithmic axis has ticks at one, two and five times powers of ten, or only at these if they are many") {
  const auto ticks_of = [](double low, double high) { return Axis{low, high, 0, 1, Scale::logarithmic}.ticks(6); };
  const auto are = [](const std::vector<double>& found, const std::vector<double>& expected) {
    CAPTURE(expected.front());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-12));
  };
  are(ticks_of(0.9, 60), {1, 2, 5, 10, 20, 50});
  are(ticks_of(1e-6, 1e-2), {1e-6, 1e-5, 1e-4, 1e-3, 1e-2});
  are(ticks_of(2e-10, 3e10), {1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9});
  // Few of them lie in a small range.
  are(ticks_of(2.5, 8.5), {3, 4, 5, 6, 7, 8});
}

TEST_CASE("a logarithmic axis has a width and a few round ticks whatever it shows") {
  const std::vector<std::vector<double>> cases = {
      {},           {0, -1},     {1e-3},          {1e-300, 1e-300}, {1, 1 + 1e-15},
      {1e-9, 3e-9}, {1e-9, 1e9}, {1, 2, 3, 1e12}, {1e-308, 1e308},  {1, 12}};
  for (const std::vector<double>& values : cases) {
    CAPTURE(values.size());
    const Axis axis = axis_around(values, 100, 500, Scale::logarithmic);
    CHECK(axis.low > 0);
    CHECK(axis.high > axis.low);
    for (int count = 1; count <= 8; ++count) {
      CAPTURE(count);
      const std::vector<double> ticks = axis.ticks(count);
      CHECK(ticks.size() <= 2 * count + 1);
      if (count >= 3) CHECK(ticks.size() >= 2);
      CHECK(std::ranges::is_sorted(ticks));
      for (const double tick : ticks) CHECK((tick >= axis.low && tick <= axis.high));
    }
  }
}

TEST_CASE("a logarithmic axis shows all positive values, also those far away") {
  const Axis axis = axis_around({1, 1.1, 1.2, 1.3, 1.4, 1e9, 0, -5}, 0, 100, Scale::logarithmic);
  CHECK(axis.low < 1);
  CHECK(axis.low > 0.1);
  CHECK(axis.high > 1e9);
  CHECK(axis.place(1e9) > 90);
  CHECK(axis.place(1e9) < 100);
}

TEST_CASE("values that span more than an order of magnitude suit a logarithmic scale if all are positive") {
  CHECK(scale_for({1, 11}) == Scale::logarithmic);
  CHECK(scale_for({1, 10}) == Scale::linear);
  CHECK(scale_for({0, 1, 100}) == Scale::linear);
  CHECK(scale_for({-1, 100}) == Scale::linear);
  CHECK(scale_for({}) == Scale::linear);
}

TEST_CASE("the labels of a logarithmic axis have units of their own") {
  const Axis axis{5e-7, 2, 0, 100, Scale::logarithmic};
  CHECK(labels_on(axis, {1e-6, 1e-4, 1e-2, 1}, time_labels) == Labels{"1 us", "100 us", "10 ms", "1 s"});
  CHECK(labels_on(axis, {0.2, 5, 1e6}, count_labels) == Labels{"0.2", "5", "1M"});
  CHECK(labels_on({0, 1, 0, 100}, {1e-6, 1}, time_labels) == time_labels({1e-6, 1}));
}

TEST_CASE("labels of counts are short and differ") {
  CHECK(count_labels({}).empty());
  CHECK(count_labels({0, 50, 100}) == Labels{"0", "50", "100"});
  CHECK(count_labels({99'000, 99'500}) == Labels{"99000", "99500"});
  CHECK(count_labels({100'350, 100'400}) == Labels{"100.35k", "100.40k"});
  CHECK(count_labels({1'227'000, 1'227'200}) == Labels{"1.2270M", "1.2272M"});
  CHECK(count_labels({2e9, 2.5e9}) == Labels{"2.0G", "2.5G"});
  CHECK(count_labels({3e13, 4e13}) == Labels{"30T", "40T"});
}

TEST_CASE("labels of times have the unit that suits the largest one") {
  CHECK(time_labels({0, 5e-10, 1e-9}) == Labels{"0.0 ns", "0.5 ns", "1.0 ns"});
  CHECK(time_labels({998e-9, 1000e-9}) == Labels{"0.998 us", "1.000 us"});
  CHECK(time_labels({0, 2e-3, 4e-3}) == Labels{"0 ms", "2 ms", "4 ms"});
  CHECK(time_labels({0.8, 1}) == Labels{"0.8 s", "1.0 s"});
  CHECK(time_labels({1.2345e-3, 1.2346e-3}) == Labels{"1.2345 ms", "1.2346 ms"});
  CHECK(time_labels({90, 100, 110}) == Labels{"90 s", "100 s", "110 s"});
  // One tick alone is written as exactly.
  CHECK(time_labels({2.5e-3}) == Labels{"2.5 ms"});
}

TEST_CASE("labels of changes have equal digits, and are percentages or multiples") {
  CHECK(change_labels({0.95, 1, 1.05, 1.1}) == Labels{"-5%", "0%", "+5%", "+10%"});
  CHECK(change_labels({0.995, 1, 1.005}) == Labels{"-0.5%", "0.0%", "+0.5%"});
  CHECK(change_labels({1 - 5e-7, 1, 1 + 5e-7}) == Labels{"-0.00005%", "0.00000%", "+0.00005%"});
  CHECK(change_labels({0, 1, 2}) == Labels{"-100%", "0%", "+100%"});
  CHECK(change_labels({0, 5, 10}) == Labels{"0", "x5", "x10"});
  CHECK(change_labels({200'000, 1'000'000}) == Labels{"x0.2M", "x1.0M"});
  CHECK(share_labels({0.95, 1, 1.05}) == Labels{"95%", "100%", "105%"});
  CHECK(share_labels({0, 0.025}) == Labels{"0.0%", "2.5%"});
}

TEST_CASE("a tick at 0 has no sign") {
  CHECK(time_labels({-0.0, 1e-3}) == Labels{"0 ms", "1 ms"});
  CHECK(count_labels({-0.0}) == Labels{"0"});
  CHECK(change_labels({std::nextafter(1.0, 0.0), 1.5}) == Labels{"0%", "+50%"});
  CHECK(share_labels(Axis{-0.1, 1, 0, 1}.ticks(6)).front() == "0%");
}

TEST_CASE("the labels of an axis write its ticks exactly, and all of them differ") {
  for (double width = 1e-5; width < 1e5; width *= 1.37) {
    CAPTURE(width);
    const std::vector<double> ticks = Axis{3, 3 + width, 0, 1}.ticks(6);
    const Labels labels = time_labels(ticks);
    const double unit = labels.back().ends_with(" ms") ? 1e-3 : 1;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      CHECK(std::abs(std::stod(labels[i]) * unit - ticks[i]) < 1e-3 * (ticks[1] - ticks[0]));
      CHECK(std::ranges::count(labels, labels[i]) == 1);
    }
  }
}

TEST_CASE("labels of rates have a unit with a prefix") {
  CHECK(flop_rate_labels({1e9, 2e9}) == Labels{"1 GFLOP/s", "2 GFLOP/s"});
  CHECK(flop_rate_labels({5e8, 1.5e9}) == Labels{"0.5 GFLOP/s", "1.5 GFLOP/s"});
  CHECK(byte_rate_labels({0, 20}) == Labels{"0 B/s", "20 B/s"});
  CHECK(byte_rate_labels({1000 * (1 - 1e-12)}) == Labels{"1 kB/s"});
  CHECK(byte_rate_labels({2e6}) == Labels{"2 MB/s"});
  CHECK(byte_rate_labels({3e12}) == Labels{"3 TB/s"});
}

TEST_CASE("ticks at given values are all of them, every second or every third, or as many as have room") {
  const Axis axis{0, 100, 50, 800};
  const auto labels_at = [&](const std::vector<double>& values, const std::string& label) {
    return horizontal_ticks(axis, Ticks{values, Labels(values.size(), label)}).values;
  };
  using Values = std::vector<double>;
  CHECK(labels_at({0, 10, 20, 30, 40, 50}, "2^10") == Values{0, 10, 20, 30, 40, 50});
  CHECK(labels_at({0, 5, 10, 15, 20, 25, 30}, "2^10") == Values{0, 10, 20, 30});
  CHECK(labels_at({0, 2, 4, 6, 8, 10, 12}, "2^10") == Values{0, 6, 12});
  CHECK(labels_at({0, 1, 2, 3, 30, 60, 90}, "2^10") == Values{0, 30, 60, 90});
  CHECK(labels_at({0}, "2^10") == Values{0});
  CHECK(labels_at({}, "").empty());
  // Labels stay inside of the image.
  CHECK(labels_at({0, 100}, "a long label indeed").empty());
}

TEST_CASE("markers are shapes with names, and begin again") {
  for (std::size_t i = 0; i < kMarkers; ++i) {
    CHECK(marker(i, 10, 10) == marker(i + kMarkers, 10, 10));
    CHECK(std::string(marker_name(i)) == marker_name(i + kMarkers));
    for (std::size_t other = 0; other < i; ++other) {
      CHECK(marker(i, 10, 10) != marker(other, 10, 10));
      CHECK(std::string(marker_name(i)) != marker_name(other));
    }
  }
}

TEST_CASE("an axis leaves room for the labels to its left") {
  ferry::html::Html html;
  CHECK(write_vertical_axis(html, {0, 6e-3, 200, 0}, time_labels, 800) == kLeft);
  CHECK(write_vertical_axis(html, {1'227'200, 1'227'200.6, 200, 0}, count_labels, 800) >= 110);
  const std::string text = html.take();
  CHECK(text.find(">3 ms<") != std::string::npos);
  CHECK(text.find(">1.2272003M<") != std::string::npos);
}

TEST_CASE("labels beneath an axis stay apart and inside of the image, also in larger letters") {
  constexpr double kCharacter = 11;
  const auto stay_apart = [](const Axis& axis) {
    const Ticks ticks = horizontal_ticks(axis, time_labels);
    REQUIRE(ticks.values.size() == ticks.labels.size());
    CHECK(ticks.values.size() >= 1);
    double last = 0;
    for (std::size_t i = 0; i < ticks.values.size(); ++i) {
      const double half = kCharacter * static_cast<double>(ticks.labels[i].size()) / 2;
      const double place = axis.place(ticks.values[i]);
      CHECK(place - half >= last);
      last = place + half;
    }
    CHECK(last <= kWidth);
  };
  for (const double middle : {1.2345e-9, 0.0123456, 1.0, 1234.5}) {
    for (double width = 1e-6; width < 1.9; width *= 1.7) {
      CAPTURE(middle);
      CAPTURE(width);
      stay_apart({middle * (1 - width / 2), middle * (1 + width / 2), kLeft, kWidth - kRight});
    }
    for (double ratio = 1.01; ratio < 1e15; ratio *= 1.7) {
      CAPTURE(middle);
      CAPTURE(ratio);
      stay_apart({middle, middle * ratio, kLeft, kWidth - kRight, Scale::logarithmic});
    }
  }
}
