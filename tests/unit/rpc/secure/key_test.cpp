#include "rpc/secure/key.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ferry::secure {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    char pattern[] = "/tmp/ferry-keys-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

void put(const std::string& path, const std::string& text, mode_t mode = 0600) {
  std::ofstream(path) << text;
  REQUIRE(chmod(path.c_str(), mode) == 0);
}

TEST_CASE("a key comes back from its file, which only its owner may read") {
  Folder folder;
  const Key key = make_key();
  const std::string path = folder.file("a/b/board.key");
  const Status written = write_key_file(path, key);
  REQUIRE_MESSAGE(written.is_ok(), written.message());
  struct stat info{};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  REQUIRE(stat(folder.file("a").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  const auto back = read_key_file(path);
  REQUIRE_MESSAGE(back.is_ok(), back.status().message());
  CHECK(back.value().bytes == key.bytes);
  CHECK(std::distance(fs::directory_iterator(folder.path / "a/b"), fs::directory_iterator()) == 1);
}

TEST_CASE("two keys differ, and so do their ids") {
  const Key a = make_key(), b = make_key();
  CHECK(a.bytes != b.bytes);
  CHECK(a.id() != b.id());
  CHECK(to_text(a.id()).size() == 32);
}

TEST_CASE("the id of a key is fixed for ever") {
  Key key;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = static_cast<std::uint8_t>(i);
  // Expected value: printf 'ferry key id' and the bytes 0 to 31 | b2sum -l 256 | head -c 32
  CHECK(to_text(key.id()) == "4d14347d7b37783e4e91b49564c7de0e");
}

TEST_CASE("a key file is never overwritten") {
  Folder folder;
  const Key first = make_key();
  REQUIRE(write_key_file(folder.file("k"), first).is_ok());
  const Status again = write_key_file(folder.file("k"), make_key());
  CHECK(again.code() == ErrorCode::invalid_argument);
  CHECK(again.message() == "cannot make the key file " + folder.file("k") + ": File exists");
  CHECK(read_key_file(folder.file("k")).value().bytes == first.bytes);
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("what is no key is refused with its file and line, and without quoting a secret") {
  Folder folder;
  const std::string secret(63, 'a');
  const auto message = [&](const std::string& text, mode_t mode = 0600) {
    put(folder.file("k"), text, mode);
    const auto key = read_key_file(folder.file("k"));
    CHECK_FALSE(key.is_ok());
    CHECK(key.status().message().find(secret) == std::string::npos);
    return key.status().message();
  };
  const std::string name = "the key file " + folder.file("k") + ": ";
  CHECK(message("") == name + "expected a line 'ferry-key-1:' and 64 digits, got none");
  CHECK(message("# only\n\n") == name + "expected a line 'ferry-key-1:' and 64 digits, got none");
  CHECK(message("# a\nferry-key-1:" + secret + "\n") ==
        name + "line 2: expected 'ferry-key-1:' and 64 hexadecimal digits");
  CHECK(message("ferry-key-1:" + secret + "g") == name + "line 1: expected 'ferry-key-1:' and 64 hexadecimal digits");
  CHECK(message("ferry-key-1:" + secret + "a\nferry-key-1:" + secret + "a\n") ==
        name + "line 2: expected nothing after the key; a file holds one");
  CHECK(message(std::string(5000, '#')) == name + "expected a key, got a large file");
  CHECK(message(to_file_text(make_key()), 0644) ==
        name + "others may read or change it (mode 644); chmod 600 it, or better make a new one");
  CHECK(message(to_file_text(make_key()), 0620).find("(mode 620)") != std::string::npos);
}

TEST_CASE("a missing key file and a folder are told apart from a bad one") {
  Folder folder;
  const auto missing = read_key_file(folder.file("none"));
  CHECK(missing.status().code() == ErrorCode::not_found);
  CHECK(missing.status().message() ==
        "cannot read the key file " + folder.file("none") + ": No such file or directory");
  CHECK(read_key_file(folder.path.string()).status().message() ==
        "the key file " + folder.path.string() + ": expected a file, got something else");
}

TEST_CASE("line ends of another system and capital digits are read") {
  const auto key = parse_key("# note\r\n  ferry-key-1:" + std::string(62, '0') + "AF \r\n");
  REQUIRE_MESSAGE(key.is_ok(), key.status().message());
  CHECK(key.value().bytes[31] == 0xaf);
}

TEST_CASE("a key that cannot be written says why and leaves nothing") {
  const Status status = write_key_file("/proc/nowhere/k", make_key());
  CHECK(status.code() == ErrorCode::unavailable);
  CHECK(status.message().rfind("cannot make the key file /proc/nowhere/k: ", 0) == 0);
}

}  // namespace
}  // namespace ferry::secure
