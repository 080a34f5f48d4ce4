"""A tensor that grows along its tokens."""

from __future__ import annotations

from torch import Tensor

from oscsim.errors import ConfigError


class Growing:
    """(batch, heads, N, width) with room to spare: appending copies a token O(1) times on average.

    A value: :meth:`longer` and :meth:`selected` return what comes next and leave this one as it is, so a call
    that fails half way has changed nothing. The room behind the last token is shared with the next one:
    continue only one of several that start from here.

    >>> import torch
    >>> kept = Growing()
    >>> for _ in range(3):
    ...     kept = kept.longer(torch.ones(1, 1, 2, 4))
    >>> tuple(kept.view().shape)
    (1, 1, 6, 4)
    """

    def __init__(self, room: Tensor | None = None, length: int = 0) -> None:
        self._room, self._length = room, length

    def __len__(self) -> int:
        return self._length

    def view(self) -> Tensor:
        """Everything appended so far."""
        if self._room is None:
            raise ConfigError("given an empty cache, expected tokens; append some first")
        return self._room[:, :, : self._length]

    def fits(self, name: str, new: Tensor) -> None:
        """ConfigError unless ``new`` continues what is there."""
        if self._room is None:
            return
        batch, heads, _, width = self._room.shape
        have = (batch, heads, new.shape[2], width), self._room.dtype, self._room.device
        if (tuple(new.shape), new.dtype, new.device) != have:
            raise ConfigError(
                f"{name}: given {tuple(new.shape)} {new.dtype} on {new.device}, expected {have[0]} "
                f"{have[1]} on {have[2]} like the tokens before; call reset() to start again"
            )

    def longer(self, new: Tensor) -> Growing:
        """These tokens and new ones at the end, with twice the room where it was too small."""
        room, needed = self._room, self._length + new.shape[2]
        if room is None or needed > room.shape[2]:
            batch, heads, _, width = new.shape
            room = new.new_empty((batch, heads, max(needed, 2 * self._length), width))
            if self._room is not None:
                room[:, :, : self._length] = self.view()
        room[:, :, self._length : needed] = new
        return Growing(room, needed)

    def selected(self, indices: Tensor) -> Growing:
        """These entries of the batch."""
        return self if self._room is None else Growing(self._room[indices], self._length)
