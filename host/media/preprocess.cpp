#include "host/media/preprocess.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ferry/error.h"
#include "module/manifest.h"

namespace ferry::media {

namespace {

using Sizes = std::vector<std::optional<std::int64_t>>;

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 30;

std::string text_of(const MediaInput& input) {
  std::string text;
  for (const auto& size : input.shape)
    text += (text.empty() ? "" : ",") + (size ? std::to_string(*size) : std::string("?"));
  return std::string(dtype_name(input.dtype)) + "[" + text + "]";
}

// The dimensions of an input of pictures; kNone where it has none.
struct Layout {
  std::size_t batch = kNone, channel = kNone, height = kNone, width = kNone;
};

Layout layout_of(const MediaInput& input) {
  const std::size_t rank = input.shape.size();
  const auto has_channels = [&](std::size_t d) {
    const std::optional<std::int64_t>& size = input.shape[d];
    return size && (*size == 1 || *size == 3 || *size == 4);
  };
  if (rank == 2) return {kNone, kNone, 0, 1};
  if (rank == 3 && !has_channels(0) && !has_channels(2)) return {0, kNone, 1, 2};
  if (rank != 3 && rank != 4)
    throw UsageError(input.name + ": expected an input of 2 to 4 dimensions for pictures, got " + text_of(input));
  const std::size_t first = rank - 3;
  const std::size_t batch = first == 0 ? kNone : 0;
  // Sizes of 4 may be heights, too.
  const auto are_colors = [&](std::size_t d) { return has_channels(d) && *input.shape[d] != 4; };
  const bool is_last = !are_colors(first) && (are_colors(rank - 1) || (has_channels(rank - 1) && !has_channels(first)));
  if (!is_last && input.shape[first] && !has_channels(first))
    throw UsageError(input.name + ": expected 1, 3 or 4 channels, got " + text_of(input));
  return is_last ? Layout{batch, rank - 1, first, first + 1} : Layout{batch, first, first + 1, first + 2};
}

Picture fitted(const Picture& picture, const MediaInput& input, std::int64_t width, std::int64_t height,
               const Preprocess& how) {
  constexpr std::uint8_t kBars = 114;
  if (picture.width == width && picture.height == height && how.margin == 1) return picture;
  const auto size = [](const Picture& of) { return std::to_string(of.width) + "x" + std::to_string(of.height); };
  if (how.fit == Fit::none)
    throw UsageError(input.name + ": expected a picture of " + std::to_string(width) + "x" + std::to_string(height) +
                     ", got " + size(picture));
  if (how.fit == Fit::stretch) return resized(picture, width, height);
  const double across = static_cast<double>(width) / static_cast<double>(picture.width),
               down = static_cast<double>(height) / static_cast<double>(picture.height);
  const double scale = how.fit == Fit::letterbox ? std::min(across, down) : std::max(across, down) * how.margin;
  // The side that decides is exact.
  const auto side = [&](std::int64_t pixels, double own, std::int64_t wanted) {
    const bool decides = how.fit == Fit::letterbox ? own == std::min(across, down) : own == std::max(across, down);
    const double exact = decides
                             ? std::round(static_cast<double>(wanted) * (how.fit == Fit::letterbox ? 1 : how.margin))
                             : std::floor(static_cast<double>(pixels) * scale + 1e-9);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(exact));
  };
  return centered(resized(picture, side(picture.width, across, width), side(picture.height, down, height)), width,
                  height, kBars);
}

void store(DType dtype, double value, std::uint8_t* to) {
  const auto put = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
  switch (dtype) {
    case DType::f16: return put(f64_to_f16(value));
    case DType::bf16: return put(f64_to_bf16(value));
    case DType::f32: return put(static_cast<float>(value));
    case DType::f64: return put(value);
    case DType::i16: return put(static_cast<std::int16_t>(value));
    case DType::i32:
    case DType::u32: return put(static_cast<std::int32_t>(value));
    case DType::i64:
    case DType::u64: return put(static_cast<std::int64_t>(value));
    case DType::u16: return put(static_cast<std::uint16_t>(value));
    case DType::u8: return put(static_cast<std::uint8_t>(value));
    case DType::i8:
    case DType::boolean: break;
  }
}

void expect_type(const MediaInput& input, const char* what) {
  if (input.dtype == DType::i8 || input.dtype == DType::boolean)
    throw UsageError(input.name + ": " + what + " become floats or integers of other types, got " +
                     dtype_name(input.dtype) + ": expected a .npy file");
}

std::uint64_t elements_of(const MediaInput& input, const std::vector<std::int64_t>& shape) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements) ||
        elements > kMaxElements)
      throw UsageError(input.name + ": expected at most 2^30 elements, got more");
  return elements;
}

}  // namespace

std::int64_t channels_of(const MediaInput& input) {
  const Layout layout = layout_of(input);
  return layout.channel == kNone ? 1 : input.shape[layout.channel].value_or(3);
}

