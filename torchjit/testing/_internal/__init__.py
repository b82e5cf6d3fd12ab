"""torch.testing._internal: what tests of programs that others write share."""
