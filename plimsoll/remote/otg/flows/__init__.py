"""OTG flows as Plimsoll's streams; pure."""
