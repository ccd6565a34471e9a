"""Histograms as text, in HdrHistogram's compressed encoding (V2, base64)."""

from __future__ import annotations

import ctypes

from plimsoll.generator.histogram import Histogram, empty_hdr, fill_hdr


class HdrEncoder:
    """Encodes one histogram after the other by one and the same object of the package.

    A new one each time would have its 4,000 counters allocated and laid out for each.
    """

    def __init__(self) -> None:
        self._hdr = empty_hdr()
        self._counts = self._hdr.encoder.get_counts()

    def encode(self, histogram: Histogram) -> str:
        """The text, as `HdrHistogram.decode` and HdrHistogram's Java tools read it."""
        fill_hdr(self._hdr, histogram)
        text: str = self._hdr.encode().decode("ascii")
        # The package's own reset sets one counter after the other.
        ctypes.memset(self._counts, 0, ctypes.sizeof(self._counts))
        return text
