/* The derivative of the logarithm of the gamma function of a positive number. */
DEVICE double digamma_of(double x) {
	double shift = 0;
	for (; x < 10; x++)
		shift -= 1 / x;
	const double y = 1 / (x * x);
	return shift + log(x) - 0.5 / x - y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y * (1. / 240 - y * (1. / 132 - y * 691. / 32760)))));
}

/* How a sample x of the gamma distribution moves with its shape s while its quantile stays. Where x is above s it is taken from the upper tail. */
DEVICE double gamma_slope(double s, double x) {
	if (!(s > 0 && x >= 0) || s == INFINITE || x == INFINITE)
		return NOT_A_NUMBER;
	if (x > 1 && x > s) {
		const double h = 1e-4 * (s > 1e-3 ? s : 1e-3);
		const double slope = (8 * (log(upper_gamma(s + h, x)) - log(upper_gamma(s - h, x))) - (log(upper_gamma(s + 2 * h, x)) - log(upper_gamma(s - 2 * h, x)))) / (12 * h);
		return slope * exp(log(upper_gamma(s, x)) - ((s - 1) * log(x) - x - lgamma(s)));
	}
	double term = x / s, psi = digamma_of(s + 1), sum = term * (psi - log(x));
	for (int n = 1; n < 2000; n++) {
		psi += 1 / (s + n);
		term *= x / (s + n);
		const double part = term * (psi - log(x));
		sum += part;
		if (fabs(part) < 1e-17 * fabs(sum))
			break;
	}
	return sum;
}

/* Of two operands. */
#define OF_TWO(name, value) KERNEL(name) { \
	for (i64 i = FIRST; i < a.n; i += STEP) { \
		const double x = OPERAND(1), y = OPERAND(2); \
		store0((T0 *)a.at[0] + i, (C0)(value)); \
	} \
}

OF_TWO(slope_of_gamma, gamma_slope(x, y))
OF_TWO(zeta_of, zeta(x, y))
OF_TWO(igamma, lower_gamma(x, y))
OF_TWO(igammac, upper_gamma(x, y))
OF_TWO(polynomial_of, polynomial(x, y, (char)a.number[2]))
OF_TWO(shifted_of, polynomial(2 * x - 1, y, (char)a.number[2]))
