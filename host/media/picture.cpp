#include "host/media/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/media/checksum.h"
#include "host/media/stb_image.h"

namespace ferry::media {

namespace {

bool begins_with(std::span<const std::uint8_t> file, std::initializer_list<std::uint8_t> begin) {
  return file.size() >= begin.size() && std::equal(begin.begin(), begin.end(), file.begin());
}

bool is_png(std::span<const std::uint8_t> file) {
  return begins_with(file, {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a});
}

// The weights of the pixels that each place of a line is made of.
struct Weights {
  std::vector<std::int64_t> first;
  std::vector<std::vector<float>> weights;
};

Weights triangle_weights(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), support = std::max(scale, 1.0);
  Weights result;
  for (std::int64_t place = 0; place < to; ++place) {
    const double center = (static_cast<double>(place) + 0.5) * scale;
    const auto first = static_cast<std::int64_t>(std::max(0.0, std::floor(center - support + 0.5))),
               last = std::min(from, static_cast<std::int64_t>(std::floor(center + support + 0.5)));
    std::vector<float> weights;
    double sum = 0;
    for (std::int64_t pixel = first; pixel < last; ++pixel) {
      const double distance = std::abs((static_cast<double>(pixel) + 0.5 - center) / support);
      weights.push_back(static_cast<float>(std::max(0.0, 1 - distance)));
      sum += weights.back();
    }
    for (float& weight : weights) weight = static_cast<float>(weight / sum);
    result.first.push_back(first);
    result.weights.push_back(std::move(weights));
  }
  return result;
}

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5F), 0.0F, 255.0F));
}

Picture with_width(const Picture& picture, std::int64_t width) {
  if (picture.width == width) return picture;
  const Weights weights = triangle_weights(picture.width, width);
  Picture result{width, picture.height, picture.channels, {}};
  result.pixels.resize(static_cast<std::size_t>(width * picture.height * picture.channels));
  std::uint8_t* to = result.pixels.data();
  for (std::int64_t y = 0; y < picture.height; ++y) {
    const std::uint8_t* line = picture.pixels.data() + y * picture.width * picture.channels;
    for (std::size_t x = 0; x < weights.first.size(); ++x) {
      for (std::int64_t c = 0; c < picture.channels; ++c) {
        const std::uint8_t* from = line + weights.first[x] * picture.channels + c;
        float sum = 0;
        for (const float weight : weights.weights[x]) {
          sum += weight * static_cast<float>(*from);
          from += picture.channels;
        }
        *to++ = to_byte(sum);
      }
    }
  }
  return result;
}

Picture with_height(const Picture& picture, std::int64_t height) {
  if (picture.height == height) return picture;
  const Weights weights = triangle_weights(picture.height, height);
  const std::int64_t line = picture.width * picture.channels;
  Picture result{picture.width, height, picture.channels, {}};
  result.pixels.resize(static_cast<std::size_t>(line * height));
  std::vector<float> sums(static_cast<std::size_t>(line));
  for (std::size_t y = 0; y < weights.first.size(); ++y) {
    std::ranges::fill(sums, 0.0F);
    const std::uint8_t* from = picture.pixels.data() + weights.first[y] * line;
    for (const float weight : weights.weights[y]) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * static_cast<float>(from[i]);
      from += line;
    }
    std::ranges::transform(sums, result.pixels.data() + static_cast<std::int64_t>(y) * line, to_byte);
  }
  return result;
}

// Whether the checksums of a PNG file's parts hold (PNG specification, 5.3), which the decoder does not look at.
bool is_intact_png(std::span<const std::uint8_t> file) {
  const auto number = [&](std::size_t at) {
    return std::uint32_t{file[at]} << 24 | std::uint32_t{file[at + 1]} << 16 | std::uint32_t{file[at + 2]} << 8 |
           file[at + 3];
  };
  constexpr std::size_t kSignature = 8, kAround = 12;
  for (std::size_t at = kSignature; file.size() - at >= kAround;) {
    const std::uint32_t length = number(at);
    if (length > file.size() - at - kAround) return false;
    const std::size_t end = at + 8 + length;
    if (checksum_of(file.subspan(at + 4, length + 4)) != number(end)) return false;
    if (std::memcmp(file.data() + at + 4, "IEND", 4) == 0) return true;
    at = end + 4;
  }
  return false;
}

}  // namespace

bool is_picture(std::span<const std::uint8_t> file) {
  return begins_with(file, {0xff, 0xd8, 0xff}) || is_png(file) || begins_with(file, {'B', 'M'});
}

Picture read_picture(std::span<const std::uint8_t> file, const std::string& name, std::int64_t channels,
                     std::int64_t most_pixels) {
  int width = 0, height = 0, own = 0;
  if (file.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError(name + ": expected a picture of less than 2 GiB");
  const int bytes = static_cast<int>(file.size());
  if (stbi_info_from_memory(file.data(), bytes, &width, &height, &own) == 0 || width < 1 || height < 1)
    throw UsageError(name + ": expected a picture in the format JPEG, PNG or BMP, with at most 32,768 pixels a side");
  if (std::int64_t{width} * height > most_pixels)
    throw UsageError(name + ": expected a picture of at most " + count_text(static_cast<std::uint64_t>(most_pixels)) +
                     " pixels, got " + count_text(static_cast<std::uint64_t>(std::int64_t{width} * height)));
  if (is_png(file) && !is_intact_png(file)) throw UsageError(name + ": this picture is damaged");
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(file.data(), bytes, &width, &height, &own, static_cast<int>(channels)), stbi_image_free);
  if (pixels == nullptr) throw UsageError(name + ": this picture is damaged, or of a kind that ferry does not read");
  return {width, height, channels, {pixels.get(), pixels.get() + std::int64_t{width} * height * channels}};
}

Picture resized(const Picture& picture, std::int64_t width, std::int64_t height) {
  return with_height(with_width(picture, width), height);
}

Picture centered(const Picture& picture, std::int64_t width, std::int64_t height, std::uint8_t fill) {
  if (picture.width == width && picture.height == height) return picture;
  Picture result{width, height, picture.channels, {}};
  result.pixels.assign(static_cast<std::size_t>(width * height * picture.channels), fill);
  // Half of an odd difference is rounded to the even number, as torchvision does.
  const auto half = [](std::int64_t difference) {
    return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(difference) / 2));
  };
  const std::int64_t left = half(picture.width - width), top = half(picture.height - height);
  const std::int64_t begin = std::max<std::int64_t>(0, -left), end = std::min(width, picture.width - left);
  for (std::int64_t y = 0; y < height && begin < end; ++y) {
    if (y + top < 0 || y + top >= picture.height) continue;
    std::memcpy(result.pixels.data() + (y * width + begin) * picture.channels,
                picture.pixels.data() + ((y + top) * picture.width + begin + left) * picture.channels,
                static_cast<std::size_t>((end - begin) * picture.channels));
  }
  return result;
}

}  // namespace ferry::media
