#include "examples/demo/kernels.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace demo {

namespace {

using Inputs = std::vector<std::vector<float>>;

constexpr std::size_t kElements = 1'000'000;                      // vector add
constexpr std::size_t kSide = 512;                                // matmul
constexpr std::size_t kChannels = 64, kImage = 56, kPadded = 58;  // the second convolution of ResNet-18
constexpr std::size_t kRows = 1000, kColumns = 1000;              // softmax

Expected add(const Inputs& in) {
  Expected out{std::vector<double>(kElements), std::vector<double>(kElements)};
  for (std::size_t i = 0; i < kElements; ++i) {
    out.values[i] = double{in[0][i]} + in[1][i];
    out.scales[i] = std::abs(in[0][i]) + std::abs(in[1][i]);
  }
  return out;
}

Expected mm(const Inputs& in) {
  Expected out{std::vector<double>(kSide * kSide), std::vector<double>(kSide * kSide)};
  for (std::size_t m = 0; m < kSide; ++m) {
    for (std::size_t k = 0; k < kSide; ++k) {
      for (std::size_t n = 0; n < kSide; ++n) {
        const double term = double{in[0][m * kSide + k]} * in[1][k * kSide + n];
        out.values[m * kSide + n] += term;
        out.scales[m * kSide + n] += std::abs(term);
      }
    }
  }
  return out;
}

Expected conv3x3(const Inputs& in) {
  std::vector<double> padded(kChannels * kPadded * kPadded);
  for (std::size_t c = 0; c < kChannels; ++c) {
    for (std::size_t h = 0; h < kImage; ++h) {
      for (std::size_t w = 0; w < kImage; ++w) {
        padded[(c * kPadded + h + 1) * kPadded + w + 1] = in[0][(c * kImage + h) * kImage + w];
      }
    }
  }
  const std::size_t count = kChannels * kImage * kImage;
  Expected out{std::vector<double>(count), std::vector<double>(count)};
  for (std::size_t o = 0; o < kChannels; ++o) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      for (std::size_t tap = 0; tap < 9; ++tap) {
        const double weight = in[1][(o * kChannels + c) * 9 + tap];
        for (std::size_t h = 0; h < kImage; ++h) {
          for (std::size_t w = 0; w < kImage; ++w) {
            const double term = weight * padded[(c * kPadded + h + tap / 3) * kPadded + w + tap % 3];
            out.values[(o * kImage + h) * kImage + w] += term;
            out.scales[(o * kImage + h) * kImage + w] += std::abs(term);
          }
        }
      }
    }
  }
  return out;
}

Expected softmax(const Inputs& in) {
  Expected out{std::vector<double>(kRows * kColumns), std::vector<double>(kRows * kColumns)};
  for (std::size_t i = 0; i < kRows; ++i) {
    const float* row = in[0].data() + i * kColumns;
    double sum = 0;
    for (std::size_t j = 0; j < kColumns; ++j) sum += std::exp(double{row[j]});
    for (std::size_t j = 0; j < kColumns; ++j) {
      out.values[i * kColumns + j] = std::exp(double{row[j]}) / sum;
      out.scales[i * kColumns + j] = out.values[i * kColumns + j];
    }
  }
  return out;
}

std::string read_text(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw std::runtime_error("cannot read " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<Kernel> kernels(const std::string& folder) {
  const auto text = [&](const char* name) { return read_text(folder + "/" + name + ".tc"); };
  const std::int64_t side = kSide, channels = kChannels, image = kImage, rows = kRows, columns = kColumns;
  return {
      {"add", "add 1000000", text("add"), {{kElements}, {kElements}}, {kElements}, 2, add},
      {"conv3x3",
       "conv3x3 64x56x56",
       text("conv3x3"),
       {{1, channels, image, image}, {channels, channels, 3, 3}},
       {1, channels, image, image},
       9 * channels,
       conv3x3},
      {"mm", "mm 512x512x512", text("mm"), {{side, side}, {side, side}}, {side, side}, side, mm},
      {"softmax", "softmax 1000x1000", text("softmax"), {{rows, columns}}, {rows, columns}, columns, softmax},
  };
}

}  // namespace demo
