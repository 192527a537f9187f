#include "ferry/error.h"
#include "host/media/npz.h"
#include "host/media/picture.h"
#include "host/media/preprocess.h"
#include "host/media/sound.h"
#include "tests/fuzz/inputs/targets.h"

namespace ferry::fuzz {

void fuzz_media(Input input) {
  using namespace media;
  try {
    if (is_picture(input)) {
      // Small inputs of many pixels are slow, not wrong.
      constexpr std::int64_t kFew = 1 << 14;
      (void)tensor_of({"x", DType::f32, {1, 3, 5, 7}}, {read_picture(input, "fuzz", 3, kFew)}, {});
    } else if (is_sound(input)) {
      const Sound sound = read_sound(input, "fuzz.wav");
      (void)tensor_of({"x", DType::i16, {std::nullopt}}, sound, {});
    } else {
      (void)read_npz(input, "fuzz.npz", "x");
    }
  } catch (const UsageError&) {
  }
}

}  // namespace ferry::fuzz
