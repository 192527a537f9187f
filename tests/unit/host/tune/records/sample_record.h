// A record of tuning with all of its fields.
#pragma once

#include "host/tune/records/tune_record.h"

namespace ferry::test {

inline Hash hash_of_all(std::uint8_t byte) {
  Hash hash;
  hash.fill(byte);
  return hash;
}

inline tune::TuneRecord sample_record(double seconds = 1.25e-6, std::int64_t unix_ms = 1'700'000'000'123) {
  tune::TuneRecord record;
  record.key = {hash_of_all(0xa1), hash_of_all(2), {"x86_64", "znver4", {"avx2", "fma"}, 8}};
  record.function = "mm";
  record.sizes = {{"K", 70}, {"M", 512}};
  record.fixed = {"K"};
  record.device = "lab/pi-3";
  record.l1_bytes = 32768;
  record.l2_bytes = 1048576;
  record.point = "C: tile=14x2\n";
  record.directives = "s0: split 0 8\ns0: parallel 0.outer\n";
  record.code = hash_of_all(3);
  record.time = {seconds, seconds * 0.9, seconds * 1.1};
  record.default_code = hash_of_all(4);
  record.default_time = {2.5e-6, 2.25e-6, 3e-6};
  record.version = "0.1.0";
  record.environment = {{"governor", "performance"}};
  record.unix_ms = unix_ms;
  return record;
}

}  // namespace ferry::test
