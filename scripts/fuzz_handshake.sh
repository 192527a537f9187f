#!/usr/bin/env bash
# Runs libFuzzer, under the address and undefined behaviour sanitizers, on all code that reads bytes before a client has
# proved that it holds a key, and on encrypted records. Starts from tests/fuzz/corpus/handshake, which every test run
# replays, and stores new inputs in build/fuzz_handshake.
#
#   scripts/fuzz_handshake.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?"usage: scripts/fuzz_handshake.sh SECONDS"}
out=build/fuzz_handshake
mkdir -p $out/corpus
clang++-19 -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I. -Iinclude -DASIO_STANDALONE \
  -Ibuild/libsodium/"$(uname -m)"/include -DSODIUM_STATIC \
  base/*.cpp module/*.cpp rpc/wire/*.cpp rpc/transport/loopback.cpp rpc/transport/transport.cpp rpc/secure/*.cpp \
  tests/fuzz/handshake/input.cpp tests/fuzz/handshake/libfuzzer/main.cpp build/libsodium/"$(uname -m)"/lib/libsodium.a \
  -o $out/fuzz
exec $out/fuzz -max_total_time="$seconds" -max_len=4096 -timeout=10 -print_final_stats=1 -artifact_prefix=$out/ \
  $out/corpus tests/fuzz/corpus/handshake
