"""Pages and figures over HTTP, on this machine alone unless asked otherwise."""
