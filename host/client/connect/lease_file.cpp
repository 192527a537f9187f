#include "host/client/connect/lease_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/descriptor.h"
#include "base/format.h"
#include "base/lines.h"
#include "base/throw_status.h"
#include "base/unix_time.h"
#include "rpc/secure/key.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::session {

namespace {

constexpr std::string_view kFirstWord = "ferry-lease-1";
constexpr std::string_view kSshBoard = "ssh-board";
constexpr std::size_t kMostBytes = 64 << 10;
// As of farms.
constexpr std::size_t kMostBoards = 16, kMostDigits = 16, kMostName = 64;
constexpr std::uint64_t kMaxEnd = std::uint64_t{1} << 53;

// Removes the first word of a line and returns it.
std::string_view next_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
  return word;
}

std::string content_of(const std::string& path) {
  const auto refuse = [&](const std::string& why) -> void {
    throw Error(ErrorCode::invalid_argument, "the lease file " + path + ": " + why);
  };
  // O_NONBLOCK, in case the file is a pipe.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0 && errno == ENOENT) {
    throw Error(ErrorCode::not_found, "there is no lease file " + path + ": the lease has probably ended");
  }
  struct stat info{};
  if (file.number() < 0 || ::fstat(file.number(), &info) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) refuse("expected a file, got something else");
  if ((info.st_mode & 077) != 0) {
    refuse(format("others may read or change it (mode %03o)", static_cast<unsigned>(info.st_mode & 0777)));
  }
  if (info.st_uid != ::geteuid() && info.st_uid != 0) refuse("it belongs to another user");
  if (info.st_size > static_cast<off_t>(kMostBytes)) refuse("expected a lease, got a large file");
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t count = ::read(file.number(), text.data(), text.size());
  if (count < 0) refuse(std::strerror(errno));
  text.resize(static_cast<std::size_t>(count));
  return text;
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string parse_id(std::string_view text) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  if (error != std::errc() || end != text.data() + text.size() || id == 0) {
    throw Error(ErrorCode::invalid_argument, "expected a lease of up to " + std::to_string(kMostDigits) +
                                                 " hexadecimal digits, got '" + std::string(text) + "'");
  }
  return std::string(text);
}

// Sets `end_ms` if the line says when the lease ends.
LeasedBoard parse_board(std::string_view line, std::uint64_t& end_ms) {
  const auto expect = [](bool holds, const char* what, std::string_view got) {
    if (!holds) {
      throw Error(ErrorCode::invalid_argument, std::string("expected ") + what + ", got '" + std::string(got) + "'");
    }
  };
  LeasedBoard board;
  const std::string_view word = next_word(line);
  expect(word == "board" || word == kSshBoard, "board ADDRESS KEY NAME or ssh-board ADDRESS EPOCH END KEY NAME", word);
  board.address = next_word(line);
  if (word == kSshBoard) {
    parse_ssh_address(board.address);
    const std::string_view epoch = next_word(line), end = next_word(line);
    expect(parse_number(epoch, board.epoch) && board.epoch > 0, "an epoch above 0", epoch);
    expect(parse_number(end, end_ms) && end_ms < kMaxEnd, "the end of the lease in milliseconds since 1970", end);
  } else {
    const auto address = parse_tcp_address(board.address, 0);
    expect(address.is_ok() && address.value().port != 0, "HOST:PORT", board.address);
  }
  board.psk = value_or_throw(secure::parse_key(next_word(line))).bytes;
  board.name = line;
  expect(!line.empty() && line.size() <= kMostName, "a board's name", line);
  return board;
}

std::string text_of(const LeaseFile& lease) {
  std::string text = std::string(kFirstWord) + " " + lease.lease + " " + lease.farm + "\n";
  for (const LeasedBoard& board : lease.boards) {
    const std::string key_text = secure::to_file_text({board.psk});  // a comment and the key
    const std::string key(lines_of(key_text).back());
    if (!board.address.starts_with(kSshScheme)) {
      text += "board " + board.address + " " + key + " " + board.name + "\n";
      continue;
    }
    if (lease.remaining.count() <= 0) {
      throw Error(ErrorCode::invalid_argument, "the lease of " + board.name + ": expected the time that it lasts, " +
                                                   "because its sessions end with it; got none");
    }
    const std::int64_t end_ms = unix_milliseconds() + lease.remaining.count();
    text += std::string(kSshBoard) + " " + board.address + " " + std::to_string(board.epoch) + " " +
            std::to_string(end_ms) + " " + key + " " + board.name + "\n";
  }
  return text;
}

