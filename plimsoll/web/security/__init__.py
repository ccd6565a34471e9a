"""Who may ask, and what answers may do in a browser."""
