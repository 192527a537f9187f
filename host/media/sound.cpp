#include "host/media/sound.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "ferry/error.h"

namespace ferry::media {

namespace {

constexpr std::int64_t kMaxRate = 1 << 20, kMaxChannels = 256;
constexpr std::uint16_t kLinear = 1, kFloat = 3, kExtensible = 0xfffe;

std::uint64_t number(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

bool is_called(std::span<const std::uint8_t> bytes, std::size_t at, const char* name) {
  return bytes.size() >= at + 4 && std::memcmp(bytes.data() + at, name, 4) == 0;
}

struct Format {
  std::uint16_t kind = 0;
  std::int64_t channels = 0, rate = 0, bits = 0;
};

float sample(const Format& format, std::span<const std::uint8_t> bytes, std::size_t at) {
  const auto size = static_cast<std::size_t>(format.bits / 8);
  const std::uint64_t value = number(bytes, at, size);
  if (format.kind == kFloat && size == sizeof(double)) {
    double real = 0;
    std::memcpy(&real, &value, sizeof real);
    return static_cast<float>(real);
  }
  if (format.kind == kFloat) {
    const auto low = static_cast<std::uint32_t>(value);
    float real = 0;
    std::memcpy(&real, &low, sizeof real);
    return real;
  }
  if (size == 1) return (static_cast<float>(value) - 128) / 128;
  const auto shifted = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << (32 - format.bits));
  return static_cast<float>(static_cast<double>(shifted) / 0x1p31);
}

Format read_format(std::span<const std::uint8_t> chunk, const std::string& name) {
  if (chunk.size() < 16) throw UsageError(name + ": expected a format of 16 bytes or more in it");
  Format format{static_cast<std::uint16_t>(number(chunk, 0, 2)), static_cast<std::int64_t>(number(chunk, 2, 2)),
                static_cast<std::int64_t>(number(chunk, 4, 4)), static_cast<std::int64_t>(number(chunk, 14, 2))};
  if (format.kind == kExtensible && chunk.size() >= 26) format.kind = static_cast<std::uint16_t>(number(chunk, 24, 2));
  const bool is_linear = format.kind == kLinear && format.bits % 8 == 0 && format.bits >= 8 && format.bits <= 32,
             is_float = format.kind == kFloat && (format.bits == 32 || format.bits == 64);
  if (!is_linear && !is_float)
    throw UsageError(name + ": expected samples of 8 to 32 bits, or floats of 32 or 64, that are not compressed");
  if (format.channels < 1 || format.channels > kMaxChannels || format.rate < 1 || format.rate > kMaxRate)
    throw UsageError(name + ": expected 1 to 256 channels, and 1 to 2^20 samples a second");
  return format;
}

}  // namespace

bool is_sound(std::span<const std::uint8_t> file) { return is_called(file, 0, "RIFF") && is_called(file, 8, "WAVE"); }

Sound read_sound(std::span<const std::uint8_t> file, const std::string& name) {
  if (!is_sound(file)) throw UsageError(name + ": expected a WAVE file");
  Format format;
  for (std::size_t at = 12; at + 8 <= file.size();) {
    const std::size_t size = number(file, at + 4, 4), begin = at + 8, left = file.size() - begin;
    const std::span<const std::uint8_t> chunk = file.subspan(begin, std::min(size, left));
    if (is_called(file, at, "fmt ")) format = read_format(chunk, name);
    if (is_called(file, at, "data")) {
      if (format.channels == 0) throw UsageError(name + ": expected the format before the samples");
      const auto bytes = static_cast<std::size_t>(format.bits / 8);
      const std::size_t moments = chunk.size() / (bytes * static_cast<std::size_t>(format.channels));
      Sound sound{format.rate, format.channels, {}};
      sound.samples.resize(moments * static_cast<std::size_t>(format.channels));
      for (std::size_t i = 0; i < sound.samples.size(); ++i) sound.samples[i] = sample(format, chunk, i * bytes);
      return sound;
    }
    if (size >= left) break;
    at = begin + size + size % 2;
  }
  throw UsageError(name + ": expected samples in it, got none");
}

Sound in_one_channel(const Sound& sound) {
  if (sound.channels == 1) return sound;
  Sound result{sound.rate, 1, {}};
  const auto channels = static_cast<std::size_t>(sound.channels);
  for (std::size_t at = 0; at + channels <= sound.samples.size(); at += channels) {
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += sound.samples[at + c];
    result.samples.push_back(static_cast<float>(sum / static_cast<double>(channels)));
  }
  return result;
}

Sound with_rate(const Sound& sound, std::int64_t rate) {
  if (rate == sound.rate) return sound;
  constexpr double kZeros = 16;  // zero crossings of the sinc on either side
  const double step = static_cast<double>(sound.rate) / static_cast<double>(rate), cutoff = std::min(1.0, 1 / step),
               support = kZeros / cutoff;
  const std::int64_t length = sound.length();
  const auto count = static_cast<std::int64_t>(std::floor(static_cast<double>(length) / step));
  Sound result{rate, sound.channels, {}};
  result.samples.resize(static_cast<std::size_t>(count * sound.channels));
  for (std::int64_t i = 0; i < count; ++i) {
    const double center = static_cast<double>(i) * step;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(center - support))),
               last = std::min(length - 1, static_cast<std::int64_t>(std::floor(center + support)));
    double norm = 0;
    std::vector<double> sums(static_cast<std::size_t>(sound.channels));
    for (std::int64_t j = first; j <= last; ++j) {
      const double x = static_cast<double>(j) - center, angle = std::numbers::pi * x * cutoff;
      const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * x / support);
      const double weight = (x == 0 ? 1 : std::sin(angle) / angle) * window;
      norm += weight;
      for (std::size_t c = 0; c < sums.size(); ++c)
        sums[c] += weight * sound.samples[static_cast<std::size_t>(j * sound.channels) + c];
    }
    for (std::size_t c = 0; c < sums.size(); ++c)
      result.samples[static_cast<std::size_t>(i * sound.channels) + c] =
          static_cast<float>(sums[c] / (norm == 0 ? 1 : norm));
  }
  return result;
}

}  // namespace ferry::media
