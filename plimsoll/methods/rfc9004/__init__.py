"""RFC 9004: back-to-back bursts, and the buffer that they tell of."""
