UPDATES

MOVES(put, UPDATE((T0 *)(at[0] + d), load0((const T0 *)at[1])))
