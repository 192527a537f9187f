#include "host/text/style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/lines.h"
#include "base/printable.h"
#include "host/text/progress.h"

namespace ferry::text {

namespace {

// The terminal is the process's, and so is this.
UseColor the_use = UseColor::automatic;

const char* code_of(Color color) {
  switch (color) {
    case Color::red: return "\033[31m";
    case Color::green: return "\033[32m";
    case Color::yellow: return "\033[33m";
  }
  return "";
}

void print_line(Color color, const std::string& text) {
  Progress::clear();
  fflush(stdout);
  fprintf(stderr, "%s %s\n", painted(stderr, color, "ferry:").c_str(), printable_lines(text).c_str());
}

}  // namespace

void use_color(UseColor when) { the_use = when; }

bool has_color(FILE* stream) {
  switch (the_use) {
    case UseColor::always: return true;
    case UseColor::never: return false;
    case UseColor::automatic: break;
  }
  const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (unwanted != nullptr && *unwanted != 0) return false;
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(fileno(stream)) == 1;
}

std::string painted(FILE* stream, Color color, const std::string& text) {
  return has_color(stream) ? code_of(color) + text + "\033[0m" : text;
}

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string wrapped(const std::string& text, std::size_t width) {
  if (width == 0) return text;
  std::string result;
  for (std::string_view line : lines_of(text)) {
    if (!result.empty()) result += '\n';
    while (line.size() > width) {
      std::size_t space = line.rfind(' ', width);
      if (space == std::string_view::npos || space == 0) space = line.find(' ', width);
      if (space == std::string_view::npos) break;
      result += std::string(line.substr(0, space)) + '\n';
      line.remove_prefix(space + 1);
    }
    result += line;
  }
  return result;
}

void print_error(const std::string& text) { print_line(Color::red, text); }
void print_note(const std::string& text) { print_line(Color::yellow, text); }

}  // namespace ferry::text
