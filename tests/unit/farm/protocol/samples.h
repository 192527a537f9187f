// One message of every kind of the farm's protocol, with all fields set.
#pragma once

#include "farm/protocol/codec.h"

namespace ferry::farm::wire {

inline Description sample_description() {
  return {"Raspberry Pi 4 Model B",
          "aarch64",
          "Cortex-A72",
          "0.1.0",
          4ull << 30,
          4,
          {"neon", "crc32"},
          {{"cuda", "sm_53"}},
          {{"bench", ""}, {"rack", "b2"}}};
}

inline secure::KeyBytes sample_psk(std::uint8_t first) { return {first, 2, 3, 255}; }

inline LeaseRequest sample_request() {
  return {
      0x1122334455667788u, {"rpi4", "arch=x86_64,memory>=2G"}, 50, 3'600'000, 600'000, LeaseKind::reserved, "nightly"};
}

inline Hash sample_hash(std::uint8_t first) { return {first, 2, 3, 255}; }

inline BaselineListing sample_baseline() {
  return {"mm",   "x86_64+avx2", sample_hash(1), sample_hash(2), {sample_hash(3), sample_hash(4)},
          "1f3a", 1'700'000'000, "anna"};
}

// Calls check(name, message) for each.
template <class Check>
void for_each_message(Check check) {
  check("join", Join{1, 2, "pi-3", 77, 123'456, 2048, {9, 1025}, "192.168.1.17:9090", sample_description()});
  check("joined", Joined{1, "pi-3"});
  check("hello", Hello{1, 3, "ferry 0.1.0 user@laptop"});
  check("welcome", Welcome{1, "anna"});
  check("list_devices", ListDevices{"arch=aarch64", "pi-2"});
  check("device page", DevicePage{{{"pi-3",
                                    sample_description(),
                                    "good",
                                    true,
                                    9,
                                    "anna",
                                    48'312,
                                    true,
                                    1250,
                                    "ssh",
                                    {"pi-4", "pi-5"},
                                    "pi-5",
                                    60'000},
                                   {}},
                                  true});
  check("list_queue", ListQueue{9});
  check("queue page", QueuePage{{{9, "anna", {"rpi4"}, 50, 1500, 2, 60'000, "pi-4", "nightly"}, {}}, true});
  check("list_leases", ListLeases{9});
  check("lease page", LeasePage{{{9, "anna", {"pi-3", "pi-4"}, LeaseKind::reserved, 1000, "nightly"}}, false});
  check("list_history", ListHistory{"pi-3", "anna", 1'000, 9});
  check("history page", HistoryPage{{{9,
                                      "anna",
                                      {"rpi4"},
                                      {"pi-3"},
                                      50,
                                      LeaseKind::reserved,
                                      1'000,
                                      2'000,
                                      3'000,
                                      "lease_expired",
                                      "timeout",
                                      "it has lasted for an hour",
                                      "nightly"},
                                     {}},
                                    true});
  check("list_audit", ListAudit{"pi-3", 4});
  check("audit page", AuditPage{{{4, 1'000, "anna", "retire", "pi-3", "its card is worn"}, {}}, true});
  check("list_health", ListHealth{"pi-3", 4});
  check("health page",
        HealthPage{{{4, 1'000, "compute", 2'000'000, 1'900'000, "passed", 48'312, "5% slower"}, {}}, true});
  check("list_sessions", ListSessions{"pi-3", 4});
  check("session page",
        SessionPage{{{4, 3'000, 2'000, 9, "anna", "ferry 0.1.0 anna@laptop", "a kernel crashed"}, {}}, true});
  check("list_credentials", ListCredentials{100});
  check("credential page", CredentialPage{{{CredentialKind::token, "anna", Role::admin, 1'000, 2'000}, {}}, true});
  check("done", Done{});
  check("order_board", OrderBoard{"pi-3", BoardOrder::retire});
  check("end_lease", EndLease{9});
  check("enrol_board", EnrolBoard{"pi-3", {{"bench", ""}, {"rack", "b2"}}, "box", true});
  check("add_client", AddClient{"anna", Role::admin});
  check("key made", KeyMade{sample_psk(1)});
  check("add_token", AddToken{"anna", Role::viewer});
  check("token made", TokenMade{"ferry_0123456789"});
  check("revoke_credential", RevokeCredential{CredentialKind::board, "pi-3"});
  check("summarize", Summarize{});
  check("farm summary", FarmSummary{12, 11, 3, 2, 60'000});
  check("relay", UseRelay{9, 1});
  check("relay offered", RelayOffered{0x1122334455667788u});
  check("find_objects", FindObjects{{sample_hash(1), sample_hash(2)}});
  check("objects found", ObjectsFound{{1, 0}});
  check("put_object", PutObject{sample_hash(1), 100'000, 28'672, {1, 2, 255}});
  check("object taken", ObjectTaken{true});
  check("get_object", GetObject{sample_hash(1), 28'672});
  check("object piece", ObjectPiece{100'000, {1, 2, 255}});
  check("trim_objects", TrimObjects{});
  check("objects trimmed", ObjectsTrimmed{3, 2, 1});
  check("list_baseline", ListBaseline{"kernels", "main", 100});
  check("baseline page", BaselinePage{{sample_baseline(), {}}, true});
  check("list_baselines", ListBaselines{"kernels"});
  check("baseline names", BaselineNames{{"main", "release"}});
  check("set_baseline", SetBaseline{"kernels", "main", sample_baseline()});
  check("baseline set", BaselineSet{{sample_hash(3)}, true});
  check("delete_baseline", DeleteBaseline{"kernels", "main"});
  check("baseline deleted", BaselineDeleted{3});
  check("delete_cases", DeleteCases{"kernels", "main", {"mm", "pool"}});
  check("cases deleted", CasesDeleted{2});
  check("list_verdicts", ListVerdicts{"kernels", "mm", 9});
  check("verdict page", VerdictPage{{{9, {'{', '}'}, "anna"}, {}}, true});
  check("add_verdict", AddVerdict{"kernels", "mm", {'{', '}'}});
  check("verdict added", VerdictAdded{});
  check("rekey", Rekey{sample_psk(1)});
  check("session_ended", SessionEnded{{9, 1025}, "ferry 0.1.0 anna@laptop", 2'000, "a kernel crashed"});
  check("open_relay", OpenRelay{77});
  check("keepalive", Keepalive{});
  check("heartbeat", Heartbeat{123'456, -5'000, true, 1250, 4});
  check("heartbeat without a sensor", Heartbeat{1, {}, false, 0, 0});
  check("acknowledged", Acknowledged{{9, 1025}, 2});
  check("lease_over", LeaseOver{{9, 1025}});
  check("lease holder", LeaseHolder{{9, 1025}, 0x1122334455667788u});
  check("announce", Announce{{9, 1025}, 2, 999'000, sample_psk(1)});
  check("withdraw", Withdraw{{9, 1025}});
  check("probe", Probe{4});
  check("refused", Refused{"this board is retired"});
  check("submit", Submit{sample_request()});
  check("attach", Attach{sample_request(), true});
  check("release", Release{9});
  check("extend", Extend{9, 60'000});
  check("waiting", Waiting{9, 2, 60'000, "the board that fits is not connected"});
  check("granted", Granted{9, 1000, {{"pi-3", "192.168.1.17:9090", 1025, sample_psk(1)}, {"pi-4", "[::1]:1", 7, {}}}});
  check("extension", Extension{9, 1000, "others wait"});
  check("warning", Warning{9, 1000});
  check("ended", Ended{9, "lease_expired", "timeout", "it has lasted for an hour"});
}

}  // namespace ferry::farm::wire
