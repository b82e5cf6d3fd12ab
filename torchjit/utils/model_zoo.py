"""torch.utils.model_zoo: the former place of torch.hub's functions."""

from torchjit.hub import load_state_dict_from_url

load_url = load_state_dict_from_url


def __getattr__(name: str) -> object:
    from torchjit import hub

    return getattr(hub, name)
