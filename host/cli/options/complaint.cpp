#include "host/cli/options/complaint.h"

#include <algorithm>

#include "host/kernel/option_error.h"

namespace ferry::cli {

namespace {

// The text that the command line puts before and after the first line of a message about an option.
struct Frame {
  const char* before = "";
  const char* after = "";
};

Frame frame_of(Option option) {
  switch (option) {
    case Option::kernel: return {"", " (FILE or -e TEXT)"};
    case Option::function: return {"", " (--fn NAME)"};
    case Option::signature: return {"", " (--signature TEXT)"};
    case Option::fixed_size: return {"--fix ", ""};
    case Option::schedule: return {"", " (--schedule FILE or --schedule-text TEXT)"};
    case Option::knob: return {"--knob ", ""};
    case Option::argument: return {"--arg ", ""};
    case Option::size: return {"--size ", ""};
    case Option::sizes: return {"", " (--size NAME=SIZE or --arg NAME=DTYPE[SIZES])"};
    case Option::target: return {"--target ", ""};
    case Option::reference: return {"", " (--check-against FILE)"};
  }
  return {};
}

}  // namespace

std::string complaint(const Error& error) {
  std::string message = error.what();
  const auto* about = dynamic_cast<const OptionError*>(&error);
  if (about == nullptr) return message;
  const Frame frame = frame_of(about->option());
  message.insert(std::min(message.find('\n'), message.size()), frame.after);
  return frame.before + message;
}

}  // namespace ferry::cli
