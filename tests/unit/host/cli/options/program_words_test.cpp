#include "host/cli/options/program_words.h"

#include <doctest/doctest.h>

using namespace ferry::cli;

namespace {

using Words = std::vector<std::string>;

// Parses a command line and returns the words of the program.
Words program_of(const Words& typed, Words* selectors = nullptr) {
  Words words{"ferry"};
  words.insert(words.end(), typed.begin(), typed.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  CLI::App app("", "ferry");
  CLI::App& exec = *app.add_subcommand("farm", "")->add_subcommand("exec", "");
  Words values, boards;
  exec.add_option("selectors", boards);
  add_program_option(exec, values);
  app.parse(parser_words(static_cast<int>(pointers.size()), pointers.data()));
  if (selectors != nullptr) *selectors = boards;
  return program_words(values);
}

}  // namespace

TEST_CASE("the program of a command line keeps all its words as they are") {
  Words selectors;
  const Words program{"make", "-j4", "", "--farm=x", "a b", "--", "-"};
  Words typed{"farm", "exec", "rpi4", "rpi5", "--"};
  typed.insert(typed.end(), program.begin(), program.end());
  CHECK(program_of(typed, &selectors) == program);
  CHECK(selectors == Words{"rpi4", "rpi5"});
}

TEST_CASE("without a program there are no words") {
  CHECK(program_of({"farm", "exec", "rpi4", "--"}).empty());
  CHECK(program_of({"farm", "exec", "rpi4"}).empty());
}

TEST_CASE("the words of other commands are left alone") {
  std::string words[] = {"ferry", "run", "--", "-x"};
  char* pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data()};
  CHECK(parser_words(4, pointers) == Words{"-x", "--", "run"});
}

TEST_CASE("flags for a compiler may be none, other values behind '=' may not") {
  const auto parsed = [](const Words& typed) {
    Words words{"ferry"};
    words.insert(words.end(), typed.begin(), typed.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    CLI::App app("", "ferry");
    std::string flags = "none", junit, file;
    app.add_option("--cflags", flags);
    app.add_option("--junit", junit);
    app.add_option("file", file);
    app.parse(parser_words(static_cast<int>(pointers.size()), pointers.data()));
    return std::pair(flags, file);
  };
  CHECK(parsed({"--cflags=", "k.c"}) == std::pair(std::string(" "), std::string("k.c")));
  CHECK(parsed({"--cflags=-O1", "k.c"}) == std::pair(std::string("-O1"), std::string("k.c")));
  CHECK_THROWS_WITH_AS(parsed({"--junit=", "k.c"}), "--junit: expected a value behind '=', got none", CLI::ParseError);
}
