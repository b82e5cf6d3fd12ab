MOVES(take, *(T0 *)at[0] = *(const T0 *)(at[1] + d))

MOVES(put, *(T0 *)(at[0] + d) = *(const T0 *)at[1])
