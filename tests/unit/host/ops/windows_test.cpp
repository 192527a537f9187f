// Convolution and pooling over any number of dimensions, with padding that differs between the sides.
#include "ferry/ops/convolution.h"
#include "ferry/ops/pooling.h"

#include "tests/unit/host/ops/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ferry;
using namespace ferry::ops;

namespace {

struct Movement {
  std::int64_t kernel, stride, dilation, before, after;
  std::int64_t extent() const { return dilation * (kernel - 1) + 1; }
};

Window window_of(const Movement& m) { return {m.stride, m.before, m.dilation, m.after}; }

// Calls `visit` with each point of a box.
void for_each_point(const std::vector<std::int64_t>& box,
                    const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> at(box.size());
  while (true) {
    visit(at);
    std::size_t d = box.size();
    while (d > 0 && ++at[d - 1] == box[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

double element(const Image& image, const std::vector<std::int64_t>& at) {
  std::size_t place = 0;
  for (std::size_t d = 0; d < at.size(); ++d)
    place = place * static_cast<std::size_t>(image.shape[d]) + static_cast<std::size_t>(at[d]);
  return static_cast<double>(image.values.at(place));
}

std::vector<std::int64_t> kernel_box(const std::vector<Movement>& moves) {
  std::vector<std::int64_t> box;
  for (const Movement& move : moves) box.push_back(move.kernel);
  return box;
}

// Returns the place that a point of the window reads in the image of output `i`; nothing outside of the image.
bool place_in(const Image& image, const std::vector<Movement>& moves, const std::vector<std::int64_t>& i,
              const std::vector<std::int64_t>& k, std::vector<std::int64_t>& at) {
  bool inside = true;
  for (std::size_t d = 0; d < moves.size(); ++d) {
    at[d + 2] = i[d + 2] * moves[d].stride + k[d] * moves[d].dilation - moves[d].before;
    inside &= at[d + 2] >= 0 && at[d + 2] < image.shape[d + 2];
  }
  return inside;
}

const std::vector<std::vector<Movement>> kMovements = {
    {{3, 1, 1, 1, 0}},
    {{4, 2, 2, 0, 3}},
    {{3, 2, 1, 0, 1}, {2, 1, 1, 1, 0}},
    {{2, 1, 3, 1, 2}, {3, 3, 1, 1, 1}},
    {{2, 2, 1, 0, 1}, {3, 1, 1, 1, 1}, {2, 1, 2, 1, 0}},
};

std::vector<std::int64_t> image_shape(std::size_t spatial) {
  std::vector<std::int64_t> shape{2, 4};
  for (std::size_t d = 0; d < spatial; ++d) shape.push_back(7 + static_cast<std::int64_t>(d));
  return shape;
}

std::vector<Expr> expressions(const std::vector<std::int64_t>& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

TEST_CASE("convolutions over one, two and three dimensions pad each side by itself") {
  for (const std::vector<Movement>& moves : kMovements) {
    for (const std::int64_t groups : {1, 2}) {
      CAPTURE(moves.size());
      CAPTURE(groups);
      const std::vector<std::int64_t> shape = image_shape(moves.size());
      std::vector<std::int64_t> kernel_shape{6, 4 / groups}, result{2, 6};
      std::vector<Window> windows;
      for (std::size_t d = 0; d < moves.size(); ++d) {
        kernel_shape.push_back(moves[d].kernel);
        windows.push_back(window_of(moves[d]));
        result.push_back((shape[d + 2] + moves[d].before + moves[d].after - moves[d].extent()) / moves[d].stride + 1);
      }
      const Tensor x = input(expressions(shape), "X"), k = input(expressions(kernel_shape), "K");
      const Image image = random_image(shape, 1), kernel = random_image(kernel_shape, 2);
      check_elements(evaluate(conv(x, k, windows, "Y", groups), {x, k}, {image, kernel}), result, [&](auto& i) {
        double total = 0;
        for (std::int64_t c = 0; c < 4 / groups; ++c) {
          for_each_point(kernel_box(moves), [&](const std::vector<std::int64_t>& p) {
            std::vector<std::int64_t> at(shape.size()), weight{i[1], c};
            at[0] = i[0];
            at[1] = i[1] / (6 / groups) * (4 / groups) + c;
            weight.insert(weight.end(), p.begin(), p.end());
            if (place_in(image, moves, i, p, at)) total += element(image, at) * element(kernel, weight);
          });
        }
        return total;
      });
    }
  }
}

TEST_CASE("pools over one, two and three dimensions round their size down or up, and count padding or do not") {
  for (const std::vector<Movement>& moves : kMovements) {
    for (const bool ceil : {false, true}) {
      CAPTURE(moves.size());
      CAPTURE(ceil);
      const std::vector<std::int64_t> shape = image_shape(moves.size());
      std::vector<std::int64_t> result{2, 4};
      NdPooling pooling{.windows = {}, .ceil = ceil};
      for (std::size_t d = 0; d < moves.size(); ++d) {
        const Movement& m = moves[d];
        pooling.windows.push_back({m.kernel, window_of(m)});
        const std::int64_t room = shape[d + 2] + m.before + m.after - m.extent();
        std::int64_t size = (ceil ? (room + m.stride - 1) / m.stride : room / m.stride) + 1;
        if (ceil && (size - 1) * m.stride >= shape[d + 2] + m.before) --size;
        result.push_back(size);
      }
      const Tensor x = input(expressions(shape), "X");
      const Image image = random_image(shape, 1);
      const auto for_window = [&](const std::vector<std::int64_t>& i, auto visit) {
        for_each_point(kernel_box(moves), [&](const std::vector<std::int64_t>& p) {
          std::vector<std::int64_t> at(shape.size());
          at[0] = i[0];
          at[1] = i[1];
          const bool inside = place_in(image, moves, i, p, at);
          bool padding = true;
          for (std::size_t d = 0; d < moves.size(); ++d)
            padding &= at[d + 2] >= -moves[d].before && at[d + 2] < shape[d + 2] + moves[d].after;
          visit(inside ? element(image, at) : std::nan(""), padding);
        });
      };
      check_elements(evaluate(max_pool(x, pooling, "Y"), {x}, {image}), result, [&](auto& i) {
        double most = -std::numeric_limits<double>::infinity();
        for_window(i, [&](double value, bool) { most = std::isnan(value) ? most : std::max(most, value); });
        return most;
      });
      for (const bool count_padding : {false, true}) {
        CAPTURE(count_padding);
        pooling.count_padding = count_padding;
        check_elements(evaluate(average_pool(x, pooling, "Y"), {x}, {image}), result, [&](auto& i) {
          double total = 0, count = 0;
          for_window(i, [&](double value, bool padding) {
            if (!std::isnan(value)) total += value;
            if (!std::isnan(value) || (count_padding && padding)) ++count;
          });
          return total / count;
        });
      }
    }
  }
}

TEST_CASE("a pool that rounds its size up works for any size of the image") {
  const Tensor x = input({1, 1, lang::var("W")}, "X");
  const NdPooling pooling{.windows = {{3, {2, 0, 1, 0}}}, .ceil = true};
  for (const std::int64_t width : {3, 4, 5, 6, 7}) {
    CAPTURE(width);
    const Image image = random_image({1, 1, width}, 1);
    check_elements(evaluate(max_pool(x, pooling, "Y"), {x}, {image}), {1, 1, width / 2}, [&](auto& i) {
      double most = -2;
      for (std::int64_t p = 2 * i[2]; p < std::min(2 * i[2] + 3, width); ++p) most = std::max(most, image({0, 0, p}));
      return most;
    });
  }
}
