/* Special functions of elements, computed in double. Tensors: result, operands; numbers: the step of each operand, 0 where one element stands for all,
   and what a function asks for besides. */
#define PI 3.14159265358979323846
#define OPERAND(k) ((double)load##k((const T##k *)a.at[k] + i * a.number[(k) - 1]))

/* K of order one third at x >= 1 by its continued fraction. */
DEVICE double steed(double x) {
	const double order = 1.0 / 3;
	const double a1 = 0.25 - order * order;
	double b = 2 * (1 + x), d = 1 / b, step = d, q1 = 0, q2 = 1, q = a1, c = a1, s = -a1, sum = 1 + a1 * d;
	for (double i = 2; i < 10000; i++) {
		s -= 2 * (i - 1);
		c = -s * c / i;
		const double next = (q1 - b * q2) / s;
		q1 = q2;
		q2 = next;
		q += c * q2;
		b += 2;
		d = 1 / (b + s * d);
		step *= b * d - 1;
		const double change = q * step;
		sum += change;
		if (fabs(change) < fabs(sum) * 1e-17)
			break;
	}
	return sum;
}

DEVICE double airy_left(double x) {
	const double z = 2.0 / 3 * x * sqrt(x), angle = z + PI / 4;
	double term = 1, even = 1, odd = 0;
	for (int k = 1; k < 30; k++) {
		const double n = k, next = term * (6 * n - 5) * (6 * n - 1) / (72 * n * z);
		if (fabs(next) > fabs(term))
			break;
		term = next;
		if (k % 2)
			odd += k % 4 == 1 ? term : -term;
		else
			even += k % 4 == 0 ? term : -term;
	}
	return (sin(angle) * even - cos(angle) * odd) / (sqrt(PI) * sqrt(sqrt(x)));
}

/* Airy's function: from K to the right of 2, an asymptotic series to the left of -8, and its power series between. */
DEVICE double airy(double x) {
	if (x - x != 0)
		return NOT_A_NUMBER;
	if (x > 103.892)
		return 0;
	if (x >= 2) {
		const double z = 2.0 / 3 * x * sqrt(x);
		return sqrt(x / 3) / PI * sqrt(PI / (2 * z)) * exp(-z) / steed(z);
	}
	if (x < -8)
		return airy_left(-x);
	double f = 1, g = x, even = 1, odd = x;
	const double cube = x * x * x;
	for (double k = 1; k < 200; k++) {
		even *= cube / ((3 * k - 1) * 3 * k);
		odd *= cube / (3 * k * (3 * k + 1));
		f += even;
		g += odd;
		if (fabs(even) < fabs(f) * 1e-18 && fabs(odd) < fabs(g) * 1e-18)
			break;
	}
	return 0.35502805388781723926 * f - 0.25881940379280679841 * g;
}

DEVICE double spherical(double x) {
	if (fabs(x) == INFINITE)
		return 0;
	if (fabs(x) >= 0.5)
		return sin(x) / x;
	double term = 1, sum = 1;
	for (double k = 1; k < 12; k++) {
		term *= -x * x / (2 * k * (2 * k + 1));
		sum += term;
	}
	return sum;
}

/* x to the power -s: the reciprocal of a product where that has few factors. */
DEVICE double inverse_power(double x, double s) {
	if (s > 8 || s != floor(s))
		return pow(x, -s);
	double product = x;
	for (int n = (int)s; n > 1; n--)
		product *= x;
	return 1 / product;
}

/* The zeta function of s > 1 and q >= 0, by Euler and Maclaurin. */
DEVICE double zeta_above(double s, double q) {
	const double coefficients[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0, -3617.0 / 10670622842880000.0};
	double sum = 0, x = q;
	for (; x < 9 + s; x++) {
		const double term = inverse_power(x, s);
		sum += term;
		if (term <= 1e-18 * sum)
			return sum;
	}
	const double last = inverse_power(x, s), area = last < 1e-290 ? pow(x, 1 - s) : last * x;
	sum += area / (s - 1) + 0.5 * last;
	double factor = s * last / x;
	for (int j = 0; j < 8; j++) {
		const double m = 2 * j + 1;
		sum += coefficients[j] * factor;
		factor *= (s + m) * (s + m + 1) / x / x;
	}
	return sum;
}

