#include "farm/web/site/metrics.h"

#include "base/format.h"
#include "base/printable.h"

namespace ferry::farm::http {
namespace {

void write_help(std::string& out, const char* name, const char* type, const char* help) {
  out += format("# HELP ferry_farm_%s %s\n# TYPE ferry_farm_%s %s\n", name, help, name, type);
}

void write_count(std::string& out, const char* name, const char* type, const char* help, std::uint64_t value) {
  write_help(out, name, type, help);
  out += format("ferry_farm_%s %llu\n", name, static_cast<unsigned long long>(value));
}

std::string escape_label(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

void write_counts(std::string& out, const char* name, const char* type, const char* help, const char* label,
                  const std::map<std::string, std::uint64_t>& values) {
  write_help(out, name, type, help);
  for (const auto& [key, value] : values) {
    out += format("ferry_farm_%s{%s=\"%s\"} %llu\n", name, label, escape_label(key).c_str(),
                  static_cast<unsigned long long>(value));
  }
}

}  // namespace

std::string metrics_text(const FarmNumbers& n) {
  std::string out;
  write_counts(out, "boards", "gauge", "Boards by state.", "state", n.boards_by_state);
  write_count(out, "boards_connected", "gauge", "Boards with a connection to the tracker.", n.boards_connected);
  write_count(out, "boards_leased", "gauge", "Boards that somebody holds.", n.boards_leased);
  write_count(out, "clients_connected", "gauge", "Clients with a connection to the tracker.", n.clients_connected);
  write_count(out, "requests_waiting", "gauge", "Requests for boards that wait.", n.requests_waiting);
  write_count(out, "leases_granted_total", "counter", "Leases granted.", n.leases_granted);
  write_counts(out, "leases_ended_total", "counter", "Leases and requests that have ended, by reason.", "reason",
               n.ended_by_reason);
  write_count(out, "refused_connections_total", "counter", "Connections refused for wrong keys or broken rules.",
              n.refused_connections);
  write_count(out, "relayed_bytes_total", "counter", "Bytes forwarded between clients and boards.", n.relayed_bytes);
  write_help(out, "longest_commit_seconds", "gauge", "Longest commit of the last minute.");
  out += format("ferry_farm_longest_commit_seconds %.6f\n", n.longest_commit_seconds);
  write_count(out, "scheduling", "gauge", "Whether this tracker schedules; 0: it stands by.", n.is_scheduling ? 1 : 0);
  write_count(out, "read_only", "gauge", "Whether the database cannot be written.", n.read_only_reason.empty() ? 0 : 1);
  return out;
}

}  // namespace ferry::farm::http
