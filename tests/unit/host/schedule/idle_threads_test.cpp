#include "host/schedule/idle_threads.h"

#include <doctest/doctest.h>

#include "ferry/lang/program.h"
#include "ferry/lang/text.h"

using namespace ferry;
using schedule::Schedule;

TEST_CASE("a copy into shared memory that one thread makes for many is told") {
  const lang::Program program =
      lang::parse("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "mm.tc").front();
  const std::string begin =
      "C: split n 128 -> no ni; bind no blockIdx.x; bind ni threadIdx.x; split k 8 -> ko ki; reorder m no ni ko ki\n"
      "A: cache_read shared -> AA\nAA: compute_at C ko\n";
  const auto notes = [&](std::string text) {
    for (char& c : text)
      if (c == ';') c = '\n';
    return schedule::notes_on_idle_threads(Schedule::replay(program, text));
  };
  CHECK(notes(begin) ==
        std::vector<std::string>{"one thread of 128 computes 'AA' while the others wait, because none of "
                                 "its loops is bound to threads"});
  CHECK(notes(begin + "AA: fuse i0 i1 -> f; split f 128 -> fo fi; bind fi threadIdx.x\n").empty());
  CHECK(notes("C: parallel m").empty());
}
