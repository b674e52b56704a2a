"""Dense networks of many users trained together: one batched product a layer, no loop over users."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor


class StackedMlp:
    """Values and gradients of a dense ReLU network for several users at once, with its gradient by hand.

    Row u of ``values`` and ``gradients`` is laid out as `FlatModel` lays out `pausefl.models.Mlp`: weight
    (out, in) then bias (out,) of each layer.

    Parameters
    ----------
    widths
        Inputs, units of each hidden layer, outputs.
    n_users
        Number of rows.
    device
        Where the rows live.
    """

    def __init__(self, widths: tuple[int, ...], n_users: int, device: torch.device) -> None:
        n_values = sum(n_in * n_out + n_out for n_in, n_out in pairwise(widths))
        self.values = torch.empty(n_users, n_values, device=device)
        self.gradients = torch.empty(n_users, n_values, device=device)
        self._layers = _layers(self.values, widths)
        self._layer_gradients = _layers(self.gradients, widths)

    def backward(self, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
        """Overwrite the gradients of the first n users with those of their weighted cross-entropy.

        Parameters
        ----------
        x
            (n, batch, inputs) examples of the first n users.
        y
            (n, batch) class labels.
        weight
            (n, batch) weight of each example in its user's loss: 1 / batch size, or 0 for padding.

        Returns
        -------
        (n, batch) cross-entropy of each example, unweighted.
        """
        n = len(x)
        inputs = [x]
        for w, b in self._layers:
            if len(inputs) > 1:
                inputs[-1].relu_()
            inputs.append(torch.baddbmm(b[:n].unsqueeze(1), inputs[-1], w[:n].transpose(1, 2)))
        log_probability = torch.log_softmax(inputs.pop(), dim=-1)
        label = y.unsqueeze(2)
        loss = -log_probability.gather(2, label).squeeze(2)
        delta = log_probability.exp_()
        delta.scatter_add_(2, label, torch.full_like(loss, -1.0).unsqueeze(2))
        delta *= weight.unsqueeze(2)
        for layer in reversed(range(len(self._layers))):
            w_gradient, b_gradient = self._layer_gradients[layer]
            torch.bmm(delta.transpose(1, 2), inputs[layer], out=w_gradient[:n])
            torch.sum(delta, 1, out=b_gradient[:n])
            if layer > 0:
                delta = torch.bmm(delta, self._layers[layer][0][:n])
                delta *= inputs[layer] > 0
        return loss


def _layers(flat: Tensor, widths: tuple[int, ...]) -> list[tuple[Tensor, Tensor]]:
    """Weight (n, out, in) and bias (n, out) of each layer as windows of the rows of ``flat``."""
    layers, offset = [], 0
    for n_in, n_out in pairwise(widths):
        middle, end = offset + n_in * n_out, offset + n_in * n_out + n_out
        layers.append((flat[:, offset:middle].view(-1, n_out, n_in), flat[:, middle:end]))
        offset = end
    return layers
