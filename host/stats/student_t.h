// Student's distribution: how far an estimate may lie from the truth when its spread was estimated too.
#pragma once

namespace ferry::stats {

// The probability of a value below t; degrees of freedom at least 1, not necessarily whole.
double student_t_cdf(double t, double degrees);
// The t that a value lies below with this probability, 0 < probability < 1.
double student_t_quantile(double probability, double degrees);

}  // namespace ferry::stats
