"""A long program as text."""

FUNCTION = '''
def step_{i}(x: Tensor, y: Optional[Tensor], items: List[int], scale: float) -> Tuple[Tensor, int]:
    total = 0
    best: Optional[int] = None
    names: Dict[str, int] = {{}}
    for j, item in enumerate(items):
        if item % 2 == 0 and j > {i}:
            total += item * {i}
        elif item > 10:
            names["n" + str(item)] = j
            if best is None or item > best:
                best = item
        else:
            continue
    while total > 100:
        total = total // 2 - 1
    z = x * scale + float(total)
    if y is not None:
        z = torch.cat([z, y.to(z.dtype)], dim=0).relu()[: x.size(0), ..., None].squeeze(-1)
    if best is not None:
        z = z + torch.sigmoid(x[:, best % x.size(1)].unsqueeze(1)) * (1.0 / (1 + best))
    return z.softmax(-1), total + len(names)
'''


def program(functions):
    return "".join(FUNCTION.format(i=i) for i in range(functions))
