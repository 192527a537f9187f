// Files in TOML: what is read of a table, and which mistake is named where.
#include "host/toml/toml_reader.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "host/toml/toml_file.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;

// What a reader makes of a table with one key of each kind.
struct Values {
  bool flag = false;
  std::int64_t number = 7;
  std::string text = "unchanged";
  std::vector<std::string> list;
  std::map<std::string, std::string> texts;
  double share = 0.5;
  std::vector<std::string> one_or_more;
  std::string word;
  std::string failure;
};

Values read(const std::string& text) {
  Values values;
  const std::string path = "some.toml";
  const auto root = parse_toml(text, path, kMostBytes);
  if (!root.is_ok()) {
    values.failure = root.status().message();
    return values;
  }
  TomlReader reader(path, "", root.value());
  reader.read("flag", values.flag);
  reader.read("number", -2, 9, values.number);
  reader.read("text", 8, values.text);
  reader.read("list", 2, 8, values.list);
  reader.read("texts", 2, 8, values.texts);
  reader.read("share", 0, 1, values.share);
  reader.read_one_or_more("one_or_more", 2, 8, values.one_or_more);
  reader.read("word", "a word with an x", [&values](const std::string& word) {
    values.word = word;
    return word.find('x') != std::string::npos || word == "42";
  });
  values.failure = reader.finish().message();
  return values;
}

TEST_CASE("keys that are missing leave the values alone") {
  const Values values = read("# nothing\n");
  CHECK(values.failure.empty());
  CHECK(values.number == 7);
  CHECK(values.text == "unchanged");
  CHECK(values.list.empty());
}

TEST_CASE("each kind of value is read") {
  const Values values = read("flag = true\nnumber = -2\ntext = 'é'\nlist = ['a', '']\ntexts = { x = '', y = 'z' }\n");
  CHECK(values.failure.empty());
  CHECK(values.flag);
  CHECK(values.number == -2);
  CHECK(values.text == "é");
  CHECK(values.list == std::vector<std::string>{"a", ""});
  CHECK(values.texts == std::map<std::string, std::string>{{"x", ""}, {"y", "z"}});
}

TEST_CASE("numbers may be whole, lists may be one text, and words whole numbers") {
  const Values values = read("share = 1\none_or_more = 'a'\nword = 42\n");
  CHECK(values.failure.empty());
  CHECK(values.share == 1);
  CHECK(values.one_or_more == std::vector<std::string>{"a"});
  CHECK(values.word == "42");
  CHECK(read("share = 0.25").share == 0.25);
  CHECK(read("one_or_more = ['a', 'b']").one_or_more == std::vector<std::string>{"a", "b"});
  CHECK(read("word = 'ox'").word == "ox");
}

