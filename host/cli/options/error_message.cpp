#include "host/cli/options/error_message.h"

#include <algorithm>

#include "ferry/kernel/option_error.h"

namespace ferry::cli {

namespace {

// The text that the command line puts before and after the first line of a message about an option.
struct Frame {
  std::string before = {};
  std::string after = {};
};

// Returns the end of the names of options that each kernel of a pair has for itself.
std::string suffix_of(KernelOfPair kernel) {
  switch (kernel) {
    case KernelOfPair::none: return "";
    case KernelOfPair::a: return "-a";
    case KernelOfPair::b: return "-b";
  }
  return "";
}

Frame frame_of(Option option, KernelOfPair kernel) {
  const std::string suffix = suffix_of(kernel);
  switch (option) {
    case Option::kernel: return {"", " (FILE or -e TEXT)"};
    case Option::function: return {"", " (--fn" + suffix + " NAME)"};
    case Option::signature: return {"", " (--signature TEXT)"};
    case Option::launch: return {"", " (--launch" + suffix + " TEXT)"};
    case Option::fixed_size: return {"--fix ", ""};
    case Option::schedule:
      if (kernel != KernelOfPair::none) return {"", " (--schedule" + suffix + " FILE)"};
      return {"", " (--schedule FILE or --schedule-text TEXT)"};
    case Option::knob: return {"--knob" + suffix + " ", ""};
    case Option::point: return {"--point" + suffix + " ", ""};
    case Option::argument: return {"--arg ", ""};
    case Option::size: return {"--size ", ""};
    case Option::sizes: return {"", " (--size NAME=SIZE or --arg NAME=DTYPE[SIZES])"};
    case Option::target: return {"--target ", ""};
    case Option::binding: return {"--bind ", ""};
    case Option::reference: return {"", " (--check-against FILE)"};
    case Option::output: return {"--out ", ""};
    case Option::expected: return {"--expect ", ""};
    case Option::dump: return {"--dump ", ""};
    case Option::preprocess: return {"--preprocess ", ""};
    case Option::sweep: return {"--sweep ", ""};
    case Option::cores: return {"--cores: ", ""};
    case Option::stage: return {"--emit ", ""};
    case Option::same_results: return {"", " (--allow-difference measures them all the same)"};
  }
  return {};
}

}  // namespace

std::string error_message(const std::exception& error) {
  std::string message = error.what();
  const auto* about = dynamic_cast<const OptionError*>(&error);
  if (about == nullptr) return message;
  const Frame frame = frame_of(about->option(), about->kernel());
  message.insert(std::min(message.find('\n'), message.size()), frame.after);
  return frame.before + message;
}

}  // namespace ferry::cli
