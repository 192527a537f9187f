// Reads suite.toml, in which a project says what the gate compares:
//
//     name = "vision"                 # optional; default: the name of the folder
//     error-level = "1%"              # the probability of a false alarm anywhere in a run
//     pairs = 64                      # of processes, at most, for each case on each board
//     cannot-tell = "fail"            # or "pass"
//
//     tolerance = "2%"                # what many cases share: see below
//
//     [boards.pi]                     # without boards, --remote names one
//     remote = "farm://lab/rpi4"
//     count = 2                       # boards of a farm that share its cases; default: 1
//
//     [cases.mm]
//     kernel = "kernels/mm.tc"        # or a C, C++ or CUDA C file, a network, a compiled module
//     function = "mm"                 # where there are several
//     sizes = "M=512,N=512,K=512"     # as --size, or a list of them
//     inputs = ["A=:normal"]          # as --arg
//     schedule = "mm.schedule"        # or "default", "none"
//     knobs = ["rows=8"]              # as --knob
//     signature = "mm(in f32[n,n] A, out f32[n,n] C)"
//     launch = "grid=n, block=256"    # as --launch, of CUDA C
//     fixed = "K=512"                 # as --fix
//     bindings = ["shape=@shape.npy"] # as --bind
//     winograd = true                 # as --winograd; int8 = false as --int8 off
//     allow-difference = false        # true: both sides may compute different results
//     limits = { time = "3ms", bytes = "40K", flops = "50%" }  # of the current side alone; flops: share of the peak
//     boards = ["pi"]                 # default: all
//     was = "mm_old"                  # the earlier name of a case that was renamed
//
// These keys may also stand at the top, for all cases that do not have them themselves:
//
//     tolerance = "1%"                # a smaller change does not matter
//     target = "aarch64"              # default: that of the board
//     cflags = "-O3"
//     records = "tuned.jsonl"         # as --records of ferry compile; default: none
//     seed = 3                        # random inputs are drawn from it; default: another one in each run
//     rtol = 1e-4                     # between the results of both sides
//     atol = 0
//     thorough = true                 # as --thorough
//     threads = 1
//     cores = "big"                   # as --cores
//     cold = true                     # caches are empty before each sample
//     warm = true                     # all calls have the same inputs, as --warm
//     samples = 40                    # in a process, at least
//     timeout = "10s"                 # for the samples of a process
//
// Relative names of files begin in the folder of the suite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/client/connect/schemes.h"
#include "host/gate/api/suite.h"

namespace ferry::gate {

inline constexpr std::size_t kMaxSuiteBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMaxCases = 10'000, kMaxBoards = 64;
inline constexpr std::size_t kMaxCaseName = 200;  // in bytes; also the limit of names of boards and suites

// Both throw UsageError, which names the file, the line and the key, and says what was expected there. read_suite()
// also notes in each case if one of its files is missing, which concerns this case alone. The remotes of boards are of
// these `schemes`. `seed` is that of the random inputs where the suite has none.
Suite read_suite(const std::string& path, const session::Schemes& schemes, std::uint64_t seed = 0);
Suite parse_suite(std::string_view text, const std::string& path, const session::Schemes& schemes);

}  // namespace ferry::gate