DEVICE double zeta(double s, double q) {
	if (s != s || q != q)
		return NOT_A_NUMBER;
	if (s == 1)
		return INFINITE;
	if (s < 1)
		return NOT_A_NUMBER;
	if (q <= 0 && q == floor(q))
		return INFINITE;
	if (q <= 0 && s != floor(s))
		return NOT_A_NUMBER;
	if (s == INFINITE)
		return q < 1 ? INFINITE : q == 1 ? 1 : 0;
	if (q >= 0)
		return zeta_above(s, q);
	/* those of the terms (q+k)^-s that are below zero are the first of zeta(s, 1-f), where f is in front of 1 as q is in front of an integer */
	const double f = q - floor(q), sign = fmod(s, 2.0) != 0 ? -1 : 1;
	return zeta_above(s, f) + sign * zeta_above(s, 1 - f) - sign * zeta_above(s, 1 - q);
}

/* The regularized upper incomplete gamma function as a continued fraction. */
DEVICE double upper_fraction(double s, double x) {
	const double tiny = 1e-300;
	double b = x + 1 - s, c = 1 / tiny, d = 1 / b, h = d;
	for (int i = 1; i < 1000; i++) {
		const double an = -(double)i * (i - s);
		b += 2;
		d = an * d + b;
		if (fabs(d) < tiny)
			d = tiny;
		c = b + an / c;
		if (fabs(c) < tiny)
			c = tiny;
		d = 1 / d;
		h *= d * c;
		if (fabs(d * c - 1) < 1e-16)
			break;
	}
	return h * exp(s * log(x) - x - lgamma(s));
}

DEVICE double lower_gamma(double s, double x) {
	if (x < 0 || s < 0 || s != s || x != x || (s == INFINITE && x == INFINITE))
		return NOT_A_NUMBER;
	if (s == INFINITE)
		return 0;
	if (s == 0)
		return x == 0 ? NOT_A_NUMBER : 1;
	if (x == 0)
		return 0;
	if (x == INFINITE)
		return 1;
	if (x > 1 && x > s)
		return 1 - upper_fraction(s, x);
	double term = 1 / s, sum = term;
	for (int k = 1; k < 2000; k++) {
		term *= x / (s + k);
		sum += term;
		if (term < sum * 1e-17)
			break;
	}
	return sum * exp(s * log(x) - x - lgamma(s));
}

DEVICE double upper_gamma(double s, double x) {
	if (x > 1 && x > s && s > 0 && x != INFINITE && s != INFINITE)
		return upper_fraction(s, x);
	return 1 - lower_gamma(s, x);
}

/* The logarithm of the gamma function of p dimensions. */
DEVICE double gamma_of_dimensions(double x, i64 p) {
	double sum = (double)(p * (p - 1)) / 4 * log(PI);
	for (i64 j = 0; j < p; j++)
		sum += lgamma(x - (double)j / 2);
	return sum;
}

/* Orthogonal polynomials of a degree, of the kinds t, u, v and w of Chebyshev's, and h, e, l and p for Hermite's two, Laguerre's and Legendre's. */
DEVICE double polynomial(double x, double degree, char kind) {
	const bool chebyshev = kind >= 't' && kind <= 'w';
	if (degree != degree || degree <= -1)
		return 0;
	const double n = trunc(degree), sign = fmod(n, 2.0) != 0 ? -1 : 1, wide = 2 * n + 1;
	if (n == 0)
		return 1;
	const double first = kind == 'u' || kind == 'h' ? 2 * x : kind == 'v' ? 2 * x - 1 : kind == 'w' ? 2 * x + 1 : kind == 'l' ? 1 - x : x;
	if (n == 1)
		return first;
	if (chebyshev && fabs(x) == 1) {
		const double size = kind == 't' ? 1 : kind == 'u' ? n + 1 : (kind == 'v') == (x < 0) ? wide : 1;
		return x > 0 ? size : sign * size;
	}
	if (chebyshev && n > 8 && fabs(x) < 1) {
		const double angle = acos(x);
		if (kind == 't')
			return cos(n * angle);
		if (kind == 'u')
			return sin((n + 1) * angle) / sin(angle);
		return kind == 'v' ? cos((n + 0.5) * angle) / cos(angle / 2) : sin((n + 0.5) * angle) / sin(angle / 2);
	}
	double before = 1, now = first;
	for (double k = 1; k < n && now == now; k++) {
		double next = 2 * x * now - before;
		if (kind == 'h')
			next = 2 * x * now - 2 * k * before;
		else if (kind == 'e')
			next = x * now - k * before;
		else if (kind == 'l')
			next = ((2 * k + 1 - x) * now - k * before) / (k + 1);
		else if (kind == 'p')
			next = ((2 * k + 1) * x * now - k * before) / (k + 1);
		before = now;
		now = next;
	}
	return now;
}
