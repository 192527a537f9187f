// All of libferry but measuring: the client, the compiler, and the language with its operators, intrinsics and
// schedules.
#pragma once

#include "ferry/client.h"
#include "ferry/compile.h"
#include "ferry/description.h"
#include "ferry/gpu_facts.h"
#include "ferry/intrinsics.h"
#include "ferry/lang.h"
#include "ferry/ops.h"
#include "ferry/schedule.h"
#include "ferry/server_status.h"
