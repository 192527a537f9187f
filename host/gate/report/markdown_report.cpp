#include "host/gate/report/markdown_report.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"
#include "base/lines.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "host/gate/report/anchors.h"
#include "host/gate/report/baseline_notes.h"
#include "host/gate/report/words.h"

namespace ferry::gate {

namespace {

// More of a name or a sentence tells nobody more.
constexpr std::size_t kMostNameBytes = 120, kMostReasonBytes = 600;
// So few rows are shown even if nothing changed.
constexpr std::size_t kRowsWithoutFold = 12;
// Left for the words around the rows.
constexpr std::size_t kReservedBytes = 500;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' || c == '-' ||
         c == ',' || (c & 0x80) != 0;
}

std::string shortened(std::string_view text, std::size_t most) {
  const std::string_view prefix = utf8_prefix(text, most);
  return std::string(prefix) + (prefix.size() < text.size() ? "..." : "");
}

// A reference to a character is never markup, and a mention or a number of an issue inside of code is none.
std::string code(std::string_view text, std::size_t most = kMostNameBytes) {
  std::string result = "<code>";
  for (const char c : shortened(printable(text), most)) result += is_plain(c) ? std::string(1, c) : format("&#%d;", c);
  return result + "</code>";
}

// Returns several lines as they stand below each other.
std::string code_lines(std::string_view text) {
  const std::string shown = shortened(text, kMostReasonBytes);
  std::string result;
  for (const std::string_view line : lines_of(shown)) {
    // Leading spaces would be left out, and a compiler's marks would move.
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    std::string indent;
    for (std::size_t i = 0; i < spaces; ++i) indent += "\u00a0";
    result += (result.empty() ? "" : "<br>") + code(indent + std::string(line.substr(spaces)), kMostReasonBytes * 3);
  }
  return result;
}

std::string link_to(const MarkdownOptions& options, std::size_t number) {
  if (!is_page_address(options.page)) return "";
  return "[details](" + options.page + "#" + anchor_of(number) + ")";
}

const char* emoji_of(Severity severity) {
  switch (severity) {
    case Severity::bad: return ":x:";
    case Severity::unsure: return ":warning:";
    case Severity::good: return ":white_check_mark:";
    case Severity::neutral: break;
  }
  return ":heavy_minus_sign:";
}

// Adds texts until there is no more room.
class Rows {
 public:
  Rows(std::string& out, std::size_t most_bytes) : out_(out), most_bytes_(most_bytes) {}
  bool add(const std::string& row) {
    if (out_.size() + row.size() > most_bytes_) {
      ++left_out_;
      return false;
    }
    out_ += row;
    return true;
  }
  std::size_t left_out() const { return left_out_; }

 private:
  std::string& out_;
  std::size_t most_bytes_, left_out_ = 0;
};

class Writer {
 public:
  Writer(const Report& report, const MarkdownOptions& options)
      : report_(report), options_(options), room_(options.most_bytes - std::min(options.most_bytes, kReservedBytes)) {}

  std::string write() {
    out_ = "### " + std::string(emoji_of(severity_of(report_))) + " " + headline(report_) + "\n\n";
    if (!report_.suite.empty()) out_ += "Suite " + code(report_.suite) + ", ";
    out_ += (report_.label.empty() ? "this version" : code(report_.label)) + " compared with " +
            (report_.baseline.empty() ? "its baseline" : code(report_.baseline)) + ".\n";
    if (report_.failure) out_ += "\n" + code_lines(report_.failure->message) + "\n";
    for (const std::string& note : baseline_notes(report_)) out_ += "\n" + code(note, kMostReasonBytes) + "\n";
    for (const std::string& note : method_notes(report_)) out_ += "\n" + code(note, kMostReasonBytes) + "\n";
    std::vector<const CaseResult*> loud, quiet;
    for (const CaseResult* result : by_importance(report_)) (has_news(*result) ? loud : quiet).push_back(result);
    if (loud.size() + quiet.size() <= kRowsWithoutFold) {
      loud.insert(loud.end(), quiet.begin(), quiet.end());
      quiet.clear();
    }
    write_table(loud);
    write_reasons(loud);
    if (!quiet.empty()) {
      out_ += "\n<details><summary>" + std::to_string(quiet.size()) + " without change</summary>\n";
      write_table(quiet);
      out_ += "\n</details>\n";
    }
    return std::move(out_);
  }

 private:
  void write_table(const std::vector<const CaseResult*>& results) {
    if (results.empty()) return;
    const bool has_links = is_page_address(options_.page);
    const bool has_changes =
        std::ranges::any_of(results, [](const CaseResult* result) { return !change_text(*result).empty(); });
    out_ += std::string("\n| case | verdict |") + (has_changes ? " change |" : "") + " board |" +
            (has_links ? " |" : "") + "\n| --- | --- | --- |" + (has_changes ? " --- |" : "") +
            (has_links ? " --- |" : "") + "\n";
    Rows rows(out_, room_);
    for (const CaseResult* result : results) {
      std::string row = "| " + code(result->name) + " | " + emoji_of(severity_of(result->verdict)) + " " +
                        to_text(result->verdict) + " |";
      if (has_changes) row += " " + change_text(*result) + " |";
      row += " " + code(board_of(*result)) + " |";
      if (has_links) row += " " + link_to(options_, static_cast<std::size_t>(result - report_.cases.data())) + " |";
      rows.add(row + "\n");
    }
    if (rows.left_out() > 0) out_ += "\nThere is no room for " + std::to_string(rows.left_out()) + " more.\n";
  }

  void write_reasons(const std::vector<const CaseResult*>& results) {
    std::vector<std::string> items;
    for (const Note& note : notes_of(results)) {
      items.push_back("- " + code(note.title, kMostReasonBytes) + ": " + code_lines(note.text) + "\n");
    }
    if (items.empty()) return;
    out_ += "\n";
    Rows rows(out_, room_);
    for (const std::string& item : items) rows.add(item);
    if (rows.left_out() > 0) out_ += "- and " + std::to_string(rows.left_out()) + " more\n";
  }

  const Report& report_;
  const MarkdownOptions& options_;
  std::size_t room_;
  std::string out_;
};

}  // namespace

bool is_page_address(const std::string& address) {
  if (!address.starts_with("https://") && !address.starts_with("http://")) return false;
  constexpr std::string_view kOthers = "-._~:/?&=%+,;@";
  return address.find("//") + 2 < address.size() && std::ranges::all_of(address, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  kOthers.find(c) != std::string_view::npos;
         });
}

std::string markdown_report(const Report& report, const MarkdownOptions& options) {
  return Writer(report, options).write();
}

}  // namespace ferry::gate
