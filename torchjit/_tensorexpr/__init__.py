"""Tensor expressions: loops over buffers that programs build, transform and run. torch._C._te has their names."""
