// What survives in the file of revocations, and what is refused.
#include "farm/keys/revocation_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

using farm::Revocation;
using farm::RevocationFile;
using farm::wire::CredentialKind;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  REQUIRE(chmod(path.c_str(), 0600) == 0);
}

RevocationFile open_file(const std::string& path) {
  auto opened = RevocationFile::open(path);
  INFO(opened.status().message());
  REQUIRE(opened.is_ok());
  return std::move(opened.value());
}

farm::KeySalt counting_salt() {
  farm::KeySalt salt;
  for (std::size_t i = 0; i < salt.size(); ++i) salt[i] = static_cast<std::uint8_t>(i);
  return salt;
}

TEST_CASE("revocations are lines that a person can read, and are read again in their order") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.revoked");
  const std::vector<Revocation> revocations = {
      {CredentialKind::client, "anna", counting_salt(), 1'767'225'600'000},
      {CredentialKind::board, "100% \xc3\xbc\n\x1b[2J client", {}, 0},
      {CredentialKind::enrolment, "", {}, -1},
      {CredentialKind::token, std::string(RevocationFile::kMaxIdBytes, '\xff'), {}, 5},
  };
  {
    RevocationFile file = open_file(path);
    CHECK(file.revocations().empty());
    for (const Revocation& one : revocations) CHECK(file.add(one).is_ok());
    CHECK(file.revocations() == revocations);
  }
  const std::string text = text_of(path);
  CHECK(text.find("client 000102030405060708090a0b0c0d0e0f 1767225600000 anna\n") == 0);
  CHECK(text.find("board 00000000000000000000000000000000 0 100%25%20%c3%bc%0a%1b[2J%20client\n") != text.npos);
  CHECK(open_file(path).revocations() == revocations);
  struct stat info{};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a credential that is revoked twice has one line, and one that was made anew another") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.revoked");
  RevocationFile file = open_file(path);
  const Revocation first{CredentialKind::client, "anna", {}, 7}, again{CredentialKind::client, "anna", {}, 9};
  CHECK(file.add(first).is_ok());
  CHECK(file.add(again).is_ok());
  CHECK(file.revocations() == std::vector{first});
  const Revocation another{CredentialKind::client, "anna", counting_salt(), 9};
  CHECK(file.add(another).is_ok());
  CHECK(open_file(path).revocations() == std::vector{first, another});
}

TEST_CASE("a line that was cut off at any byte is forgotten, and what stands before it is kept") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.revoked");
  const Revocation kept{CredentialKind::client, "anna", {}, 7}, lost{CredentialKind::client, "otto", {}, 8};
  {
    RevocationFile file = open_file(path);
    REQUIRE(file.add(kept).is_ok());
    REQUIRE(file.add(lost).is_ok());
  }
  const std::string whole = text_of(path);
  const std::size_t first_line = whole.find('\n') + 1;
  for (std::size_t size = first_line; size < whole.size(); ++size) {
    CAPTURE(size);
    write_file(path, whole.substr(0, size));
    RevocationFile file = open_file(path);
    CHECK(file.revocations() == std::vector{kept});
    CHECK(file.add(lost).is_ok());
    CHECK(text_of(path) == whole);
  }
}

TEST_CASE("a damaged line is named, and the file is left alone") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.revoked");
  const std::string good = "client 00000000000000000000000000000000 7 anna\n";
  for (const char* bad :
       {"\n", "clients 00000000000000000000000000000000 7 anna\n", "client 0000000000000000000000000000000g 7 anna\n",
        "client 00 7 anna\n", "client 00000000000000000000000000000000 7x anna\n",
        "client 00000000000000000000000000000000 99999999999999999999 anna\n",
        "client 00000000000000000000000000000000 7 an na\n", "client 00000000000000000000000000000000 7 %4\n",
        "\x1b[2J\n"}) {
    CAPTURE(bad);
    write_file(path, good + bad + good);
    const auto opened = RevocationFile::open(path);
    CHECK(opened.status().code() == ErrorCode::device_error);
    CHECK(opened.status().message().find("line 2 is damaged") != std::string::npos);
    CHECK(opened.status().message().find('\x1b') == std::string::npos);
    CHECK(text_of(path) == good + bad + good);
  }
}

TEST_CASE("a file that others may read, a folder, a link and a file that is too large are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.revoked");
  write_file(path, "");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const auto shared = RevocationFile::open(path);
  CHECK(shared.status().code() == ErrorCode::invalid_argument);
  CHECK(shared.status().message().find("others may read or change the file (mode 640)") != std::string::npos);
  CHECK(!RevocationFile::open(folder.path()).is_ok());
  CHECK(!RevocationFile::open("/nowhere/farm.revoked").is_ok());
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  std::filesystem::create_symlink(path, folder.file("link"));
  CHECK(!RevocationFile::open(folder.file("link")).is_ok());
  std::filesystem::resize_file(path, RevocationFile::kMaxBytes + 1);
  CHECK(RevocationFile::open(path).status().message().find("expected a file of at most 16777216 bytes") !=
        std::string::npos);
}

TEST_CASE("what is too long or of no kind is refused before anything is written") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.revoked");
  RevocationFile file = open_file(path);
  CHECK(file.add({CredentialKind::client, std::string(1025, 'x'), {}, 0}).code() == ErrorCode::invalid_argument);
  for (const int kind : {0, 5, 255})
    CHECK(file.add({static_cast<CredentialKind>(kind), "x", {}, 0}).code() == ErrorCode::invalid_argument);
  CHECK(text_of(path).empty());
}

TEST_CASE("a revocation that finds no room on the disk is reported, and can be repeated") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.revoked");
  RevocationFile file = open_file(path);
  const Revocation first{CredentialKind::client, "anna", {}, 7}, second{CredentialKind::client, "otto", {}, 8};
  REQUIRE(file.add(first).is_ok());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{std::filesystem::file_size(path) + 10, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const Status full = file.add(second);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(full.code() == ErrorCode::resource_exhausted);
  CHECK(file.revocations() == std::vector{first});
  CHECK(open_file(path).revocations() == std::vector{first});
  CHECK(file.add(second).is_ok());
  CHECK(open_file(path).revocations() == std::vector{first, second});
}

}  // namespace
}  // namespace ferry::test
