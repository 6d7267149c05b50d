"""Trains the demo's network and writes lanewise/demo/data. No other module imports this one.

From the repository's root:

    python -m venv .venv
    .venv/bin/pip install -e . torch==2.13.0 scikit-learn==1.9.1
    .venv/bin/python -m lanewise.demo.train

Training takes ten seconds on one core. The seed, the split and the number of threads are fixed, so the same machine and
packages write the same bytes. The hyperparameters were chosen without the held-out digits. The split is stratified by
class, but the same 13 people wrote digits of both parts: the accuracy is that for new digits of known writers.
"""

from __future__ import annotations

import math
from array import array
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional

from lanewise.demo import digits as data

SEED = 2
HELD_OUT = 0.3
EPOCHS = 150
BATCH = 64
LEARNING_RATE = 4e-3
WEIGHT_DECAY = 2e-2
LABEL_SMOOTHING = 0.05
EMA_DECAY = 0.99  # per step, for the exponential moving average of the weights


def network() -> nn.Sequential:
    """Returns the network of network.py in torch, with dropout before the last layer."""
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(1, 16, 3, padding=1),
            relu1=nn.ReLU(),
            pool1=nn.MaxPool2d(2),
            conv2=nn.Conv2d(16, 32, 3, padding=1),
            relu2=nn.ReLU(),
            pool2=nn.MaxPool2d(2),
            flatten=nn.Flatten(),
            dropout=nn.Dropout(0.2),
            linear=nn.Linear(32 * 2 * 2, 10),
        )
    )


def distort(images: torch.Tensor) -> torch.Tensor:
    """Rotates, stretches, shears and shifts each image a little, to imitate other handwriting."""
    count = len(images)
    angle = (torch.rand(count) * 2 - 1) * math.radians(10)
    stretch = 1 + (torch.rand(2, count) * 2 - 1) * 0.12
    shear = (torch.rand(count) * 2 - 1) * 0.12
    move = (torch.rand(count, 2) * 2 - 1) * (0.8 * 2 / data.SIZE)
    sine, cosine = torch.sin(angle), torch.cos(angle)
    affine = torch.stack(
        [
            torch.stack([stretch[0] * cosine, shear - sine, move[:, 0]], 1),
            torch.stack([sine, stretch[1] * cosine, move[:, 1]], 1),
        ],
        1,
    )
    grid = functional.affine_grid(affine, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def train(images: torch.Tensor, labels: torch.Tensor) -> nn.Sequential:
    """Trains on distorted images with AdamW and a one-cycle learning rate. Returns a network of averaged weights."""
    net = network().train()
    steps = EPOCHS * math.ceil(len(images) / BATCH)
    optimizer = torch.optim.AdamW(net.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    mean = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(EMA_DECAY))
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH):
            loss = functional.cross_entropy(net(distort(images[batch])), labels[batch], label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            mean.update_parameters(net)
    trained: nn.Sequential = mean.module
    return trained.eval()


def accuracy(net: nn.Sequential, images: torch.Tensor, labels: torch.Tensor) -> float:
    """Returns the fraction of the images that the network classifies correctly."""
    with torch.inference_mode():
        right: int = (net(images).argmax(1) == labels).sum().item()
    return right / len(labels)


def main() -> None:
    """Trains the network, rounds the weights to half precision, writes the files of data/ and prints the accuracy."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    source = load_digits()
    pixels = np.minimum(source.images, data.BRIGHTEST).astype(np.uint8)
    seen, held_out = train_test_split(
        np.arange(len(pixels)), test_size=HELD_OUT, random_state=SEED, stratify=source.target
    )
    images = torch.from_numpy(pixels.astype(np.float32) / data.BRIGHTEST).unsqueeze(1)
    labels = torch.from_numpy(source.target.astype(np.int64))

    net = train(images[seen], labels[seen])
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(parameter.half().float())  # so that the printed accuracy is that of the stored weights

    held_out.sort()
    written = data.save(
        data.Digits(
            pixels=pixels[held_out].tobytes(),
            labels=tuple(source.target[held_out].tolist()),
            positions=tuple(held_out.tolist()),
            weights={
                name: data.Weight(tuple(value.shape), array("f", value.detach().flatten().tolist()))
                for name, value in net.named_parameters()
            },
        ),
        Path(__file__).parent / "data",
    )
    print(f"{sum(p.numel() for p in net.parameters()):,} weights, {written:,} bytes written")
    print(f"seen {accuracy(net, images[seen], labels[seen]):.2%}")
    print(f"held out {accuracy(net, images[held_out], labels[held_out]):.2%}")


if __name__ == "__main__":
    main()
