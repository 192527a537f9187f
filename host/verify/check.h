// Checks what a kernel computes: against its definition or another kernel, on a device or without one.
//
//     const verify::CheckReport report = verify::check(*make_compiler(), {.kernel = {.file = "mine.c"},
//                                                                         .call = {.sizes = {"N=100"}},
//                                                                         .reference = "mm.tc"});
//     if (!report.is_fine()) std::cerr << report.mistake;
#pragma once

#include <string>

#include "ferry/verify/check_request.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/kernel.h"

namespace ferry::verify {

// Calls the kernel once without a device. One in ferry's own notation is interpreted loop by loop and thread by thread,
// see check_interpreted.h, and compared with its definition. One in another language runs on this machine under clang's
// sanitizers, see check_sanitized.h, and is compared with the reference, if there is one. Throws Error
// (invalid_argument) for a kernel that cannot be compiled, called or checked so.
CheckReport check(const Compiler& compiler, const CheckRequest& request, const Observer& observer = {});

// Calls the kernel once on the device. It is compared with its definition, if it has one, and with the reference, whose
// definition is evaluated on this machine, or which runs on the device too. A kernel that fails there is a mistake.
// Throws as above, and Error if the device cannot be used.
CheckReport check(const Compiler* compiler, const Device& device, const CheckRequest& request,
                  const Observer& observer = {});

}  // namespace ferry::verify
