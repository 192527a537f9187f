#include "farm/probe/board_report.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/printable.h"
#include "base/utf8.h"
#include "ferry/hash.h"
#include "host/client/connect/ssh_script.h"

namespace ferry::farm {
namespace {

// Sensors that report less or more report nonsense.
constexpr std::int32_t kColdest = -100'000, kHottest = 250'000;
constexpr std::uint64_t kMostLoad = 1'000'000, kMostCores = 1 << 16, kMostKilobytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostUptimeSeconds = std::uint64_t{1} << 32;
constexpr std::size_t kBootIdText = 36;

struct Machine {
  std::string_view arch, machine, other_machine;
};
constexpr Machine kMachines[] = {
#define FERRY_DEVICE_ARCH(name, triple, pointer_bits, machine, other_machine) {#name, machine, other_machine},
#include "module/device_archs.def"
#undef FERRY_DEVICE_ARCH
};

// The number at the beginning of a text; what may follow it is left to the caller.
template <class Number>
std::optional<Number> number_of(std::string_view text, Number least, Number most, std::string_view* rest = nullptr) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < least || number > most) return std::nullopt;
  const std::string_view left = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest == nullptr && !left.empty()) return std::nullopt;
  if (rest != nullptr) *rest = left;
  return number;
}

// "12.34" is 12340.
std::optional<std::uint64_t> thousandths(std::string_view text, std::uint64_t most) {
  std::string_view rest;
  const auto whole = number_of<std::uint64_t>(text, 0, most, &rest);
  if (!whole) return std::nullopt;
  if (rest.empty()) return *whole * 1000;
  if (rest.front() != '.') return std::nullopt;
  std::string digits(rest.substr(1, 3));
  digits.resize(3, '0');
  const auto part = number_of<std::uint64_t>(digits, 0, 999);
  if (!part) return std::nullopt;
  return *whole * 1000 + *part;
}

// "Linux aarch64"
std::string arch_of(std::string_view value) {
  constexpr std::string_view kLinux = "Linux ";
  if (!value.starts_with(kLinux)) return {};
  value.remove_prefix(kLinux.size());
  const auto* found = std::ranges::find_if(kMachines, [&](const Machine& one) {
    return value == one.machine || (!one.other_machine.empty() && value == one.other_machine);
  });
  return found == std::end(kMachines) ? std::string() : std::string(found->arch);
}

// Derives the same id as read_boot_id() of a board's server.
std::uint64_t boot_id_of(std::string_view value) {
  const std::string text = std::string(value) + "\n";
  const Hash hash = blake2b({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < sizeof id; ++i) id = id << 8 | hash[i];
  return id;
}

std::string text_of(std::string_view value) { return std::string(utf8_prefix(printable(value), wire::kMaxText)); }

Status missing(const char* what, const std::string& got) {
  return {ErrorCode::protocol_error, std::string("expected ") + what + ", got '" + got + "'"};
}

}  // namespace

Result<BoardReport> read_report(const std::vector<std::string>& answers) {
  BoardReport report;
  std::string machine, boot_id, uptime;
  for (const std::string_view answer : answers) {
    const std::size_t space = std::min(answer.find(' '), answer.size());
    const std::string_view key = answer.substr(0, space), value = answer.substr(std::min(space + 1, answer.size()));
    if (key == "machine") {
      machine = text_of(value);
    } else if (key == "boot") {
      boot_id = text_of(value);
    } else if (key == "uptime") {
      uptime = text_of(value);
    } else if (key == "load") {
      report.heartbeat.load_permille =
          static_cast<std::uint32_t>(std::min(thousandths(value, kMostLoad).value_or(0), kMostLoad));
    } else if (key == "temperature") {
      if (const auto one = number_of<std::int32_t>(value, kColdest, kHottest))
        report.heartbeat.millidegrees = std::max(report.heartbeat.millidegrees.value_or(kColdest), *one);
    } else if (key == "cores") {
      report.description.cores = static_cast<std::uint32_t>(number_of<std::uint64_t>(value, 1, kMostCores).value_or(0));
    } else if (key == "memory") {
      std::string_view unit;
      const auto kilobytes = number_of<std::uint64_t>(value, 1, kMostKilobytes, &unit);
      if (kilobytes && unit == " kB") report.description.memory_bytes = *kilobytes * 1024;
    } else if (key == "cpu") {
      report.description.cpu = text_of(value);
    } else if (key == "model") {
      report.description.model = text_of(value);
    } else if (key == "lease") {
      std::string_view rest;
      const auto epoch = number_of<lease::Epoch>(value, 1, session::kMaxSshEpoch, &rest);
      if (epoch && session::is_lock_name(value) && report.locks.size() < session::kMaxSshLocks)
        report.locks.push_back({*epoch, std::string(value)});
    }
  }
  report.description.arch = arch_of(machine);
  if (report.description.arch.empty()) return missing("a Linux on an architecture that servers are for", machine);
  if (boot_id.size() != kBootIdText) return missing("the id of the system's start", boot_id);
  report.boot_id = boot_id_of(boot_id);
  const auto boot_ms = thousandths(uptime, kMostUptimeSeconds);
  if (!boot_ms) return missing("the seconds since the system's start", uptime);
  report.heartbeat.boot_ms = *boot_ms;
  if (report.description.cpu.empty()) report.description.cpu = report.description.model;
  return report;
}

}  // namespace ferry::farm
