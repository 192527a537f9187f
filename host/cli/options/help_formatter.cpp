#include "host/cli/options/help_formatter.h"

#include <algorithm>

#include "host/text/style.h"

namespace ferry::cli {

namespace {

// Narrower columns would be unreadable.
constexpr std::size_t kLeastHelpWidth = 30;

}  // namespace

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::size_t width = text::terminal_width();
  if (width == 0) return option->get_description();
  return text::wrapped(option->get_description(),
                       std::max(kLeastHelpWidth, width - std::min(width, get_column_width())));
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  return text::wrapped(CLI::Formatter::make_footer(app), text::terminal_width());
}

}  // namespace ferry::cli
