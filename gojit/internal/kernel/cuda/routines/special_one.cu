/* Of one operand. */
#define OF_ONE(name, value) KERNEL(name) { \
	for (i64 i = FIRST; i < a.n; i += STEP) { \
		const double x = OPERAND(1); \
		store0((T0 *)a.at[0] + i, (C0)(value)); \
	} \
}

OF_ONE(airy_ai, airy(x))
OF_ONE(spherical_bessel_j0, spherical(x))
OF_ONE(bessel_j0, j0(x))
OF_ONE(bessel_j1, j1(x))
OF_ONE(bessel_y0, x < 0 ? NOT_A_NUMBER : y0(x))
OF_ONE(bessel_y1, x < 0 ? NOT_A_NUMBER : y1(x))
OF_ONE(mvlgamma, gamma_of_dimensions(x, a.number[1]))
OF_ONE(polygamma, __longlong_as_double(a.number[2]) * zeta((double)a.number[1] + 1, x))
