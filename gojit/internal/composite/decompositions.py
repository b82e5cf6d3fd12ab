# What _jit_pass_run_decompositions replaces, as PyTorch's own registry has it: aten::var by its overload,
# the operators of its definition in its order. The texts of graphs name the lines of var (PyTorch's say 30 to 41).



def var_correction(input: Tensor, dim: Optional[List[int]]=None, correction: Optional[int]=None, keepdim: bool=False) -> Tensor:
  if correction is None:
    taken = 1
  else:
    taken = correction
  if dim is None:
    n = torch.numel(input)
    dims = annotate(List[int], [])
  else:
    n = 1
    for d in dim:
      n *= input.size(d)
    dims = dim
  mean = torch.mean(input, dims, True)
  sub = torch.sub(input, mean)
  sq = torch.mul(sub, sub)
  sum = torch.sum(sq, dims, keepdim)
  if taken > 0:
    n0 = torch.sub(n, taken)
  else:
    n0 = n
  return torch.div(sum, n0)


def var(input: Tensor, unbiased: bool=True) -> Tensor:
  if unbiased:
    _0 = 1
  else:
    _0 = 0
  n = torch.numel(input)
  mean = torch.mean(input, annotate(List[int], []), True)
  sub = torch.sub(input, mean)
  sq = torch.mul(sub, sub)
  sum = torch.sum(sq, annotate(List[int], []))
  n0 = torch.sub(n, _0)
  return torch.div(sum, n0)
