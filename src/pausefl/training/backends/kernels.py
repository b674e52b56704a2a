"""Compiled training of a dense ReLU network: a user's whole participation in one call.

One user's network, gradient and moments (0.4 MB for the MNIST network with Adam) stay in a core's cache from
the first mini-batch to the last. Products are written out in blocks of registers instead of calling a BLAS:
the order of summation is then the same for any number of threads, and small products run at the speed of
large ones. The gradient is derived by hand; layouts are those of `pausefl.training.flat.FlatModel`.

Constants of other modules come as arguments: Numba compiles a module's kernels anew when that module changes,
and does not notice a change in a module that it imports.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.compiling import njit

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]

#: Rows and columns of a block of a product: its sums stay in registers.
_BLOCK = 4
#: The compiler may reorder sums, so that they fill vectors; NaN and infinity stay.
_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def train_user(
    values: Floats,
    gradient: Floats,
    first: Floats,
    second: Floats,
    n_steps: int,
    learning_rate: float,
    adam: bool,
    adam_constants: tuple[float, float, float],
    momentum: float,
    widths: tuple[int, ...],
    inputs: NDArray[np.generic],
    labels: Integers,
    batches: Integers,
    sizes: Integers,
) -> tuple[float, float]:  # pragma: no cover - compiled
    """Train one user: for each mini-batch, a step on the mean cross-entropy.

    Parameters
    ----------
    values
        (d,) the network; changed in place.
    gradient
        (d,) overwritten with the gradient of the last mini-batch.
    first, second
        (d,) Adam's moments of this user, changed in place; of SGD, the velocity if there is momentum.
    n_steps
        Steps of this user so far.
    learning_rate
        Step size.
    adam
        Whether to step by Adam; else by SGD.
    adam_constants
        Adam's beta_1, beta_2 and epsilon.
    momentum
        Of SGD, in [0, 1).
    widths
        Inputs, units of each hidden layer, outputs.
    inputs, labels
        (n, inputs) and (n,) examples of all users: pixels as bytes, or features.
    batches, sizes
        (steps, batch) positions in them, and how many entries of each row count.

    Returns
    -------
    Sum of the cross-entropy over the examples visited, and of its square.
    """
    activations = _workspace(values, widths, batches.shape[1])
    deltas = _workspace(values, widths, batches.shape[1])
    loss, squares = 0.0, 0.0
    for step in range(len(batches)):
        size = sizes[step]
        _load(inputs, batches[step, :size], activations[0])
        _forward(values, widths, activations)
        squares += _squares(activations[-1], labels, batches[step, :size])
        loss += _output_delta(activations[-1], labels, batches[step, :size], deltas[-1])
        _backward(values, gradient, widths, activations, deltas)
        if adam:
            _adam_step(values, gradient, first, second, n_steps + step + 1, learning_rate, adam_constants)
        else:
            _sgd_step(values, gradient, first, momentum, learning_rate)
    return loss, squares


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def outputs(
    values: Floats, widths: tuple[int, ...], inputs: NDArray[np.generic], batch: int
) -> Floats:  # pragma: no cover - compiled
    """Logits (n, outputs) of pixels as bytes or of features (n, inputs), computed ``batch`` at a time."""
    logits = np.empty((len(inputs), widths[-1]), values.dtype)
    activations = _workspace(values, widths, batch)
    for start in range(0, len(inputs), batch):
        rows = np.arange(start, min(start + batch, len(inputs)))
        _load(inputs, rows, activations[0])
        _forward(values, widths, activations)
        logits[start : start + len(rows)] = activations[-1][: len(rows)]
    return logits


@njit(cache=True)
def _workspace(values, widths, batch):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """An array (batch rounded up to blocks, width) of zeros for each width."""
    n_rows = (batch + _BLOCK - 1) // _BLOCK * _BLOCK
    return [np.zeros((n_rows, width), values.dtype) for width in widths]


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _load(inputs, rows, x):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Fill ``x`` with images, scaled to [-1, 1], or features as they are, and further rows with zeros."""
    half, one = np.float32(127.5), np.float32(1)
    for r in range(len(rows)):
        source, target = inputs[rows[r]], x[r]
        if inputs.itemsize == 1:  # bytes, so pixels
            for i in range(len(source)):
                target[i] = source[i] / half - one
        else:
            for i in range(len(source)):
                target[i] = source[i]
    x[len(rows) :] = 0


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _forward(values, widths, activations):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Fill the activations of all layers after the first."""
    offset = 0
    for layer in range(len(widths) - 1):
        n_in, n_out = widths[layer], widths[layer + 1]
        bias = offset + n_in * n_out
        weight = values[offset:bias].reshape(n_out, n_in)
        offset = bias + n_out
        out = activations[layer + 1]
        _product(activations[layer], weight, out)
        last = layer == len(widths) - 2
        for r in range(len(out)):
            for j in range(n_out):
                total = out[r, j] + values[bias + j]
                out[r, j] = total if last or not total < 0 else 0


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _product(x, w, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """``out = x @ w.T``; x has whole blocks of rows."""
    zero = x.dtype.type(0)
    n_out, n_in = w.shape
    whole = n_out // _BLOCK * _BLOCK
    for r in range(0, len(x), _BLOCK):
        x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
        for j in range(0, whole, _BLOCK):
            w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = zero
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = zero
            for i in range(n_in):
                s00 += x0[i] * w0[i]
                s01 += x0[i] * w1[i]
                s02 += x0[i] * w2[i]
                s03 += x0[i] * w3[i]
                s10 += x1[i] * w0[i]
                s11 += x1[i] * w1[i]
                s12 += x1[i] * w2[i]
                s13 += x1[i] * w3[i]
                s20 += x2[i] * w0[i]
                s21 += x2[i] * w1[i]
                s22 += x2[i] * w2[i]
                s23 += x2[i] * w3[i]
                s30 += x3[i] * w0[i]
                s31 += x3[i] * w1[i]
                s32 += x3[i] * w2[i]
                s33 += x3[i] * w3[i]
            out[r, j], out[r, j + 1], out[r, j + 2], out[r, j + 3] = s00, s01, s02, s03
            out[r + 1, j], out[r + 1, j + 1], out[r + 1, j + 2], out[r + 1, j + 3] = s10, s11, s12, s13
            out[r + 2, j], out[r + 2, j + 1], out[r + 2, j + 2], out[r + 2, j + 3] = s20, s21, s22, s23
            out[r + 3, j], out[r + 3, j + 1], out[r + 3, j + 2], out[r + 3, j + 3] = s30, s31, s32, s33
        for j in range(whole, n_out):
            wj = w[j]
            s0 = s1 = s2 = s3 = zero
            for i in range(n_in):
                s0 += x0[i] * wj[i]
                s1 += x1[i] * wj[i]
                s2 += x2[i] * wj[i]
                s3 += x3[i] * wj[i]
            out[r, j], out[r + 1, j], out[r + 2, j], out[r + 3, j] = s0, s1, s2, s3


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _output_delta(logits, labels, rows, delta):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Gradient of the mean cross-entropy in the logits, 0 in padding; returns the summed cross-entropy."""
    loss = 0.0
    for r in range(len(rows)):
        highest = logits[r].max()
        total = 0.0
        for j in range(logits.shape[1]):
            delta[r, j] = np.exp(logits[r, j] - highest)
            total += delta[r, j]
        label = labels[rows[r]]
        loss += highest + np.log(total) - logits[r, label]
        for j in range(logits.shape[1]):
            delta[r, j] /= total
        delta[r, label] -= 1
        for j in range(logits.shape[1]):
            delta[r, j] /= len(rows)
    delta[len(rows) :] = 0
    return loss


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _squares(logits, labels, rows):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Sum of the squared cross-entropies. Apart from their sum, whose bits hang on what is beside it."""
    squares = 0.0
    for r in range(len(rows)):
        highest = logits[r].max()
        total = 0.0
        for j in range(logits.shape[1]):
            total += np.exp(logits[r, j] - highest)
        loss = highest + np.log(total) - logits[r, labels[rows[r]]]
        squares += loss * loss
    return squares


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _backward(values, gradient, widths, activations, deltas):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Overwrite the gradient, given the delta of the last layer."""
    end = len(values)
    for layer in range(len(widths) - 2, -1, -1):
        n_in, n_out = widths[layer], widths[layer + 1]
        bias = end - n_out
        start = bias - n_in * n_out
        delta, x = deltas[layer + 1], activations[layer]
        _outer(delta, x, gradient[start:bias].reshape(n_out, n_in))
        gradient[bias:end] = 0
        for r in range(len(delta)):
            for j in range(n_out):
                gradient[bias + j] += delta[r, j]
        if layer > 0:
            _masked_back(delta, values[start:bias].reshape(n_out, n_in), x, deltas[layer])
        end = start


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _outer(delta, x, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """``out = delta.T @ x``; both have whole blocks of rows."""
    out[:] = 0
    for r in range(0, len(x), _BLOCK):
        x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
        for j in range(out.shape[0]):
            row = out[j]
            d0, d1, d2, d3 = delta[r, j], delta[r + 1, j], delta[r + 2, j], delta[r + 3, j]
            for i in range(len(row)):
                row[i] += d0 * x0[i] + d1 * x1[i] + d2 * x2[i] + d3 * x3[i]


@njit(cache=True, fastmath=_FAST, error_model="numpy")
def _masked_back(delta, w, x, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """``out = delta @ w`` where the activation x is positive, else 0."""
    for r in range(len(x)):
        row = out[r]
        row[:] = 0
        for j in range(len(w)):
            d, wj = delta[r, j], w[j]
            for i in range(len(row)):
                row[i] += d * wj[i]
        for i in range(len(row)):
            if not x[r, i] > 0:
                row[i] = 0


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _adam_step(values, gradient, first, second, step, learning_rate, constants):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The step number ``step``, from 1, of Adam (Kingma and Ba 2015, Algorithm 1)."""
    real = values.dtype.type
    beta_1, beta_2, epsilon = constants
    keep_1, add_1 = real(beta_1), real(1 - beta_1)
    keep_2, add_2 = real(beta_2), real(1 - beta_2)
    rate = real(learning_rate / (1 - beta_1**step))
    scale = real(1 / np.sqrt(1 - beta_2**step))
    least = real(epsilon)
    for i in range(len(values)):
        g = gradient[i]
        m = keep_1 * first[i] + add_1 * g
        v = keep_2 * second[i] + add_2 * g * g
        first[i], second[i] = m, v
        values[i] -= rate * m / (np.sqrt(v) * scale + least)


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _sgd_step(values, gradient, velocity, momentum, learning_rate):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """A step of SGD; without momentum, ``velocity`` is not looked at."""
    real = values.dtype.type
    keep, rate = real(momentum), real(learning_rate)
    if momentum == 0:
        for i in range(len(values)):
            values[i] -= rate * gradient[i]
    else:
        for i in range(len(values)):
            v = keep * velocity[i] + gradient[i]
            velocity[i] = v
            values[i] -= rate * v
