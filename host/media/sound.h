// Sound in WAVE files (RIFF).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::media {

struct Sound {
  std::int64_t rate = 0, channels = 0;  // samples a second and channel
  std::vector<float> samples;           // from -1 to 1, those of a moment next to each other

  std::int64_t length() const { return channels == 0 ? 0 : static_cast<std::int64_t>(samples.size()) / channels; }
};

bool is_sound(std::span<const std::uint8_t> file);

// Reads linear samples of 8, 16, 24 or 32 bits, or floats of 32 or 64. Throws UsageError that names the file and the
// mistake. The last moment may be cut off, as by a recording that was interrupted.
Sound read_sound(std::span<const std::uint8_t> file, const std::string& name);

// Returns the mean of all channels.
Sound in_one_channel(const Sound& sound);
// Resamples by a windowed sinc, below half of the lower rate.
Sound with_rate(const Sound& sound, std::int64_t rate);

}  // namespace ferry::media
