"""An agent in a tiny environment: policy and value heads, generalized advantages, clipped loss, one step of descent by hand."""

from typing import Dict, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


@torch.jit.script
class Corridor:
    def __init__(self, length: int):
        self.length = length
        self.position = 0
        self.clock = 0

    def observe(self) -> Tensor:
        out = torch.zeros(self.length)
        out[self.position] = 1.0
        return out

    def step(self, action: int) -> Tuple[Tensor, float, bool]:
        self.clock += 1
        self.position = min(max(self.position + (1 if action == 1 else -1), 0), self.length - 1)
        done = self.position == self.length - 1 or self.clock >= 12
        reward = 1.0 if self.position == self.length - 1 else -0.05
        return self.observe(), reward, done


class Agent(nn.Module):
    def __init__(self, length: int):
        super().__init__()
        self.length = length
        self.body = nn.Sequential(nn.Linear(length, 16), nn.Tanh())
        self.policy = nn.Linear(16, 2)
        self.value = nn.Linear(16, 1)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        h = self.body(x)
        return F.log_softmax(self.policy(h), dim=-1), self.value(h).squeeze(-1)

    @torch.jit.export
    def rollout(self, noise: Tensor) -> Dict[str, Tensor]:
        env = Corridor(self.length)
        state = env.observe()
        states: List[Tensor] = []
        actions: List[int] = []
        rewards: List[float] = []
        done = False
        t = 0
        while not done:
            log_p, _ = self.forward(state)
            action = int(noise[t] < log_p[1].exp())
            states.append(state)
            actions.append(action)
            state, reward, done = env.step(action)
            rewards.append(reward)
            t += 1
        return {"states": torch.stack(states), "actions": torch.tensor(actions), "rewards": torch.tensor(rewards)}


@torch.jit.script
def advantages(rewards: Tensor, values: Tensor, gamma: float = 0.99, lam: float = 0.95) -> Tuple[Tensor, Tensor]:
    out = torch.zeros_like(rewards)
    running = torch.zeros([])
    for t in range(rewards.size(0) - 1, -1, -1):
        following = values[t + 1] if t + 1 < rewards.size(0) else torch.zeros([])
        delta = rewards[t] + gamma * following - values[t]
        running = delta + gamma * lam * running
        out[t] = running
    return out, out + values


def loss_of(agent, batch, old):
    log_p, values = agent(batch["states"])
    chosen = log_p.gather(1, batch["actions"][:, None]).squeeze(1)
    with torch.no_grad():
        gain, target = advantages(batch["rewards"], values)
    ratio = (chosen - old).exp()
    clipped = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
    entropy = -(log_p * log_p.exp()).sum(-1).mean()
    return -clipped.mean() + 0.5 * F.smooth_l1_loss(values, target) - 0.01 * entropy


def main():
    torch.manual_seed(21)
    agent = torch.jit.script(Agent(5))
    noise = torch.rand(12)
    with torch.no_grad():
        batch = agent.rollout(noise)
        old = agent(batch["states"])[0].gather(1, batch["actions"][:, None]).squeeze(1)
    losses = []
    for _ in range(5):
        loss = loss_of(agent, batch, old)
        for p in agent.parameters():
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in agent.parameters():
                p -= 0.05 * p.grad
        losses.append(loss.detach())
    return [batch, torch.stack(losses), agent(torch.eye(5))[1].detach()]
