// Tests how usage is counted and forgotten.
#include "farm/core/schedule/fair_share.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

using farm::FairShare;
using farm::Time;
using std::chrono::hours;
using std::chrono::seconds;

TEST_CASE("a running lease counts with each of its boards") {
  FairShare shares;
  shares.start("ann", 2, Time(seconds(100)));
  CHECK(shares.share("ann", Time(seconds(130))) == doctest::Approx(60));
  CHECK(shares.share("ben", Time(seconds(130))) == 0);
}

TEST_CASE("what was used counts half after a day") {
  FairShare shares;
  shares.start("ann", 1, Time(seconds(0)));
  shares.end("ann", 1, Time(seconds(0)), Time(seconds(80)));
  CHECK(shares.share("ann", Time(seconds(80))) == doctest::Approx(80));
  CHECK(shares.share("ann", Time(seconds(80) + hours(24))) == doctest::Approx(40));
  CHECK(shares.share("ann", Time(seconds(80) + hours(48))) == doctest::Approx(20));
}

TEST_CASE("a holder of twice the weight may use twice as much") {
  FairShare shares;
  shares.set_weight("ci", 2);
  shares.start("ci", 2, Time(seconds(0)));
  shares.start("ann", 1, Time(seconds(0)));
  CHECK(shares.share("ci", Time(seconds(50))) == doctest::Approx(shares.share("ann", Time(seconds(50)))));
}

TEST_CASE("usage survives a restart, and a clock that was set back adds nothing") {
  FairShare shares;
  shares.restore("ann", 1, 40, Time(hours(48)));
  CHECK(shares.share("ann", Time(hours(72))) == doctest::Approx(20));
  CHECK(shares.share("ann", Time(hours(1))) == doctest::Approx(40));
}

}  // namespace
}  // namespace ferry::test
