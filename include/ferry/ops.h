// Operators of neural networks, each of which builds tensors of ferry/lang.h. The last argument that is a text names
// the result and, with a suffix, the stages that it needs.
#pragma once

#include "ferry/ops/blocked.h"
#include "ferry/ops/convolution.h"
#include "ferry/ops/elementwise.h"
#include "ferry/ops/indexing.h"
#include "ferry/ops/integers.h"
#include "ferry/ops/matmul.h"
#include "ferry/ops/normalization.h"
#include "ferry/ops/pooling.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/shapes.h"
#include "ferry/ops/winograd.h"
