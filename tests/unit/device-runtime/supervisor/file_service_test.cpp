// What a session can get from its supervisor's file service, also one that says anything.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/unit/device-runtime/support/served_files.h"

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMost = 100'000;

struct Folders {
  Folders() {
    char pattern[] = "/tmp/ferry-test-files-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path = pattern;
    fs::create_directory(path + "/modules");
    fs::create_directory(path + "/blobs");
  }
  ~Folders() { fs::remove_all(path); }
  std::size_t count(const std::string& folder) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path + "/" + folder), {}));
  }
  std::string path;
};

struct Fixture {
  Folders folders;
  test::ServedFiles files{folders.path + "/modules", folders.path + "/blobs", kMost};
  FileBroker& broker = files.broker();
};

std::vector<std::uint8_t> contents_of(int file) {
  std::vector<std::uint8_t> bytes(2 * kMost);
  const ssize_t got = pread(file, bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

Result<Descriptor> store(FileBroker& broker, const std::vector<std::uint8_t>& bytes) {
  FERRY_ASSIGN(NewFile file, broker.store(Cache::blobs, blake2b(bytes), bytes.size()));
  FERRY_TRY(file.add(bytes));
  return file.finish(blake2b(bytes));
}

TEST_CASE_FIXTURE(Fixture, "a stored blob comes back as a file that can only be read") {
  const std::vector<std::uint8_t> bytes(70'001, 3);
  const auto stored = store(broker, bytes);
  REQUIRE(stored.is_ok());
  std::uint64_t size = 0;
  const Descriptor found = broker.find(Cache::blobs, blake2b(bytes), size);
  CHECK(size == bytes.size());
  for (const int file : {stored.value().number(), found.number()}) {
    CHECK(contents_of(file) == bytes);
    CHECK((fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY);
    CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(broker.find(Cache::modules, blake2b(bytes), size).number() < 0);
  CHECK(size == 0);
}

TEST_CASE_FIXTURE(Fixture, "contents with another hash are refused, and nothing of them stays") {
  const std::vector<std::uint8_t> bytes(5000, 1);
  const Hash other = blake2b(std::vector<std::uint8_t>(5000, 2));
  auto file = broker.store(Cache::blobs, other, bytes.size());
  REQUIRE(file.is_ok());
  REQUIRE(file.value().add(bytes).is_ok());
  const auto stored = file.value().finish(other);
  CHECK(stored.status().code() == ErrorCode::invalid_argument);
  CHECK(stored.status().message() ==
        "expected a blob of hash " + to_hex(other) + ", got one of hash " + to_hex(blake2b(bytes)));
  CHECK(folders.count("blobs") == 0);
}

TEST_CASE_FIXTURE(Fixture, "a blob whose sender stops in the middle is not kept") {
  {
    auto file = broker.store(Cache::blobs, Hash{}, 5000);
    REQUIRE(file.is_ok());
    REQUIRE(file.value().add(std::vector<std::uint8_t>(4999)).is_ok());
  }
  for (int i = 0; i < 500 && folders.count("blobs") != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(folders.count("blobs") == 0);
}

TEST_CASE_FIXTURE(Fixture, "a session that leaves in the middle takes its writers along") {
  std::optional<test::ServedFiles> leaving;
  leaving.emplace(folders.path + "/modules", folders.path + "/blobs", kMost);
  auto file = leaving->broker().store(Cache::blobs, Hash{}, 5000);
  REQUIRE(file.is_ok());
  leaving.reset();
  // The writer holds the other end of the stream, which breaks when it is gone.
  const std::vector<std::uint8_t> bytes(5000);
  Status status;
  for (int i = 0; i < 500 && status.is_ok(); ++i) {
    status = file.value().add(std::vector<std::uint8_t>(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(status.code() == ErrorCode::resource_exhausted);
}

TEST_CASE_FIXTURE(Fixture, "files that are too large, empty, or more at a time than a session needs are refused") {
  CHECK_FALSE(broker.store(Cache::blobs, Hash{}, kMost + 1).is_ok());
  CHECK_FALSE(broker.store(Cache::blobs, Hash{}, UINT64_MAX).is_ok());
  CHECK_FALSE(broker.store(Cache::blobs, Hash{}, 0).is_ok());
  std::vector<NewFile> open;
  Status status;
  while (status.is_ok() && open.size() < 100) {
    auto file = broker.store(Cache::modules, Hash{}, 10);
    status = file.status();
    if (file.is_ok()) open.push_back(std::move(file.value()));
  }
  CHECK(open.size() == 4);
  CHECK(status.message() == "cannot keep the module in here: Device or resource busy");
}

TEST_CASE_FIXTURE(Fixture, "a session cannot hold on to more than twice what the cache may hold") {
  std::vector<Descriptor> kept;
  Status status;
  for (std::uint8_t i = 0; status.is_ok() && i < 100; ++i) {
    auto stored = store(broker, std::vector<std::uint8_t>(30'000, i));
    status = stored.status();
    if (stored.is_ok()) kept.push_back(std::move(stored.value()));
  }
  CHECK(kept.size() == 6);
  CHECK(status.message() == "cannot keep the blob in here: Disk quota exceeded");
  // What it has had already it may have again.
  std::uint64_t size = 0;
  CHECK(broker.find(Cache::blobs, blake2b(std::vector<std::uint8_t>(30'000, 5)), size).number() >= 0);
}

TEST_CASE_FIXTURE(Fixture, "a file that is stored again, once the cache has deleted it, counts again") {
  const std::vector<std::uint8_t> bytes(60'000, 1), other(90'000, 2);
  std::vector<Descriptor> kept;
  Status status;
  while (status.is_ok() && kept.size() < 100) {
    auto stored = store(broker, bytes);
    status = stored.status();
    if (stored.is_ok()) kept.push_back(std::move(stored.value()));
    // Makes room.
    fs::remove(CacheFolder(folders.path + "/blobs", "blob", ".blob", kMost).path_of(blake2b(bytes)));
  }
  CHECK(kept.size() == 3);
  CHECK(status.message() == "cannot keep the blob in here: Disk quota exceeded");
}

TEST_CASE_FIXTURE(Fixture, "a file that another session has stored again counts again") {
  test::ServedFiles others{folders.path + "/modules", folders.path + "/blobs", kMost};
  const std::vector<std::uint8_t> bytes(60'000, 1);
  std::vector<Descriptor> kept;
  for (std::size_t i = 0; i == kept.size() && i < 100; ++i) {
    REQUIRE(store(others.broker(), bytes).is_ok() == (i < 3));
    std::uint64_t size = 0;
    for (int again = 0; again < 2; ++again) {
      Descriptor found = broker.find(Cache::blobs, blake2b(bytes), size);
      if (again == 0 && found.number() >= 0) kept.push_back(std::move(found));
    }
    fs::remove(CacheFolder(folders.path + "/blobs", "blob", ".blob", kMost).path_of(blake2b(bytes)));
  }
  CHECK(kept.size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "files of the board say no more than anybody could read in them") {
  const std::string text = broker.texts(std::vector<std::string>{"/proc/kallsyms"})[0].substr(0, 200);
  if (text.empty() || geteuid() != 0) {
    MESSAGE("skipped: root may read no more than others here");
    return;
  }
  const auto as_nobody = [] {
    std::string found(200, 0);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    if (fork() == 0) {
      [[maybe_unused]] const int became = setuid(65534);
      const int file = open("/proc/kallsyms", O_RDONLY);
      [[maybe_unused]] const ssize_t told =
          write(ends[1], found.data(), static_cast<std::size_t>(read(file, found.data(), 200)));
      _exit(0);
    }
    const ssize_t got = read(ends[0], found.data(), 200);
    close(ends[0]);
    close(ends[1]);
    wait(nullptr);
    found.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return found;
  };
  CHECK(text == as_nobody().substr(0, text.size()));
}

TEST_CASE_FIXTURE(Fixture, "small files of the board are read in one go, other files not at all") {
  std::vector<std::string> paths = {"/proc/uptime", "/etc/passwd",       "/sys/none",
                                    "/proc/stat",   "/proc/self/status", std::string("/proc/uptime\0/etc/passwd", 24)};
  for (int i = 0; i < 200; ++i) paths.push_back("/proc/loadavg");
  paths.push_back(std::string(20'000, 'x'));
  paths.push_back("/proc/version");
  const std::vector<std::string> texts = broker.texts(paths);
  REQUIRE(texts.size() == paths.size());
  CHECK_FALSE(texts[0].empty());
  for (const std::size_t i : {1, 2, 4}) CHECK(texts[i].empty());
  CHECK(texts[3].rfind("cpu ", 0) == 0);
  CHECK_FALSE(texts[5].empty());
  CHECK(texts[5].find("root") == std::string::npos);
  for (std::size_t i = 6; i < 206; ++i) CHECK_FALSE(texts[i].empty());
  CHECK(texts[206].empty());
  CHECK(texts[207].rfind("Linux", 0) == 0);
}

// A session that speaks to the service itself.
struct Hostile {
  Hostile() {
    auto made = std::make_unique<FileService>(loop, caches, cleaners);
    socket = Descriptor(dup(made->session_end()));
    made->close_session_end();
    thread = std::thread([this, made = std::move(made)] { loop.run(); });
  }
  ~Hostile() {
    socket = Descriptor();
    thread.join();
  }
  bool is_answered(const std::vector<std::uint8_t>& message) {
    BrokerReply reply;
    std::vector<Descriptor> descriptors;
    return send_message(socket.number(), message) &&
           receive_message(socket.number(), writable_bytes_of(reply), descriptors);
  }
  Folders folders;
  server::EventLoop loop;
  Cleaners cleaners;
  Caches caches{CacheFolder(folders.path + "/modules", "module", ".ferry", kMost),
                CacheFolder(folders.path + "/blobs", "blob", ".blob", kMost)};
  Descriptor socket;
  std::thread thread;
};

std::vector<std::uint8_t> message_of(BrokerRequest request, std::size_t more = 0) {
  const auto bytes = bytes_of(request);
  std::vector<std::uint8_t> message(bytes.begin(), bytes.end());
  message.resize(message.size() + more, 'x');
  return message;
}

TEST_CASE_FIXTURE(Hostile, "messages that make no sense end the service, and with it nothing else") {
  REQUIRE(is_answered(message_of({})));
  std::vector<std::uint8_t> message;
  SUBCASE("too short") { message = {1, 2, 3}; }
  SUBCASE("too long") { message = message_of({BrokerTask::texts}, kMaxTextNames + 1); }
  SUBCASE("an unknown task") { message = message_of({static_cast<BrokerTask>(200)}); }
  SUBCASE("an unknown cache") { message = message_of({BrokerTask::find, static_cast<Cache>(2)}); }
  CHECK_FALSE(is_answered(message));
}

TEST_CASE_FIXTURE(Hostile, "names without an end, and more of them than descriptors, are no harm") {
  CHECK(is_answered(message_of({BrokerTask::texts}, kMaxTextNames)));
  auto many = message_of({BrokerTask::texts}, kMaxTextNames);
  const std::string name("/proc/stat\0", 11);
  for (std::size_t at = sizeof(BrokerRequest); at + name.size() <= many.size(); at += name.size())
    std::memcpy(many.data() + at, name.data(), name.size());
  CHECK(is_answered(many));
  CHECK(is_answered(message_of({})));
}

TEST_CASE_FIXTURE(Hostile, "a session that does not read an answer gets no other") {
  auto message = message_of({BrokerTask::texts}, 11);
  std::memcpy(message.data() + sizeof(BrokerRequest), "/proc/stat\0", 11);
  CHECK(is_answered(message));
  for (int i = 0; i < 2; ++i) REQUIRE(send_message(socket.number(), message));
  BrokerReply reply;
  std::vector<Descriptor> descriptors;
  for (int i = 0; i < 500 && send(socket.number(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(receive_message(socket.number(), writable_bytes_of(reply), descriptors));
  CHECK_FALSE(receive_message(socket.number(), writable_bytes_of(reply), descriptors));
  CHECK(descriptors.size() == 1);
}

TEST_CASE_FIXTURE(Hostile, "a session that does not read its answers is not waited for") {
  const auto message = message_of({BrokerTask::texts});
  std::size_t sent = 0;
  while (sent < 100'000 && send(socket.number(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    ++sent;
    if (sent % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The service has closed its end rather than wait.
  CHECK(sent < 100'000);
}

}  // namespace
}  // namespace ferry::device
