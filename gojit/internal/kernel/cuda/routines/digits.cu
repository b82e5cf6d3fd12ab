/* Numbers as fractions from one half to one, with signs, times powers of two. Tensors: fractions, exponents, numbers. */
KERNEL(split) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const double x = (double)load0((const T0 *)a.at[2] + i);
		i32 exponent = 0;
		store0((T0 *)a.at[0] + i, (C0)(x - x != 0 ? x : frexp(x, &exponent)));
		((i32 *)a.at[1])[i] = exponent;
	}
}
