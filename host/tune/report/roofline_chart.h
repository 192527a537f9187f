// The default and the best schedule under the device's roofline.
#pragma once

#include "host/text/html.h"
#include "host/tune/tune.h"

namespace ferry::tune {

// Says why there is no chart if the peaks are not known. Writes nothing if no schedule was measured.
void write_roofline(html::Html& html, const Tuned& tuned);

}  // namespace ferry::tune
