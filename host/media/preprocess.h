// What is done with pictures and sound before a network gets them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/types.h"
#include "host/media/picture.h"
#include "host/media/sound.h"

namespace ferry::media {

enum class Fit : std::uint8_t {
  crop,       // fill the input, and cut off what is left over on two sides
  stretch,    // change the proportions
  letterbox,  // fit into the input, with grey bars on two sides
  none,       // the picture must have the input's size
};

struct Preprocess {
  std::optional<bool> is_raw = {};  // values from 0 to 255, not 0 to 1; nothing: integers are, floats are not
  std::array<double, 3> mean = {0, 0, 0}, deviation = {1, 1, 1};  // for red, green and blue from 0 to 1
  double margin = 1;  // the picture is made so many times as large as the input before it is cropped
  Fit fit = Fit::crop;
  bool is_bgr = false;    // channels in the order blue, green, red
  std::int64_t rate = 0;  // samples a second that sound is resampled to; 0: as it is
};

// Parses "imagenet", "clip", "unit", "symmetric" and "raw", and "fit=letterbox", "mean=0.5/0.5/0.5", "std=0.5",
// "channels=bgr", "rate=16000" behind it or alone, with commas between them. Throws OptionError (preprocess).
Preprocess parse_preprocess(const std::string& text);

// A network's input, with the sizes that are known.
struct MediaInput {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::optional<std::int64_t>> shape;
};

struct MediaTensor {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
  std::string what;  // what was done: "640x480 cropped to 224x224, RGB, (x / 255 - mean) / std"
};

// Returns the number of channels that the input has pictures with: 3 where it says nothing. Throws UsageError for one
// that pictures do not fit.
std::int64_t channels_of(const MediaInput& input);
// Returns pictures of that many channels as one tensor: [N, C, H, W] or [N, H, W, C], as the input's sizes tell, with
// as many dimensions as it has. Heights and widths that are open stay those of the pictures.
MediaTensor tensor_of(const MediaInput& input, const std::vector<Picture>& pictures, const Preprocess& preprocess);
// Returns sound as [T], [N, T] or [N, C, T], with one channel unless C is another number. A known T cuts it or fills it
// up with zeros. int16 gets whole numbers, floats values from -1 to 1.
MediaTensor tensor_of(const MediaInput& input, const Sound& sound, const Preprocess& preprocess);

}  // namespace ferry::media
