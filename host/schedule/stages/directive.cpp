#include "ferry/schedule/directive.h"

#include "crosscompile/ir/error.h"
#include "host/lang/names.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace ferry::schedule {

namespace {

constexpr std::size_t kMaxDirectives = 100'000;

struct Location {
  const std::string& file;
  std::size_t line;
};

[[noreturn]] void fail(const Location& location, const std::string& what) {
  throw CompileError(location_text(location.file, location.line) + what, {location.file, location.line});
}

std::string shown(char c) {
  if (c > ' ' && c < 0x7f) return std::string("'") + c + "'";
  char code[16];
  snprintf(code, sizeof code, "the byte 0x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return code;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Braces enclose a knob's choices, parentheses the axes of a layout; ':', ',' and '->' are tokens of their own.
std::vector<std::string> tokens_of(std::string_view text, const Location& location) {
  constexpr std::string_view kSingle = ":,(){}*/%+";
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_space(c)) {
      ++i;
    } else if (kSingle.find(c) != std::string_view::npos) {
      tokens.emplace_back(1, c);
      ++i;
    } else if (text.substr(i, 2) == "->") {
      tokens.emplace_back("->");
      i += 2;
    } else {
      std::size_t end = i + (c == '$' || c == '-' ? 1 : 0);
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' || text[end] == '.'))
        ++end;
      if (end == i || (end == i + 1 && (c == '$' || c == '-')))
        fail(location, "expected a name or a number, got " + shown(c));
      if (end - i > lang::kMaxNameLength)
        fail(location, "expected names of at most " + std::to_string(lang::kMaxNameLength) +
                           " characters, got one of " + std::to_string(end - i));
      tokens.emplace_back(text.substr(i, end - i));
      i = end;
    }
  }
  return tokens;
}

// Removes "in {a, b}" after the knob at `at` from the words and returns the choices.
std::vector<std::string> take_choices(std::vector<std::string>& args, std::size_t at, const Location& location) {
  std::vector<std::string> choices;
  if (at + 1 >= args.size() || args[at + 1] != "in") return choices;
  const std::string& name = args[at];
  if (at + 2 >= args.size() || args[at + 2] != "{") fail(location, "expected '{' after '" + name + " in'");
  std::size_t end = at + 3;
  for (;; ++end) {
    if (end >= args.size()) fail(location, "expected '}' after the choices of '" + name + "'");
    if (args[end] == "}") break;
    if (args[end] != ",") choices.push_back(args[end]);
  }
  if (choices.empty()) fail(location, "expected at least one choice for '" + name + "'");
  args.erase(args.begin() + static_cast<std::ptrdiff_t>(at) + 1, args.begin() + static_cast<std::ptrdiff_t>(end) + 1);
  return choices;
}

void collect_knobs(Directive& directive, std::vector<Knob>& knobs) {
  const Location location{directive.file, directive.line};
  for (std::size_t i = 0; i < directive.args.size(); ++i) {
    if (directive.args[i][0] != '$') continue;
    const std::string name = directive.args[i].substr(1);
    std::vector<std::string> choices = take_choices(directive.args, i, location);
    const auto known = std::find_if(knobs.begin(), knobs.end(), [&](const Knob& knob) { return knob.name == name; });
    if (known == knobs.end()) {
      if (choices.empty())
        fail(location, "expected the choices of the new knob '$" + name + "', as in '$" + name + " in {4,8}'");
      knobs.push_back({name, std::move(choices)});
    } else if (!choices.empty() && choices != known->choices) {
      fail(location, "expected the choices of '$" + name + "' to be the same everywhere");
    }
  }
}

std::vector<std::string> names_of(const std::vector<Knob>& knobs) {
  std::vector<std::string> names;
  for (const Knob& knob : knobs) names.push_back(knob.name);
  return names;
}

std::string listed(const std::vector<std::string>& args) {
  std::string text;
  for (const std::string& word : args) text += (text.empty() ? "" : ",") + word;
  return text;
}

}  // namespace

std::string location_text(const std::string& file, std::size_t line) {
  return file.empty() ? "schedule, line " + std::to_string(line) + ": " : file + ":" + std::to_string(line) + ": ";
}

std::string to_text(const Directive& directive) {
  std::string text = directive.stage.empty() ? directive.primitive : directive.stage + ": " + directive.primitive;
  std::string before;
  for (const std::string& word : directive.args) {
    const bool tight = word == "," || word == ")" || word == "/" || word == "%" || word == "*" || word == "+" ||
                       before == "(" || before == "/" || before == "%" || before == "*" || before == "+";
    text += (tight ? "" : " ") + word;
    before = word;
  }
  return text;
}

DirectiveList parse_directives(std::string_view text, const std::string& file, std::size_t first_line) {
  DirectiveList list;
  Location location{file, first_line - 1};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++location.line;
    row = row.substr(0, row.find('#'));
    std::vector<std::string> args = tokens_of(row, location);
    if (args.empty()) continue;
    if (list.directives.size() == kMaxDirectives)
      fail(location, "expected at most " + std::to_string(kMaxDirectives) + " directives");
    Directive directive;
    directive.line = location.line;
    directive.file = file;
    if (args.size() > 1 && args[1] == ":") {
      directive.stage = args[0];
      args.erase(args.begin(), args.begin() + 2);
      if (args.empty()) fail(location, "expected a primitive after '" + directive.stage + ":'");
    }
    directive.primitive = args[0];
    directive.args.assign(args.begin() + 1, args.end());
    collect_knobs(directive, list.knobs);
    list.directives.push_back(std::move(directive));
  }
  return list;
}

std::vector<Directive> bind_knobs(const DirectiveList& list, const KnobValues& values) {
  const auto knob_of = [&](const std::string& name) {
    return std::find_if(list.knobs.begin(), list.knobs.end(), [&](const Knob& knob) { return knob.name == name; });
  };
  for (const auto& [name, value] : values)
    if (knob_of(name) == list.knobs.end())
      throw CompileError("the schedule has no knob '$" + name + "'" + lang::suggestion(name, names_of(list.knobs)));
  std::vector<Directive> bound = list.directives;
  for (Directive& directive : bound) {
    const Location location{directive.file, directive.line};
    for (std::string& word : directive.args) {
      if (word[0] != '$') continue;
      const std::vector<std::string>& choices = knob_of(word.substr(1))->choices;
      const std::string expected = "one of {" + listed(choices) + "}";
      const auto given = values.find(word.substr(1));
      const std::string value = given == values.end() ? choices.front() : given->second;
      if (std::find(choices.begin(), choices.end(), value) == choices.end())
        fail(location, "knob '" + word + "': expected " + expected + ", got '" + value + "'");
      word = value;
    }
  }
  return bound;
}

}  // namespace ferry::schedule
