"""Pages and figures over HTTP, on this machine alone by default."""
