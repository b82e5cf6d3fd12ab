"""torch.distributed.algorithms: names of what groups of processes would use."""