TEST_CASE("the first mistake is named with its line") {
  const struct {
    const char *text, *failure;
  } cases[] = {
      {"\nflag = 'yes'\nnumber = 10", "some.toml:2: flag: expected true or false, got a string"},
      {"number = 10", "some.toml:1: number: expected a whole number from -2 to 9, got 10"},
      {"text = 'too long a text'", "some.toml:1: text: expected 1 to 8 bytes, got 15"},
      {"text = \"a\\u0000\"", "some.toml:1: text: expected a string without NUL"},
      {"list = ['a',\n 2]", "some.toml:2: list: expected a string, got 2"},
      {"list = ['a', 'b', 'c']", "some.toml:1: list: expected 1 to 2 strings, got 3"},
      {"texts = { a = 1979-05-27 }", "some.toml:1: texts.a: expected a string, got a date"},
      {"texts = 'a'", "some.toml:1: texts: expected a table, got a string"},
      {"\n\ntxet = 1", "some.toml:3: unknown key 'txet'; the nearest that is known is 'text'"},
      {"share = 1.01", "some.toml:1: share: expected a number from 0 to 1, got 1.01"},
      {"share = nan", "some.toml:1: share: expected a number from 0 to 1, got nan"},
      {"share = '1'", "some.toml:1: share: expected a number from 0 to 1, got a string"},
      {"share = true", "some.toml:1: share: expected a number from 0 to 1, got true"},
      {"one_or_more = ''", "some.toml:1: one_or_more: expected 1 to 8 bytes, got 0"},
      {"one_or_more = 1", "some.toml:1: one_or_more: expected an array of strings, as in [\"a\", \"b\"], got 1"},
      {"word = 'o\x1b'", "some.toml:1:"},
      {"word = \"o\\u001b\"", "some.toml:1: word: expected a word with an x, got 'o\\x1b'"},
      {"word = 1.5", "some.toml:1: word: expected a word with an x, got 1.5"},
      {"word = 43", "some.toml:1: word: expected a word with an x, got 43"},
      {"text = 'a'\ntext = 'b'", "some.toml:2:"},
      {"text = 'a", "some.toml:1:"},
      {"text = '\xff'", "some.toml:1:"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.text);
    const std::string failure = read(one.text).failure;
    CHECK_MESSAGE(failure.rfind(one.failure, 0) == 0, "got: " << failure << "\nexpected: " << one.failure);
  }
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST_CASE("a file as deep as its length allows is refused") {
  const std::size_t levels = kMostBytes / 8;
  const std::string long_key = "some.toml:2: expected a key of at most 32 parts, such as a.b";
  CHECK(read("\n[a" + repeated(".a", levels) + "]\n").failure == long_key);
  CHECK(read("\na" + repeated(" . a", levels) + " = 1\n").failure == long_key);
  CHECK(read("\n\"a\"" + repeated(".'a'", levels) + " = 1\n").failure == long_key);
  CHECK(read("\nx = {a" + repeated(".a", levels) + "=1}\n").failure == long_key);
  CHECK(!read("x = " + repeated("[", levels)).failure.empty());
  CHECK(!read("x = " + repeated("{a=", levels)).failure.empty());
}

TEST_CASE("keys of the most parts in values of the most levels are fine for the stack") {
  const std::string key = "a" + repeated(".a", 31);
  for (const std::size_t levels : {10, 100, 250, 255, 300}) {
    const std::string text = "[" + key + "]\n" + key + " = " + repeated("[\n{" + key + " = ", levels / 2) + "1" +
                             repeated("}\n]", levels / 2);
    CAPTURE(levels);
    const auto root = parse_toml(text, "some.toml", kMostBytes);
    CHECK_MESSAGE(root.is_ok() == (levels <= 255), root.status().message());
  }
}

TEST_CASE("points in strings, comments and numbers are no parts of keys") {
  const std::string points(100, '.');
  for (const std::string& text :
       {"x = \"" + points + "\"", "x = '" + points + "'", "x = \"\"\"\n\"" + points + "\n\\\"" + points + "\"\"\"",
        "x = \'\'\'\n\'" + points + "\'\'\'", "# \"" + points, "x = \"a\\\"" + points + "\" # '" + points,
        "x = [" + repeated("1.5, ", 100) + "]", "x = ''\ny = \"\"\nz = \"" + points + "\"", "'" + points + "' = 1",
        "\"" + points + "\".b = 1", "x = 'it\\' # " + points}) {
    CAPTURE(text);
    const auto root = parse_toml(text, "some.toml", kMostBytes);
    CHECK_MESSAGE(root.is_ok(), root.status().message());
  }
}

TEST_CASE("a file that is too long, is none or does not exist is named") {
  const TemporaryFolder folder;
  CHECK(read_toml_text(folder.path(), 10).status().message() ==
        folder.path() + ": cannot be read: expected a file, got something else");
  CHECK(read_toml_text(folder.file("none"), 10).status().message() ==
        folder.file("none") + ": cannot be read: No such file or directory");
  std::ofstream(folder.file("long")) << "12345678901";
  CHECK(read_toml_text(folder.file("long"), 10).status().message() ==
        folder.file("long") + ": cannot be read: expected at most 10 bytes, got more");
  CHECK(read_toml_text(folder.file("long"), 11).value() == "12345678901");
  CHECK(parse_toml("12345678901", "a.toml", 10).status().message() ==
        "a.toml: cannot be read: expected at most 10 bytes, got 11");
}

}  // namespace
}  // namespace ferry::test
