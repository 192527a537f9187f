#include "ferry/schedule/default_schedule.h"

#include "host/autoschedule/decisions.h"

namespace ferry::autoschedule {

using schedule::Schedule;

Schedule default_schedule(const lang::Program& program, const Target& target, const Sizes& sizes) {
  return decide_schedule(program, target, sizes, choose_default).schedule;
}

}  // namespace ferry::autoschedule
