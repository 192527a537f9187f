// Pictures: decoding, resizing, cropping.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::media {

// Rows from the top, pixels from the left, channels next to each other.
struct Picture {
  std::int64_t width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};

// Whether a file begins as a picture that read_picture() knows.
bool is_picture(std::span<const std::uint8_t> file);

// Decodes JPEG, PNG or BMP as so many channels: 1 (grey), 3 (red, green, blue) or 4 (with opacity). Orientations that
// cameras note are ignored. Throws UsageError that names the file for one that is damaged, or has more pixels.
Picture read_picture(std::span<const std::uint8_t> file, const std::string& name, std::int64_t channels,
                     std::int64_t most_pixels = std::int64_t{1} << 26);

// Resizes by a triangle filter whose support grows when the picture shrinks (bilinear with antialiasing), as PIL's
// BILINEAR does. The sizes are at least 1.
Picture resized(const Picture& picture, std::int64_t width, std::int64_t height);

// Returns the part of this size in the middle; where the picture is smaller, `fill` stands around it.
Picture centered(const Picture& picture, std::int64_t width, std::int64_t height, std::uint8_t fill);

}  // namespace ferry::media
