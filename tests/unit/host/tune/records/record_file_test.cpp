#include "host/tune/records/record_file.h"

#include "base/hex.h"
#include "host/tune/records/record_set.h"
#include "tests/unit/host/tune/records/sample_record.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace ferry;
using test::sample_record;
using tune::TuneRecord;

namespace {

namespace fs = std::filesystem;

struct Files {
  Files() {
    std::string name = fs::temp_directory_path() / "ferry-records-XXXXXX";
    folder = mkdtemp(name.data());
    path = folder / "records.jsonl";
  }
  ~Files() { fs::remove_all(folder); }

  void write(const std::string& text) const { std::ofstream(path, std::ios::app | std::ios::binary) << text; }
  std::string content() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  tune::RecordFile read() const { return tune::read_records(path).value(); }
  void append(const TuneRecord& record) const { REQUIRE(tune::append_record(path, record).is_ok()); }

  fs::path folder, path;
};

// Runs this in a process of its own, which `waitpid` waits for.
template <class Run>
pid_t fork_to(Run run) {
  const pid_t process = fork();
  if (process == 0) _exit(run() ? 0 : 1);
  return process;
}

bool succeeds(pid_t process) {
  int status = -1;
  return process > 0 && waitpid(process, &status, 0) == process && status == 0;
}

}  // namespace

TEST_CASE_FIXTURE(Files, "records are read in the order in which they were appended") {
  CHECK(read().records.empty());
  for (const std::int64_t time : {3, 1, 2}) append(sample_record(1e-6, time));
  const tune::RecordFile file = read();
  CHECK(file.records == std::vector{sample_record(1e-6, 3), sample_record(1e-6, 1), sample_record(1e-6, 2)});
  CHECK(file.skipped == 0);
}

TEST_CASE_FIXTURE(Files, "a line that was not finished is skipped, and the next record has a line of its own") {
  append(sample_record(1e-6, 1));
  const std::string whole = content();
  for (const std::size_t cut : {whole.size() / 2, whole.size() - 2}) {
    fs::resize_file(path, whole.size());
    write(whole.substr(0, cut));
    CHECK(read().records.size() == 1);
    CHECK(read().skipped == 1);
    append(sample_record(1e-6, 2));
    CHECK(read().records == std::vector{sample_record(1e-6, 1), sample_record(1e-6, 2)});
    CHECK(read().skipped == 1);
  }
}

TEST_CASE_FIXTURE(Files, "lines of other versions and damaged ones are skipped") {
  write("{\"schema\":\"ferry.tune/9\"}\n\n\xff\xfe\n" + std::string(10'000, 'x') + "\n");
  append(sample_record());
  CHECK(read().records.size() == 1);
  CHECK(read().skipped == 3);
}

TEST_CASE_FIXTURE(Files, "a record that is too long and a folder that does not exist leave nothing behind") {
  TuneRecord record = sample_record();
  record.directives = std::string(5000, 'x');
  CHECK(tune::append_record(path, record).code() == ErrorCode::invalid_argument);
  CHECK_FALSE(fs::exists(path));
  const Status status = tune::append_record(folder / "none" / "records.jsonl", sample_record());
  CHECK(status.code() == ErrorCode::unavailable);
  CHECK(status.message().find("none/records.jsonl: No such file or directory") != std::string::npos);
  CHECK(tune::read_records(folder).status().code() == ErrorCode::unavailable);
}

TEST_CASE_FIXTURE(Files, "processes that append and prune at once lose no record that is not pruned") {
  constexpr int kProcesses = 4, kRecords = 100;
  std::vector<pid_t> processes;
  for (int p = 0; p < kProcesses; ++p)
    processes.push_back(fork_to([&] {
      bool is_fine = true;
      for (int i = 0; i < kRecords; ++i)
        is_fine &= tune::append_record(path, sample_record(1e-6, p * kRecords + i)).is_ok();
      return is_fine;
    }));
  processes.push_back(fork_to([&] {
    bool is_fine = true;
    for (int i = 0; i < 20; ++i) is_fine &= tune::replace_records(path, [](auto records) { return records; }).is_ok();
    return is_fine;
  }));
  for (const pid_t process : processes) CHECK(succeeds(process));
  const tune::RecordFile file = read();
  std::set<std::int64_t> times;
  for (const TuneRecord& record : file.records) times.insert(record.unix_ms);
  CHECK(times.size() == kProcesses * kRecords);
  CHECK(file.records.size() == kProcesses * kRecords);
  CHECK(file.skipped == 0);
}

TEST_CASE_FIXTURE(Files, "a file is pruned in place") {
  write("{\"schema\":\"ferry.tune/9\"}\n");
  for (const std::int64_t time : {1, 2, 3}) append(sample_record(1e-6 * static_cast<double>(4 - time), time));
  CHECK(tune::replace_records(path, [](auto records) { return tune::prune_records(std::move(records), 1); }).is_ok());
  CHECK(read().records == std::vector{sample_record(1e-6, 3)});
  CHECK(read().skipped == 0);
}

TEST_CASE_FIXTURE(Files, "of a program only its own records are read, and lines about others need not be records") {
  const TuneRecord own = sample_record(1e-6, 1);
  TuneRecord other = sample_record(2e-6, 2);
  other.key.program = test::hash_of_all(9);
  other.reason = "as " + to_hex(own.key.program);
  append(own);
  write("no record\n");
  append(other);
  const auto found = tune::read_records(path, own.key.program).value();
  CHECK(found.records == std::vector{own});
  CHECK(found.skipped == 0);
  CHECK(tune::read_records(path, test::hash_of_all(7)).value().records.empty());
  CHECK(read().records.size() == 2);
}

TEST_CASE_FIXTURE(Files,
                  "the hash of confirmed records changes with what the best ones depend on, and with no other trial") {
  const auto hash = [&] { return tune::hash_of_confirmed(content()); };
  const auto changes = [&](const TuneRecord& record) {
    const Hash before = hash();
    append(record);
    return hash() != before;
  };
  TuneRecord trial = sample_record();
  CHECK_FALSE(changes(trial));
  TuneRecord wrong = trial;
  wrong.outcome = tune::Outcome::wrong;
  wrong.time.reset();
  CHECK_FALSE(changes(wrong));  // no record of the program is confirmed
  TuneRecord confirmed = trial;
  confirmed.confirmed = true;
  CHECK(changes(confirmed));
  trial.unix_ms += 1;
  CHECK_FALSE(changes(trial));
  wrong.unix_ms += 1;
  CHECK(changes(wrong));
  wrong.key.program[0] ^= 1;
  CHECK_FALSE(changes(wrong));
  trial.default_code[0] ^= 1;  // the default schedule became another one
  CHECK(changes(trial));
  trial.reason = R"(a text with "confirmed":true)";
  CHECK_FALSE(changes(trial));
  confirmed.key.device.cpu = "another";
  CHECK(changes(confirmed));
}