MediaTensor tensor_of(const MediaInput& input, const std::vector<Picture>& pictures, const Preprocess& preprocess) {
  expect_type(input, "pictures");
  const Layout layout = layout_of(input);
  const auto count = static_cast<std::int64_t>(pictures.size());
  const std::int64_t images = layout.batch == kNone ? 1 : input.shape[layout.batch].value_or(count);
  if (images != count)
    throw UsageError(input.name + ": expected " + std::to_string(images) + " pictures for " + text_of(input) +
                     ", got " + std::to_string(count));
  const Picture& first = pictures.front();
  const std::int64_t height = input.shape[layout.height].value_or(first.height),
                     width = input.shape[layout.width].value_or(first.width), channels = first.channels;
  MediaTensor tensor;
  tensor.shape.resize(input.shape.size());
  if (layout.batch != kNone) tensor.shape[layout.batch] = count;
  if (layout.channel != kNone) tensor.shape[layout.channel] = channels;
  tensor.shape[layout.height] = height;
  tensor.shape[layout.width] = width;
  const std::size_t element = dtype_bytes(input.dtype);
  tensor.bytes.resize(elements_of(input, tensor.shape) * element);
  const bool is_raw = preprocess.is_raw.value_or(!is_float(input.dtype));
  if (!is_raw && !is_float(input.dtype))
    throw UsageError(input.name + ": expected --preprocess raw for an input of " + dtype_name(input.dtype));
  const bool is_last = layout.channel != kNone && layout.channel == input.shape.size() - 1;
  const std::int64_t plane = height * width, step = is_last ? channels : 1, between = is_last ? 1 : plane;
  // A table for each channel: there are few values.
  std::vector<std::uint8_t> table(static_cast<std::size_t>(channels) * 256 * element);
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto color = static_cast<std::size_t>(channels < 3 ? 1 : std::min<std::int64_t>(c, 2));
    for (std::int64_t v = 0; v < 256; ++v) {
      // Opacity has no mean.
      const bool is_plain = is_raw || c == 3;
      const double unit = is_raw ? static_cast<double>(v) : static_cast<double>(v) / 255;
      store(input.dtype, is_plain ? unit : (unit - preprocess.mean[color]) / preprocess.deviation[color],
            table.data() + static_cast<std::size_t>(c * 256 + v) * element);
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const Picture picture = fitted(pictures[static_cast<std::size_t>(i)], input, width, height, preprocess);
    std::uint8_t* image = tensor.bytes.data() + static_cast<std::size_t>(i * plane * channels) * element;
    for (std::int64_t pixel = 0; pixel < plane; ++pixel) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t place = preprocess.is_bgr && c < 3 && channels >= 3 ? 2 - c : c;
        const std::uint8_t value = picture.pixels[static_cast<std::size_t>(pixel * channels + c)];
        std::memcpy(image + static_cast<std::size_t>(pixel * step + place * between) * element,
                    table.data() + static_cast<std::size_t>(c * 256 + value) * element, element);
      }
    }
  }
  constexpr const char* kFits[] = {" resized and cropped to ", " stretched to ", " fitted between bars into ", " as "};
  tensor.what = std::to_string(first.width) + "x" + std::to_string(first.height) +
                kFits[static_cast<std::size_t>(preprocess.fit)] + std::to_string(width) + "x" + std::to_string(height) +
                (channels < 3        ? ", grey"
                 : preprocess.is_bgr ? ", BGR"
                                     : ", RGB") +
                (channels < 3 ? ""
                 : is_last    ? ", channels last"
                              : ", channels first") +
                (is_raw                                                    ? ", from 0 to 255"
                 : preprocess.deviation[0] == 1 && preprocess.mean[0] == 0 ? ", from 0 to 1"
                                                                           : ", with its mean and deviation changed");
  return tensor;
}

MediaTensor tensor_of(const MediaInput& input, const Sound& sound, const Preprocess& preprocess) {
  expect_type(input, "sound");
  const std::size_t rank = input.shape.size();
  if (rank < 1 || rank > 3)
    throw UsageError(input.name + ": expected an input of 1 to 3 dimensions for sound, got " + text_of(input));
  if (!is_float(input.dtype) && input.dtype != DType::i16 && input.dtype != DType::i32)
    throw UsageError(input.name + ": expected an input of floats, int16 or int32 for sound, got " + text_of(input));
  if (rank > 1 && input.shape[0].value_or(1) != 1)
    throw UsageError(input.name + ": expected a batch of 1 for one sound, got " + text_of(input));
  const std::int64_t channels = rank == 3 ? input.shape[1].value_or(1) : 1;
  const Sound resampled =
      with_rate(channels == 1 ? in_one_channel(sound) : sound, preprocess.rate == 0 ? sound.rate : preprocess.rate);
  if (resampled.channels != channels)
    throw UsageError(input.name + ": expected sound of " + std::to_string(channels) + " channels, got " +
                     std::to_string(sound.channels));
  const std::int64_t length = input.shape.back().value_or(resampled.length());
  MediaTensor tensor;
  tensor.shape.assign(rank, 1);
  tensor.shape.back() = length;
  if (rank == 3) tensor.shape[1] = channels;
  const std::size_t element = dtype_bytes(input.dtype);
  tensor.bytes.resize(elements_of(input, tensor.shape) * element);
  const double scale = is_float(input.dtype) ? 1 : 32768;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t t = 0; t < std::min(length, resampled.length()); ++t) {
      const double value = static_cast<double>(resampled.samples[static_cast<std::size_t>(t * channels + c)]) * scale;
      store(input.dtype, is_float(input.dtype) ? value : std::clamp(std::nearbyint(value), -32768.0, 32767.0),
            tensor.bytes.data() + static_cast<std::size_t>(c * length + t) * element);
    }
  }
  tensor.what = std::to_string(resampled.length()) + " samples, " + std::to_string(resampled.rate) + " a second" +
                (resampled.rate == sound.rate ? "" : " (resampled from " + std::to_string(sound.rate) + ")") +
                (length < resampled.length()   ? ", cut to " + std::to_string(length)
                 : length > resampled.length() ? ", filled up with zeros to " + std::to_string(length)
                                               : "");
  return tensor;
}

}  // namespace ferry::media
