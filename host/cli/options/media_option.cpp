#include "host/cli/options/media_option.h"

#include <algorithm>
#include <string_view>

#include "ferry/kernel/option_error.h"

namespace ferry::cli {

void add_media_option(CLI::App& command, MediaOption& media, ReadMedia read) {
  media.read = read;
  if (read == nullptr) return;
  command
      .add_option("--preprocess", media.preprocess,
                  "What is done with pictures and sound: imagenet, clip, unit, symmetric or raw, then fit=letterbox,\n"
                  "mean=R/G/B, std=R/G/B, channels=bgr, rate=16000 as wanted, with commas between them")
      ->type_name("HOW");
}

void read_media(const MediaOption& media, const KernelSource& source, const std::string& function, CallOptions& call,
                const Observer& observer) {
  if (media.read != nullptr) return media.read(source, function, media.preprocess, call, observer);
  constexpr std::string_view kEndings[] = {".jpg", ".jpeg", ".png", ".bmp", ".wav", ".npz"};
  for (const std::string& text : call.arguments)
    if (std::ranges::any_of(kEndings, [&](std::string_view ending) { return text.ends_with(ending); }))
      throw OptionError(Option::argument, text +
                                              ": expected a .npy file, since this ferry has no compiler; the one with "
                                              "a compiler reads pictures, sound and .npz files too");
}

}  // namespace ferry::cli
