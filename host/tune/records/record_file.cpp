#include "host/tune/records/record_file.h"

#include "base/descriptor.h"
#include "base/hash_stream.h"
#include "base/hex.h"
#include "base/printable.h"
#include "base/replace_file.h"
#include "base/write_all.h"
#include "host/tune/records/record_text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <string_view>
#include <thread>

namespace ferry::tune {

namespace {

// A record is about one kilobyte; a million of them are far more than years of tuning leave.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;
constexpr std::chrono::seconds kMaxWait{10};

Status failed_to(const char* what, const std::string& path) {
  return {ErrorCode::unavailable, "cannot " + std::string(what) + " " + printable(path) + ": " + std::strerror(errno)};
}

// Whether the path still names this file, and nobody replaced it while this process waited for its lock.
bool is_named(const Descriptor& file, const std::string& path) {
  struct stat opened{}, named{};
  return fstat(file.number(), &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

// Opens the file and locks it until it is closed.
Result<Descriptor> open_locked(const std::string& path) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + kMaxWait;
  std::chrono::milliseconds pause{1};
  while (true) {
    Descriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    if (file.number() < 0) return failed_to("open", path);
    if (flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
      if (is_named(file, path)) return file;
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return failed_to("lock", path);
    if (Clock::now() >= end)
      return Status(ErrorCode::unavailable, "cannot lock " + printable(path) + ": another process holds it");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds{16});
  }
}

Result<std::string> read_all(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (fstat(file.number(), &status) != 0) return failed_to("read", path);
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) > kMaxFileBytes)
    return Status(ErrorCode::unavailable, "cannot read " + printable(path) + ": expected a file of at most 1 GiB");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = pread(file.number(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed_to("read", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

// Takes the next line off the front of a text that is not empty.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool contains(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

// Returns the text of a hash in a record's line; empty if there is none. Quotes inside of strings are escaped, so only
// a name is found.
std::string_view hash_in(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + name.size(), 2 * sizeof(Hash));
}

}  // namespace

Status append_record(const std::string& path, const TuneRecord& record) {
  FERRY_ASSIGN(std::string line, record_line(record));
  FERRY_ASSIGN(const Descriptor file, open_locked(path));
  struct stat before{};
  if (fstat(file.number(), &before) != 0) return failed_to("read", path);
  char last = '\n';
  if (before.st_size > 0 && pread(file.number(), &last, 1, before.st_size - 1) != 1) return failed_to("read", path);
  // A process that was killed has left a part of a line.
  if (last != '\n') line.insert(0, "\n");
  if (write_all(file.number(), line)) return {};
  const Status failure = failed_to("write", path);
  (void)ftruncate(file.number(), before.st_size);
  return failure;
}

RecordFile records_in(std::string_view text, const std::optional<Hash>& program) {
  RecordFile file;
  // Lines without the hash are passed over.
  const std::string part = program ? to_hex(*program) : std::string();
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.empty() || !contains(line, part)) continue;
    Result<TuneRecord> record = parse_record(line);
    if (!record.is_ok())
      ++file.skipped;
    else if (!program || record.value().key.program == *program)
      file.records.push_back(std::move(record.value()));
  }
  return file;
}

Hash hash_of_confirmed(std::string_view text) {
  struct Program {
    bool is_confirmed = false;
    std::vector<std::string_view> lines;  // those that are confirmed, or say that code is faulty
    std::string_view default_code;        // as its last record says
  };
  std::map<std::string_view, Program> programs;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    Program& program = programs[hash_in(line, R"("program":")")];
    const bool is_confirmed = contains(line, R"("confirmed":true)");
    if (is_confirmed) program.is_confirmed = true;
    if (is_confirmed || contains(line, R"("outcome":"wrong")") || contains(line, R"("outcome":"crashed")") ||
        contains(line, R"("outcome":"hung")"))
      program.lines.push_back(line);
    if (const std::string_view code = hash_in(line, R"("default_code":")"); !code.empty()) program.default_code = code;
  }
  HashStream hash;
  const auto add = [&](std::string_view line) {
    hash.add({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
    const std::uint8_t end = '\n';
    hash.add({&end, 1});
  };
  for (auto& [name, program] : programs) {
    if (!program.is_confirmed) continue;
    for (const std::string_view line : program.lines) add(line);
    add(program.default_code);
  }
  return hash.finish();
}

Result<std::string> read_record_text(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 && errno == ENOENT) return std::string();
  if (file.number() < 0) return failed_to("open", path);
  return read_all(file, path);
}

Result<RecordFile> read_records(const std::string& path, const std::optional<Hash>& program) {
  FERRY_ASSIGN(const std::string text, read_record_text(path));
  return records_in(text, program);
}

Status replace_records(const std::string& path,
                       const std::function<std::vector<TuneRecord>(std::vector<TuneRecord> records)>& keep) {
  FERRY_ASSIGN(const Descriptor file, open_locked(path));
  FERRY_ASSIGN(const std::string text, read_all(file, path));
  std::string lines;
  for (const TuneRecord& record : keep(records_in(text).records)) {
    FERRY_ASSIGN(const std::string line, record_line(record));
    lines += line;
  }
  return replace_file(path, lines);
}

}  // namespace ferry::tune
