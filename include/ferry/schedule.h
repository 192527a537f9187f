// Schedules, which say how a kernel computes what ferry/lang.h defines. docs/schedules.md describes the primitives.
#pragma once

#include "ferry/schedule/default_schedule.h"
#include "ferry/schedule/directive.h"
#include "ferry/schedule/module_schedule.h"
#include "ferry/schedule/point_text.h"
#include "ferry/schedule/schedule.h"
#include "ferry/schedule/schedule_text.h"