void write_new_file(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const bool is_written =
      file.number() >= 0 && ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!is_written) {
    throw Error(ErrorCode::invalid_argument, "cannot make the lease file " + path + ": " + std::strerror(errno));
  }
}

}  // namespace

void write_lease_file(const std::string& path, const LeaseFile& lease) { write_new_file(path, text_of(lease)); }

void replace_lease_file(const std::string& path, const LeaseFile& lease) {
  const std::string made = path + ".new";
  ::unlink(made.c_str());
  write_new_file(made, text_of(lease));
  if (::rename(made.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(made.c_str());
    throw Error(ErrorCode::invalid_argument, "cannot replace the lease file " + path + ": " + why);
  }
}

LeaseFile read_lease_file(const std::string& path) {
  const std::string text = content_of(path);
  LeaseFile lease;
  std::size_t number = 0;
  std::uint64_t end_ms = 0;
  try {
    for (std::string_view line : lines_of(text)) {
      if (++number == 1) {
        if (const std::string_view first = next_word(line); first != kFirstWord) {
          throw Error(ErrorCode::invalid_argument,
                      "expected " + std::string(kFirstWord) + ", got '" + std::string(first) + "'");
        }
        lease.lease = parse_id(next_word(line));
        lease.farm = line;
      } else {
        lease.boards.push_back(parse_board(line, end_ms));
      }
    }
    if (lease.boards.empty() || lease.boards.size() > kMostBoards) {
      throw Error(ErrorCode::invalid_argument, "expected 1 to " + std::to_string(kMostBoards) + " boards, got " +
                                                   std::to_string(lease.boards.size()));
    }
  } catch (const Error& error) {
    throw Error(error.code(), "the lease file " + path + ":" + std::to_string(number) + ": " + error.what());
  }
  const auto now = static_cast<std::uint64_t>(unix_milliseconds());
  if (end_ms > now) lease.remaining = std::chrono::milliseconds(end_ms - now);
  return lease;
}

namespace {

// A board in "lease:FILE" or "lease:FILE#N".
struct NumberedBoard {
  std::string path;
  std::size_t number = 1;
};

NumberedBoard parse_address(const std::string& address) {
  NumberedBoard board{address.substr(kLeaseScheme.size())};
  const std::size_t mark = board.path.rfind('#');
  if (mark == std::string::npos) return board;
  const char* const end = board.path.data() + board.path.size();
  const auto [last, error] = std::from_chars(board.path.data() + mark + 1, end, board.number);
  if (error != std::errc() || last != end) {
    throw Error(ErrorCode::invalid_argument, "expected lease:FILE or lease:FILE#N, got '" + address + "'");
  }
  board.path.resize(mark);
  return board;
}

std::shared_ptr<Connector> connector_of(const std::string& address, const DetourOf& detour_of) {
  const auto [path, number] = parse_address(address);
  const LeaseFile lease = read_lease_file(path);
  if (number < 1 || number > lease.boards.size()) {
    throw Error(ErrorCode::invalid_argument, "expected one of the " + std::to_string(lease.boards.size()) +
                                                 " boards of the lease in " + path + ", got #" +
                                                 std::to_string(number));
  }
  LeasedBoard board = lease.boards[number - 1];
  board.farm = lease.farm;
  board.lease = lease_for(lease.remaining);
  return board_connector(board, board.name + " (" + address + ")", detour_of ? detour_of(lease, number - 1) : Detour());
}

}  // namespace

Scheme lease_file_scheme(DetourOf detour_of) {
  return {
      .prefix = kLeaseScheme,
      .form = "",
      .check = [](const std::string& address) { parse_address(address); },
      .connector = [detour_of = std::move(detour_of)](
                       const Remote& remote, const Connectors&) { return connector_of(remote.address, detour_of); }};
}

}  // namespace ferry::session
