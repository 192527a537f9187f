#include "ferry/schedule/default_schedule.h"

#include "host/autoschedule/decide_at.h"

namespace ferry::autoschedule {

using schedule::Schedule;

Schedule default_schedule(const lang::Program& program, const Target& target, const Sizes& sizes) {
  return decide_schedule(program, target, sizes, choose_default).schedule;
}

Schedule schedule_at(const lang::Program& program, const Target& target, const Sizes& sizes, const PointText& point) {
  return decide_module_at(std::span(&program, 1), point, target, {}, sizes).front().schedule;
}

std::string point_at(const lang::Program& program, const Target& target, const Sizes& sizes, const PointText& point) {
  return point_text(decide_module_at(std::span(&program, 1), point, target, {}, sizes).front());
}

}  // namespace ferry::autoschedule
