// Tests the evaluation of a board's files, with the contents that a device would have read from fake boards.
#include "ferry/bench/environment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "host/measure/warnings.h"

namespace ferry::bench {
namespace {

const std::string kCpu = "/sys/devices/system/cpu/cpu{core}/";

// Steady samples without disturbances, long enough for the clock.
Timing calm() {
  Timing timing;
  for (int i = 0; i < 40; ++i) timing.seconds.push_back(1e-3 * (1 + 0.001 * ((i * 7) % 10)));
  timing.switches.assign(40, 0);
  timing.cores.assign(40, 1);
  timing.number = 10;
  timing.clock_resolution_ns = 20;
  timing.elapsed_s = 0.4;
  return timing;
}

std::vector<std::string> warned(const Timing& timing) { return warnings(timing, read_environment(timing), 4); }

TEST_CASE("a calm measurement on a silent board has no warnings, and everything missing is said to be") {
  const Timing timing = calm();
  CHECK(warned(timing).empty());
  const Environment board = read_environment(timing);
  REQUIRE(board.quantities.size() == 14);
  for (const Quantity& quantity : board.quantities) {
    CAPTURE(quantity.name);
    CHECK_FALSE(quantity.before.has_value());
    CHECK_FALSE(quantity.missing.empty());
  }
}

TEST_CASE("what a board says that is no finite number counts as missing") {
  Timing timing = calm();
  for (const char* text : {"inf", "-inf", "nan", "1e999", "infinity\n"}) {
    CAPTURE(text);
    timing.watched = {{"/sys/class/thermal/thermal_zone0/temp", text, "52000\n"},
                      {kCpu + "cpufreq/scaling_cur_freq", "1800000\n", text},
                      {"/proc/stat", "cpu  1 2 3 4 5 6 7 " + std::string(text), "cpu  1 2 3 4 5 6 7 8"}};
    const Environment board = read_environment(timing);
    for (const char* name : {"temperature_c", "frequency_hz", "steal_s"}) CHECK_FALSE(board.at(name).before);
    CHECK(warned(timing).empty());
  }
}

TEST_CASE("a device without huge pages for tensors that are large enough for them is warned of") {
  Timing timing = calm();
  timing.small_pages = true;
  CHECK(warned(timing).size() == 1);
}

TEST_CASE("a GPU that was slowed down, and one whose clock moved, are warned of") {
  Timing timing = calm();
  timing.watched = {
      {"gpu:sm_clock_mhz", "1980", "1410"}, {"gpu:power_mw", "650500", "699900"}, {"gpu:throttle_reasons", "1", "36"}};
  const Environment board = read_environment(timing);
  CHECK(*board.at("gpu_clock_hz").before == 1.98e9);
  CHECK(*board.at("gpu_power_w").after == doctest::Approx(699.9));
  CHECK_FALSE(board.at("gpu_temperature_c").before.has_value());
  CHECK(warned(timing) == std::vector<std::string>{"the GPU was slowed down by its power limit, its temperature limit",
                                                   "the GPU's clock moved 1980 -> 1410 MHz"});
}

TEST_CASE("frequency, governor, temperature and energy come out of a fake board") {
  Timing timing = calm();
  timing.watched = {{kCpu + "cpufreq/scaling_cur_freq", "1800000\n", "1200000\n"},
                    {kCpu + "cpufreq/scaling_governor", "ondemand\n", "ondemand\n"},
                    {"/sys/class/thermal/thermal_zone0/temp", "51000\n", "52000\n"},
                    {"/sys/class/thermal/thermal_zone3/temp", "61000\n", "84300\n"},
                    {"/sys/class/powercap/intel-rapl:0/energy_uj", "99000000\n", "1000000\n"},
                    {"/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "100000000\n", "100000000\n"},
                    {"/proc/loadavg", "5.50 1 1 2/300 77\n", "5.1 1 1 2/300 78\n"},
                    {"/proc/stat", "cpu  1 2 3 4 5 6 7 100 0 0\n", "cpu  1 2 3 4 5 6 7 150 0 0\n"}};
  const Environment board = read_environment(timing);
  CHECK(*board.at("frequency_hz").before == 1.8e9);
  CHECK(*board.at("temperature_c").after == doctest::Approx(84.3));
  CHECK(*board.increase("energy_j") == doctest::Approx(2));
  CHECK(*board.increase("steal_s") == doctest::Approx(0.5));
  CHECK(board.governor_after == "ondemand");
  CHECK(warned(timing) == std::vector<std::string>{"frequency moved 1.8 -> 1.2 GHz",
                                                   "the governor 'ondemand' may change the frequency at any time",
                                                   "temperature 84 C", "load 5.5 on 4 processors",
                                                   "the virtual machine waited 500 ms for its processors"});
}

TEST_CASE("a Raspberry Pi's flags are read from sysfs or the firmware's mailbox, and said in words") {
  for (const char* path : {"/sys/devices/platform/soc/soc:firmware/get_throttled", "/dev/vcio"}) {
    Timing timing = calm();
    timing.watched = {{path, "50000\n", "50005\n"}};
    CHECK(warned(timing) == std::vector<std::string>{"the board slows itself down: under-voltage, throttled"});
  }
}

TEST_CASE("throttling of x86 counts and cooling of ARM processors are warned of") {
  Timing timing = calm();
  timing.watched = {{kCpu + "thermal_throttle/core_throttle_count", "3\n", "5\n"},
                    {"/sys/class/thermal/cooling_device0/type", "gpu-fan\n", "gpu-fan\n"},
                    {"/sys/class/thermal/cooling_device0/cur_state", "4\n", "4\n"},
                    {"/sys/class/thermal/cooling_device1/type", "cpufreq-cpu0\n", "cpufreq-cpu0\n"},
                    {"/sys/class/thermal/cooling_device1/cur_state", "0\n", "2\n"}};
  CHECK(*read_environment(timing).at("cooling_state").after == 2);
  CHECK(warned(timing) ==
        std::vector<std::string>{"the processor was throttled meanwhile", "the processor is slowed down to cool it"});
}

TEST_CASE("a call that takes far longer by itself than among others is warned of") {
  Timing timing = calm();
  timing.seconds.assign(timing.seconds.size(), 4e-6);
  timing.number = 1'000'000;
  timing.alone_s = 11e-6;  // colder caches
  CHECK(warned(timing).empty());
  timing.alone_s = 13e-6;
  CHECK(warned(timing) ==
        std::vector<std::string>{"a call by itself takes 13.0 us, and 4.00 us among others: it may do "
                                 "work once for several calls"});
  timing.seconds.assign(timing.seconds.size(), 1e-6);
  timing.alone_s = 9e-6;  // a cold microsecond
  CHECK(warned(timing).empty());
}

TEST_CASE("samples that were disturbed, drift, or are too short are warned of") {
  Timing timing = calm();
  timing.switches[3] = timing.switches[7] = timing.switches[8] = 2;
  timing.cores[39] = 2;
  CHECK(warned(timing) ==
        std::vector<std::string>{"3 of 40 samples hit by context switches", "the measurement moved between 2 cores"});
  Timing drifting = calm();
  for (std::size_t i = 27; i < 40; ++i) drifting.seconds[i] *= 1.5;
  const auto about = warned(drifting);
  CHECK(std::find(about.begin(), about.end(), "times drifted by +50% from the first to the last third") != about.end());
  Timing brief = calm();
  brief.clock_resolution_ns = 1'000'000;
  CHECK(warned(brief) == std::vector<std::string>{"samples of 10.0 ms are short for a clock that steps by 1.00 ms"});
  Timing cut = calm();
  cut.ended = TimingEnd::timeout;
  cut.seconds.resize(3);
  CHECK(warned(cut) == std::vector<std::string>{"stopped by the timeout after 3 samples",
                                                "too few samples to say how well the median is known"});
}

TEST_CASE("why nothing was counted is said in words") {
  Timing timing = calm();
  timing.counters_errno = 13;
  CHECK(read_environment(timing).counters_missing ==
        "the device forbids them (kernel.perf_event_paranoid, or a sandbox)");
}

}  // namespace
}  // namespace ferry::bench
