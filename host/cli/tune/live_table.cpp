#include "host/cli/tune/live_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/tune/trial_text.h"
#include "host/tune/recorded_schedules.h"

namespace ferry::cli {

namespace {

constexpr std::size_t kDefaultColumns = 80;

std::size_t columns_of_terminal() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefaultColumns;
}

// Returns the point in one line.
std::string point_text(std::string point) {
  while (point.ends_with('\n')) point.pop_back();
  for (std::size_t at = 0; (at = point.find('\n', at)) != std::string::npos;) point.replace(at, 1, "; ");
  return printable(point);
}

// Returns as much of a line as the terminal shows in one row. It is ASCII but for what printable() has left.
std::string fitting(const std::string& line, std::size_t columns) {
  if (line.size() < columns) return line;
  std::size_t end = columns > 4 ? columns - 4 : 0;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

}  // namespace

std::vector<std::string> live_lines(const tune::Progress& progress, double budget_seconds, std::size_t columns) {
  std::vector<std::string> lines;
  lines.push_back(seconds_text(progress.seconds) +
                  (budget_seconds > 0 ? " of " + seconds_text(budget_seconds) : std::string()) + ", " +
                  count_text(progress.count()) + " of " + count_text(progress.points) + " points, " +
                  rate_text(progress) + failures_text(progress));
  if (progress.default_seconds > 0) lines.push_back("default  " + seconds_text(progress.default_seconds));
  if (progress.best_seconds > 0) {
    std::string best = "best     " + seconds_text(progress.best_seconds);
    if (progress.default_seconds > 0)
      best += ", " + tune::gain_text(progress.best_seconds / progress.default_seconds) + " times as fast";
    const std::string peak = peak_text(progress, progress.best_seconds);
    if (!peak.empty()) best += ", " + peak;
    lines.push_back(best + "  " + point_text(progress.best_point));
  }
  if (!progress.trying.empty()) lines.push_back("trying   " + point_text(progress.trying));
  for (std::string& line : lines) line = fitting(line, columns);
  return lines;
}

LiveTable::LiveTable(double budget_seconds) : budget_seconds_(budget_seconds) {
  const char* terminal = std::getenv("TERM");
  is_shown_ = isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

void LiveTable::show(const tune::Progress& progress) {
  if (!is_shown_) return;
  clear();
  const std::vector<std::string> lines = live_lines(progress, budget_seconds_, columns_of_terminal());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  std::fputs(text.c_str(), stderr);
  lines_ = lines.size();
}

void LiveTable::clear() {
  if (lines_ > 0) std::fprintf(stderr, "\r\033[%zuA\033[J", lines_);
  lines_ = 0;
}

}  // namespace ferry::cli
