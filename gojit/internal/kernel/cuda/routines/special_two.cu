/* Of two operands. */
#define OF_TWO(name, value) KERNEL(name) { \
	for (i64 i = FIRST; i < a.n; i += STEP) { \
		const double x = OPERAND(1), y = OPERAND(2); \
		store0((T0 *)a.at[0] + i, (C0)(value)); \
	} \
}

OF_TWO(zeta_of, zeta(x, y))
OF_TWO(igamma, lower_gamma(x, y))
OF_TWO(igammac, upper_gamma(x, y))
OF_TWO(polynomial_of, polynomial(x, y, (char)a.number[2]))
OF_TWO(shifted_of, polynomial(2 * x - 1, y, (char)a.number[2]))
