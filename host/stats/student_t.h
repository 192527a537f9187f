// Student's t distribution: the distribution of a standardised mean whose variance is estimated too.
#pragma once

namespace ferry::stats {

// Returns the probability of a value below t; degrees of freedom at least 1, not necessarily integral.
double student_t_cdf(double t, double degrees);
// Returns the t that a value is below with this probability, 0 < probability < 1.
double student_t_quantile(double probability, double degrees);

}  // namespace ferry::stats
